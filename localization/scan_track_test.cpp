// SPDX-License-Identifier: Apache-2.0
#include "localization/scan_track.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "localization/test_scenes.hpp"
#include "tests/support/allocation_guard.hpp"

using namespace pitwall;
using namespace pitwall::localization;

namespace {

const Pose2 kMount{0.33, 0.0, 0.0};
constexpr double kPeriod_s = 0.025;

Time pose_at(std::size_t k) { return Time{5'000'000'000} + from_seconds(kPeriod_s * static_cast<double>(k)); }

// Scans of a car that starts pose_at `start` in the middle of the first sweep and drives pose_at `velocity`.
std::vector<LaserScan> drive(const scenes::Scene& scene, const scenes::Scanner& scanner, Pose2 T_map_base, Twist velocity,
                             std::size_t count) {
  std::vector<LaserScan> scans;
  for (std::size_t k = 0; k < count; ++k) {
    scans.push_back(scenes::scan(scene, scanner, T_map_base * kMount, at_frame(velocity, kMount), pose_at(k), k));
    T_map_base = T_map_base * travelled(velocity, kPeriod_s);
  }
  return scans;
}

const scenes::Scene& hall_scene() {
  static const scenes::Scene scene = scenes::hall();
  return scene;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

TEST_CASE("a turn is measured pose_at base_link, pose_at the middle of its pairs, and chained to a way") {
  const Twist velocity{3.0, 0.0, 0.8};
  const scenes::Scanner scanner{.sweep_s = 0.01875};
  const auto samples = track_of(drive(hall_scene(), scanner, hall_scene().line[0], velocity, 24), {}, kMount);
  REQUIRE(samples.size() == 22);
  CHECK(std::abs((samples.front().stamp - pose_at(1)).seconds() - 0.5 * 0.01875) < 1e-6);
  for (const MotionSample& s : samples) {
    CHECK(s.status == MatchStatus::kMatched);
    CHECK_FALSE(s.standing);
    CHECK(s.forward_observable);
    CHECK(s.yaw_observable);
    CHECK(std::abs(s.velocity.x_mps - 3.0) < 4.5 * s.sigma_forward_mps());
    CHECK(std::abs(s.velocity.yaw_radps - 0.8) < 4.5 * s.sigma_yaw_radps());
    CHECK(std::abs(s.velocity.y_mps) < 4.5 * std::sqrt(s.covariance(1, 1)));
    CHECK(s.sigma_forward_mps() < 0.2);
  }
  const Pose2 whole = travelled(velocity, 21 * kPeriod_s);
  CHECK(distance(samples.back().T_track_base.position(), whole.position()) < 0.01);
  CHECK(samples.back().T_track_base.yaw == doctest::Approx(whole.yaw).epsilon(0.005));
}

TEST_CASE("a parked car measures less than 5 mm/s, a creeping one its own speed") {
  const auto parked = track_of(drive(hall_scene(), {}, hall_scene().line[60], {}, 100), {}, kMount);
  std::vector<double> speeds;
  std::size_t standing = 0;
  for (const MotionSample& s : parked) {
    standing += s.standing ? 1 : 0;
    if (s.standing) CHECK(std::abs(s.velocity.x_mps) < 0.025);
    speeds.push_back(std::abs(s.velocity.x_mps));
  }
  MESSAGE("parked: median " << 1e3 * median(speeds) << " mm/s, standing in " << standing << " of " << parked.size());
  CHECK(median(speeds) < 0.005);
  CHECK(standing > 80);
  ScanTrackParameters plain;
  plain.standing = false;
  std::vector<double> unaided;
  for (const MotionSample& s : track_of(drive(hall_scene(), {}, hall_scene().line[60], {}, 100), plain, kMount))
    unaided.push_back(std::abs(s.velocity.x_mps));
  CHECK(median(unaided) > 0.010);

  std::vector<double> creep;
  for (const MotionSample& s : track_of(drive(hall_scene(), {}, hall_scene().line[60], {0.05, 0.0, 0.0}, 120), {}, kMount))
    creep.push_back(s.velocity.x_mps);
  CHECK(median(creep) == doctest::Approx(0.05).epsilon(0.2));
}

TEST_CASE("a car that sets off does not stand any more") {
  auto scans = drive(hall_scene(), {}, hall_scene().line[60], {}, 60);
  const std::size_t start = scans.size();
  Pose2 T = hall_scene().line[60];
  for (std::size_t k = 0; k < 20; ++k) {
    const double speed = 3.0 * kPeriod_s * (static_cast<double>(k) + 0.5);  // 3 m/s^2
    T = T * travelled({speed, 0.0, 0.0}, kPeriod_s);
    scans.push_back(scenes::scan(hall_scene(), {}, T * kMount, {}, pose_at(start + k), start + k));
  }
  const auto samples = track_of(scans, {}, kMount);
  for (const MotionSample& s : samples) {
    const double moving_s = (s.stamp - pose_at(start - 1)).seconds();
    if (moving_s > 0.08) CHECK_FALSE(s.standing);
    if (moving_s > 0.08) CHECK(std::abs(s.velocity.x_mps - 3.0 * moving_s) < 0.15);
  }
}

TEST_CASE("in a corridor the speed is not invented: it is the guess, and flagged") {
  const auto scans = drive(scenes::corridor(), {}, {-20.0, 0.2, 0.0}, {3.0, 0.0, 0.0}, 12);
  ScanTrack alone({}, kMount);
  ScanTrack aided({}, kMount);
  for (const LaserScan& scan : scans) {
    const auto a = alone.add(scan);
    const auto b = aided.add(scan, Twist{2.9, 0.0, 0.0});
    if (!a) continue;
    CHECK(a->degenerate);
    CHECK_FALSE(a->forward_observable);
    CHECK(a->yaw_observable);
    CHECK(std::abs(a->velocity.x_mps) < 0.1);
    CHECK(a->sigma_forward_mps() > 15.0);
    CHECK(std::abs(a->weakest.x) > 0.99);
    CHECK_FALSE(b->forward_observable);
    CHECK(b->velocity.x_mps == doctest::Approx(2.9).epsilon(0.01));
    CHECK_FALSE(a->standing);
  }
  CHECK(alone.counts().degenerate == 10);
}

TEST_CASE("stamps that do not advance are left out, gaps are not bridged, and all is counted") {
  auto scans = drive(hall_scene(), {}, hall_scene().line[0], {3.0, 0.0, 0.0}, 12);
  scans.insert(scans.begin() + 6, scans[5]);  // twice the same
  LaserScan old = scans[2];
  scans.insert(scans.begin() + 9, old);
  ScanTrack track({}, kMount);
  std::size_t samples = 0;
  for (std::size_t k = 0; k < scans.size(); ++k) {
    LaserScan scan = scans[k];
    if (k >= 10) scan.stamp = scan.stamp + from_seconds(1.0);
    const auto sample = track.add(scan);
    if (!sample) continue;
    ++samples;
    CHECK(sample->dt_s == doctest::Approx(0.05));
    CHECK(sample->velocity.x_mps == doctest::Approx(3.0).epsilon(0.1));
  }
  CHECK(track.counts().scans == 14);
  CHECK(track.counts().out_of_order == 2);
  CHECK(track.counts().gaps == 2);
  CHECK(track.counts().samples == static_cast<std::int64_t>(samples));
  CHECK(samples == 12 - 2 - 2);
}

TEST_CASE("blind scans are flagged, and after them the car is found again pose_at once") {
  auto scans = drive(hall_scene(), {}, hall_scene().line[0], {3.0, 0.0, 0.3}, 50);
  for (std::size_t k = 15; k < 35; ++k) {
    for (float& range : scans[k].ranges) range = std::numeric_limits<float>::quiet_NaN();
  }
  ScanTrack track({}, kMount);
  for (std::size_t k = 0; k < scans.size(); ++k) {
    const auto sample = track.add(scans[k]);
    if (!sample) continue;
    CHECK(std::isfinite(sample->T_track_base.x));
    const bool blind = k >= 15 && k < 37;
    CHECK((sample->status != MatchStatus::kMatched) == blind);
    if (!blind) CHECK(sample->velocity.x_mps == doctest::Approx(3.0).epsilon(0.1));
  }
  CHECK(track.counts().failed == 22);
}

TEST_CASE("an expected velocity that is not a number is not used, and nothing is allocated while the track goes on") {
  const auto scans = drive(hall_scene(), {}, hall_scene().line[60], {}, 60);
  ScanTrack track({}, kMount);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  bool finite = true;
  std::size_t allocations = 0;
  for (std::size_t k = 0; k < scans.size(); ++k) {
    const AllocationGuard guard;
    const auto sample = track.add(scans[k], Twist{nan, 0.0, 0.0});
    if (k >= 50) allocations += guard.count();
    if (sample) finite = finite && is_finite(sample->velocity) && std::isfinite(sample->T_track_base.x);
  }
  CHECK(finite);
  CHECK(allocations == 0);
}
