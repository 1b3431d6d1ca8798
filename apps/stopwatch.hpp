// SPDX-License-Identifier: Apache-2.0
// What a controller's ticks cost this computer: thread CPU time around each, for information. It is no part of a run: neither the
// trace nor any verdict depends on it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/controller.hpp"
#include "scenarios/law_comparison.hpp"
#include "scenarios/run.hpp"

namespace pitwall::apps {

/// Stands in for a controller, and adds the counter scenarios::kHostP99_us (99th percentile of its ticks' CPU time, us) to its own.
class Stopwatch final : public Controller {
 public:
  explicit Stopwatch(std::unique_ptr<Controller> timed) : timed_(std::move(timed)) {}

  [[nodiscard]] std::string_view name() const override { return timed_->name(); }
  [[nodiscard]] Trigger trigger() const override { return timed_->trigger(); }
  void reset(const Observation& first) override;
  Command update(const Observation& obs) override;
  [[nodiscard]] std::vector<std::pair<std::string_view, double>> counters() const override;

 private:
  std::unique_ptr<Controller> timed_;
  std::vector<std::int64_t> ticks_ns_;
};

/// run_scenario() with a stopwatch on the car under test.
Result<scenarios::Outcome> run_timed(const scenarios::ResolvedRun& run, const std::function<bool()>& interrupted);

}  // namespace pitwall::apps
