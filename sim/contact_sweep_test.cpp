// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "sim/contact_approaches.hpp"

using namespace pitwall::sim;

TEST_CASE("of 100000 random approaches none is missed and none invented, each in its own sub-step") {
  const auto tally = reference::run_approaches(100'000, 12345);
  MESSAGE("touches ", tally.touches, ", passes ", tally.passes, ", looked at again in 4096 parts: ", tally.disagreements_at_64);
  CHECK(tally.approaches == 100'000);
  CHECK(tally.touches > 20'000);
  CHECK(tally.passes > 20'000);
  CHECK(tally.missed == 0);
  CHECK(tally.invented == 0);
  CHECK(tally.wrong_time == 0);
}
