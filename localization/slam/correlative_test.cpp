// SPDX-License-Identifier: Apache-2.0
#include "localization/slam/correlative.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/rng.hpp"

using namespace pitwall;
using namespace pitwall::slam;

namespace {

std::vector<Vec2> room(const Rng& draw, std::uint64_t number, std::size_t count) {
  std::vector<Vec2> points;
  for (std::size_t k = 0; k < count; ++k) {
    const auto lane = static_cast<std::uint32_t>(3 * k);
    const double along = 6.0 * draw.uniform(number, lane) - 3.0;
    const bool upright = draw.uniform(number, lane + 1) < 0.5;
    const double side = draw.uniform(number, lane + 2) < 0.5 ? -2.0 : 2.3;
    points.push_back(upright ? Vec2{side, along} : Vec2{along, side});
  }
  return points;
}

// Every pose of the window, one after the other, in the order of yaw, y, x; the loss as the header states it.
std::optional<SearchResult> brute_force(const ResponseGrid& grid, const std::vector<Vec2>& points, const SearchWindow& w, double least) {
  std::optional<SearchResult> best;
  const auto n = static_cast<double>(points.size());
  std::int64_t best_sum = static_cast<std::int64_t>(std::floor(least * 255.0 * n));
  const int steps = static_cast<int>(std::floor(w.half_m / grid.resolution_m() + 1e-9));
  const int turns = static_cast<int>(std::floor(w.half_rad / w.step_rad + 1e-9));
  const auto loss = [&](double away, double sigma) {
    return sigma > 0.0 ? std::llround(255.0 * n * std::min(0.12, 0.02 * away * away / (sigma * sigma))) : 0;
  };
  for (int t = -turns; t <= turns; ++t) {
    const math::SinCos turn = math::sincos(w.T_map_centre.yaw + t * w.step_rad);
    for (int y = -steps; y <= steps; ++y) {
      for (int x = -steps; x <= steps; ++x) {
        std::int64_t sum = 0;
        for (const Vec2 p : points) {
          const Vec2 q = Vec2{turn.cos * p.x - turn.sin * p.y, turn.sin * p.x + turn.cos * p.y} + w.T_map_centre.position();
          sum += grid.value(0, grid.column(q.x) + x, grid.row(q.y) + y);
        }
        const double raw = static_cast<double>(sum) / (255.0 * n);
        const double r = grid.resolution_m();
        sum -= loss(t * w.step_rad, w.sigma_rad) + loss(x * r, w.sigma_m) + loss(y * r, w.sigma_m);
        if (sum <= best_sum) continue;
        best_sum = sum;
        best = SearchResult{{w.T_map_centre.x + x * r, w.T_map_centre.y + y * r, wrap_angle(w.T_map_centre.yaw + t * w.step_rad)}, raw, 0};
      }
    }
  }
  return best;
}

}  // namespace

TEST_CASE("the search finds the very pose that trying all of them finds, with fewer sums") {
  const Rng draw(21, "rooms");
  for (std::uint64_t number = 0; number < 12; ++number) {
    CAPTURE(number);
    const ResponseGrid grid(room(draw, number, 150), 0.05, 0.05, 4);
    const std::vector<Vec2> seen = room(draw, number + 100, 40);
    SearchWindow window{{0.3 * draw.normal(number, 500), 0.3 * draw.normal(number, 501), 0.1 * draw.normal(number, 502)}, 0.6, 0.12, 0.02};
    if (number % 2 == 1) window.sigma_m = 0.2, window.sigma_rad = 0.1;
    const auto fast = search(grid, seen, window, 0.05);
    const auto slow = brute_force(grid, seen, window, 0.05);
    REQUIRE(fast.has_value());
    REQUIRE(slow.has_value());
    CHECK(fast->T_map_scan == slow->T_map_scan);
    CHECK(fast->response == doctest::Approx(slow->response).epsilon(1e-12));
    CHECK(fast->tried < 25u * 25u * 13u);
  }
}

TEST_CASE("what is above no pose of the window is not found") {
  const Rng draw(22, "rooms");
  const std::vector<Vec2> known = room(draw, 1, 100);
  const ResponseGrid grid(known, 0.05, 0.05, 4);
  CHECK(!search(grid, std::vector<Vec2>{{50.0, 50.0}, {60.0, 10.0}}, {{}, 0.5, 0.1, 0.05}, 0.1));
  CHECK(!search(grid, std::vector<Vec2>{}, {{}, 0.5, 0.1, 0.05}, 0.0));
  CHECK(!search(ResponseGrid(std::vector<Vec2>{}, 0.05, 0.05, 4), known, {{}, 0.5, 0.1, 0.05}, 0.1));
}

TEST_CASE("a second look leaves out what was found, and sees the same room next door") {
  const Rng draw(23, "rooms");
  const std::vector<Vec2> seen = room(draw, 2, 80);
  std::vector<Vec2> known = seen;
  for (const Vec2 p : seen) known.push_back(p + Vec2{1.5, 0.0});
  const ResponseGrid grid(known, 0.05, 0.05, 4);
  const SearchWindow window{{}, 2.0, 0.1, 0.02};
  const auto first = search(grid, seen, window, 0.5);
  REQUIRE(first.has_value());
  const auto second = search(grid, seen, window, 0.9 * first->response, Excluded{first->T_map_scan, 0.6, 0.2});
  REQUIRE(second.has_value());
  CHECK(distance(first->T_map_scan.position(), second->T_map_scan.position()) == doctest::Approx(1.5).epsilon(0.04));
}

TEST_CASE("thinning keeps the first point of each cell") {
  const std::vector<Vec2> points{{0.01, 0.01}, {0.02, 0.03}, {0.11, 0.0}, {-0.01, 0.0}, {0.19, 0.09}};
  CHECK(thinned(points, 0.1) == std::vector<Vec2>{{0.01, 0.01}, {0.11, 0.0}, {-0.01, 0.0}});
}
