// SPDX-License-Identifier: Apache-2.0
// What happens to every car of a run, not only to the one under test: laps, contacts, standstill, who passes whom.
#pragma once

#include <vector>

#include "scenarios/metrics.hpp"
#include "scenarios/outcome.hpp"
#include "sim/world.hpp"
#include "tracks/path.hpp"

namespace pitwall::scenarios {

/// Call after_step() after every World::step().
class CarWatch {
 public:
  /// A car that has not come this far in the time asked about stands.
  static constexpr double kStall_m = 0.5;

  CarWatch(const sim::World& world, const tracks::Path& centre);
  void after_step(const sim::World& world);

  /// How long car i has not gone kStall_m farther, s.
  [[nodiscard]] double stalled_s(std::size_t i) const { return cars_[i].stalled_s; }
  /// Smallest progress of all cars, m.
  [[nodiscard]] double least_progress_m(const sim::World& world) const;
  [[nodiscard]] std::vector<CarOutcome> report(const sim::World& world) const;

 private:
  struct Watched {
    double progress_m = 0.0;  // when it last went on
    double since_s = 0.0;
    double stalled_s = 0.0;
    double longest_s = 0.0;
    PassCounter passes;  // of each car, itself left out
  };
  const tracks::Path& centre_;
  std::vector<Watched> cars_;
};

}  // namespace pitwall::scenarios
