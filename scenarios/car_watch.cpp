// SPDX-License-Identifier: Apache-2.0
#include "scenarios/car_watch.hpp"

#include <algorithm>

namespace pitwall::scenarios {

CarWatch::CarWatch(const sim::World& world, const tracks::Path& centre) : centre_(centre) {
  for (std::size_t i = 0; i < world.size(); ++i) cars_.push_back({.passes = PassCounter(world.size())});
}

void CarWatch::after_step(const sim::World& world) {
  const double now_s = world.now().seconds();
  for (std::size_t i = 0; i < cars_.size(); ++i) {
    Watched& car = cars_[i];
    const double progress_m = world.car(i).lap.progress_m;
    if (progress_m >= car.progress_m + kStall_m) {
      car.progress_m = progress_m;
      car.since_s = now_s;
    }
    car.stalled_s = now_s - car.since_s;
    car.longest_s = std::max(car.longest_s, car.stalled_s);
    for (std::size_t j = 0; j < cars_.size(); ++j) {
      if (j != i) car.passes.update(j, centre_.s_difference(world.car(i).lap.s_m, world.car(j).lap.s_m));
    }
  }
}

double CarWatch::least_progress_m(const sim::World& world) const {
  double least = world.car(0).lap.progress_m;
  for (std::size_t i = 1; i < cars_.size(); ++i) least = std::min(least, world.car(i).lap.progress_m);
  return least;
}

std::vector<CarOutcome> CarWatch::report(const sim::World& world) const {
  std::vector<CarOutcome> all;
  for (std::size_t i = 0; i < cars_.size(); ++i) {
    CarOutcome car;
    car.name = world.name(i);
    car.laps = world.car(i).lap.laps;
    car.progress_m = world.car(i).lap.progress_m;
    car.lead_changes = cars_[i].passes.completed();
    car.longest_stall_s = cars_[i].longest_s;
    for (const sim::ContactEvent& event : world.contacts()) {
      if (event.car != static_cast<int>(i)) continue;
      if (event.partner >= 0) {
        ++car.car_contacts;
      } else {
        ++car.wall_contacts;
      }
    }
    all.push_back(car);
  }
  return all;
}

}  // namespace pitwall::scenarios
