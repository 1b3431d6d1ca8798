// SPDX-License-Identifier: Apache-2.0
// Lags and gains over their whole range: what is recovered, and how often the interval covers the truth.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "core/signal.hpp"
#include "core/test_response.hpp"

using namespace pitwall;
using namespace pitwall::signals;

TEST_CASE("any lag and gain are recovered within 5 ms and 1 %, and 95 % intervals cover the truth in 9 of 10 of 200 runs") {
  const Rng draw(5, "runs");
  int lag_covered = 0;
  int gain_covered = 0;
  int first_order_right = 0;
  int lagged_runs = 0;
  double worst_delay = 0.0;
  double worst_first_order = 0.0;
  double worst_gain = 0.0;
  constexpr int kRuns = 200;
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    MadeResponse with;
    with.seed = run + 1;
    with.length_s = 60.0;
    with.gain = 0.5 + draw.uniform(run, 0);
    const double lag = 0.5 * draw.uniform(run, 1);
    // Every third is delay and first-order lag together.
    const bool lagged = run % 3 == 2 && lag > 0.1;
    with.time_constant_s = lagged ? 0.6 * lag : 0.0;
    with.delay_s = lag - with.time_constant_s;
    with.noise = 0.025;
    with.noise_time_s = 0.1 * draw.uniform(run, 2);
    // Means over pairs of scans, and instants as wheel odometry at 50 Hz.
    with.pair = run % 4 == 0 ? 0 : 2;
    with.scan_period_s = run % 4 == 0 ? 0.02 : 0.025;
    const Made made = make_response(with);
    const LagFit fit = fit_lag(made.commanded(), made.measured(), {});
    REQUIRE(fit.lag_s.identifiable);
    double& worst = lagged ? worst_first_order : worst_delay;
    worst = std::max(worst, std::abs(fit.lag_s.value - lag));
    worst_gain = std::max(worst_gain, std::abs(fit.gain.value / with.gain - 1.0));
    lag_covered += fit.lag_s.low <= lag && lag <= fit.lag_s.high ? 1 : 0;
    gain_covered += fit.gain.low <= with.gain && with.gain <= fit.gain.high ? 1 : 0;
    lagged_runs += lagged ? 1 : 0;
    first_order_right += fit.first_order == lagged ? 1 : 0;
  }
  MESSAGE("worst lag " << 1000.0 * worst_delay << " ms, with a first-order lag " << 1000.0 * worst_first_order << " ms, worst gain "
                       << 100.0 * worst_gain << " %, covered: lag " << lag_covered << ", gain " << gain_covered
                       << " of 200, first order told right in " << first_order_right << " (" << lagged_runs << " are)");
  CHECK(worst_delay <= 0.005);
  CHECK(worst_first_order <= 0.005);
  CHECK(worst_gain <= 0.01);
  CHECK(lag_covered >= 180);
  CHECK(gain_covered >= 180);
  CHECK(first_order_right >= 190);
}
