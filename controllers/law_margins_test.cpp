// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "controllers/map_law.hpp"
#include "controllers/stanley.hpp"
#include "tests/support/law_rig.hpp"
#include "tests/support/toy_world.hpp"

using namespace pitwall;
using namespace pitwall::controllers;

namespace {

std::vector<Vec2> straight() { return {{-10.0, 0.0}, {4000.0, 0.0}}; }

/// Whether the real law in a closed loop with a kinematic car comes back to a straight line from 5 mm beside it, when commands
/// take `total_s` from command to wheel while the law counts on `setup`.
template <class Law>
bool comes_back(const typename Law::Parameters& p, const LawSetup& believed, const LawBench& bench, double v) {
  LawSetup setup = believed;
  setup.line = bench.line.line.get();
  Law law(p, setup);
  Rig rig(bench.setup, SlipLaw::kLinear, {0.0, 0.005, 0.0}, v);
  double early = 0.0;
  double late = 0.0;
  const int ticks = static_cast<int>(8.0 / bench.setup.control_period_s);
  for (int k = 0; k < ticks; ++k) {
    rig.tick(law);
    const double d = std::abs(rig.d_m());
    if (k < ticks / 4) early = std::max(early, d);
    if (k > 3 * ticks / 4) late = std::max(late, d);
  }
  return late < 0.5 * early;
}

}  // namespace

TEST_CASE("the stated margin is that of the law itself in a closed loop, for each rate and delay") {
  for (const double rate : {25.0, 50.0, 100.0}) {
    for (const double transport : {0.0, 0.02, 0.06, 0.1}) {
      CarParameters car = toy::car();
      car.steering_delay_s = transport;
      const LawBench believed(straight(), false, car, rate);
      for (const double v : {2.0, 4.0}) {
        CAPTURE(rate);
        CAPTURE(transport);
        CAPTURE(v);
        const auto check = [&](auto& law, const auto& parameters) {
          using Law = std::decay_t<decltype(law)>;
          const double longest = law.delay_margin_s(v);
          const double rest = believed.setup.total_delay_s() - transport;
          for (const double share : {0.85, 1.15}) {
            CarParameters real = car;
            real.steering_delay_s = std::max(0.0, share * longest - rest);
            if (share > 1.0 && real.steering_delay_s == 0.0) continue;
            const LawBench bench(straight(), false, real, rate);
            CAPTURE(share);
            CHECK(comes_back<Law>(parameters, believed.setup, bench, v) == (share < 1.0));
          }
        };
        PurePursuitLaw pursuit({}, believed.setup);
        check(pursuit, PurePursuitParameters{});
        const StanleyParameters blind{.delay_aware = false};
        StanleyLaw stanley(blind, believed.setup);
        if (stanley.delay_margin_s(v) > 0.0) check(stanley, blind);
      }
    }
  }
}

TEST_CASE("every law has 1.5 of margin with its own parameters at 25, 50 and 100 Hz and delays up to 100 ms") {
  SteeringTable table{{1.0}, {0.0, 1.0}, {0.0, 0.0}, {1e9}};
  for (const double rate : {25.0, 50.0, 100.0}) {
    for (const double transport : {0.0, 0.02, 0.06, 0.1}) {
      CarParameters car = toy::car();
      car.steering_delay_s = transport;
      LawBench bench(straight(), false, car, rate);
      bench.setup.table = &table;
      CAPTURE(rate);
      CAPTURE(transport);
      CHECK(stability_margin(PurePursuitLaw({}, bench.setup), bench.setup).value >= 1.45);
      CHECK(stability_margin(MapLaw({}, bench.setup), bench.setup).value >= 1.45);
      CHECK(stability_margin(StanleyLaw({}, bench.setup), bench.setup).value >= 1.45);
    }
  }
}

TEST_CASE("a gain that was tuned without delays is found unstable with them") {
  CarParameters car = toy::car();
  car.steering_delay_s = 0.02;
  const StanleyParameters published{
      .gain_per_s = 7.0, .softening_mps = 0.05, .heading_gain = 1.0, .heading_delays = 0.0, .delay_aware = false};
  LawBench fast(straight(), false, car, 100.0, 8.0);
  LawBench slow(straight(), false, car, 25.0, 8.0);
  const double at_100 = stability_margin(StanleyLaw(published, fast.setup), fast.setup).value;
  const double at_25 = stability_margin(StanleyLaw(published, slow.setup), slow.setup).value;
  CHECK(at_25 < 1.0);
  CHECK(at_100 < 1.5);
  CHECK(at_25 < at_100);
}
