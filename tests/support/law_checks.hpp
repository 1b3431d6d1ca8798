// SPDX-License-Identifier: Apache-2.0
// What every steering law has to hold on the rig (law_rig.hpp). `make` is anything that makes a law of a LawSetup.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/support/law_rig.hpp"

namespace pitwall::controllers {

/// What is sent in `ticks` ticks at 50 Hz on a closed line.
template <class Make>
std::vector<double> sent_on(const RigLine& line, const Pose2& start, int ticks, const Make& make) {
  const LawSetup setup = rig_setup(rig_car(), line, 50.0);
  auto law = make(setup);
  Rig rig(setup, SlipLaw::kBrush, start, line.speed.front());
  std::vector<double> sent;
  for (int k = 0; k < ticks; ++k) {
    rig.tick(law);
    sent.push_back(rig.commanded_rad());
  }
  return sent;
}

/// Mirrored, turned and moved, or with its seam elsewhere, the line gives the same commands to 1e-9.
template <class Make>
void check_symmetry(const std::vector<Vec2>& points, const Pose2& start, int ticks, const Make& make) {
  std::vector<Vec2> mirrored;
  std::vector<Vec2> turned;
  const Pose2 turn{3.0, -7.0, 2.1};
  for (const Vec2 p : points) {
    mirrored.push_back({p.x, -p.y});
    turned.push_back(turn * p);
  }
  std::vector<Vec2> shifted(points.begin() + 123, points.end());
  shifted.insert(shifted.end(), points.begin(), points.begin() + 123);
  const auto sent = [&](const std::vector<Vec2>& line, const Pose2& from) { return sent_on(RigLine(line, true, 4.0), from, ticks, make); };
  const std::vector<double> expected = sent(points, start);
  const std::vector<double> m = sent(mirrored, {start.x, -start.y, -start.yaw});
  const std::vector<double> t = sent(turned, turn * start);
  const std::vector<double> s = sent(shifted, start);
  REQUIRE(expected.size() == static_cast<std::size_t>(ticks));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(std::abs(m[i] + expected[i]) < 1e-9);
    CHECK(std::abs(t[i] - expected[i]) < 1e-9);
    CHECK(std::abs(s[i] - expected[i]) < 1e-9);
  }
}

/// At 25, 50 and 100 Hz with 0 to 100 ms of delay the law has more than that stability margin at 6 m/s, and comes to the line.
template <class Make>
void check_margin(double least_margin, const Make& make) {
  for (const double rate : {25.0, 50.0, 100.0}) {
    for (const double delay : {0.0, 0.02, 0.06, 0.1}) {
      CarParameters car = rig_car();
      car.steering_delay_s = delay;
      const double v = 6.0;
      const RigLine line(straight_points(60.0), false, v);
      const LawSetup setup = rig_setup(car, line, rate);
      auto law = make(setup);
      INFO("rate ", rate, " delay ", delay, " margin ", law.delay_margin_s(v) / setup.total_delay_s());
      CHECK(law.delay_margin_s(v) / setup.total_delay_s() > least_margin);
      Rig rig(setup, SlipLaw::kBrush, {1.0, 0.1, 0.05}, v);
      for (int k = 0; k < static_cast<int>(4.0 * rate); ++k) rig.tick(law);
      CHECK(std::abs(rig.d_m()) < 2e-3);
    }
  }
}

}  // namespace pitwall::controllers
