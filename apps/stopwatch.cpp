// SPDX-License-Identifier: Apache-2.0
#include "apps/stopwatch.hpp"

#include <time.h>

#include <algorithm>

namespace pitwall::apps {
namespace {

constexpr std::size_t kMostTicks = 200'000;  // more than an hour at 40 Hz

std::int64_t cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

void Stopwatch::reset(const Observation& first) {
  ticks_ns_.clear();
  ticks_ns_.reserve(kMostTicks);
  timed_->reset(first);
}

Command Stopwatch::update(const Observation& obs) {
  const std::int64_t before = cpu_ns();
  const Command command = timed_->update(obs);
  if (ticks_ns_.size() < kMostTicks) ticks_ns_.push_back(cpu_ns() - before);
  return command;
}

std::vector<std::pair<std::string_view, double>> Stopwatch::counters() const {
  auto all = timed_->counters();
  if (ticks_ns_.empty()) return all;
  std::vector<std::int64_t> sorted = ticks_ns_;
  const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(0.99 * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), at, sorted.end());
  all.emplace_back(scenarios::kHostP99_us, 1e-3 * static_cast<double>(*at));
  return all;
}

Result<scenarios::Outcome> run_timed(const scenarios::ResolvedRun& run, const std::function<bool()>& interrupted) {
  scenarios::RunHooks hooks;
  hooks.around = [](std::unique_ptr<Controller> controller) { return std::make_unique<Stopwatch>(std::move(controller)); };
  return scenarios::run_scenario(run, interrupted, hooks);
}

}  // namespace pitwall::apps
