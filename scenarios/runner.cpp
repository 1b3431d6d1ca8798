// SPDX-License-Identifier: Apache-2.0
#include "scenarios/runner.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace pitwall::scenarios {
namespace {

/// CPU time of the calling thread in s: what a run costs on one core, whatever else the machine does.
double thread_cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

int default_jobs() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

Status run_all(const std::vector<ResolvedRun>& runs, int jobs, const std::atomic<bool>& stop,
               const std::function<void(const Finished&)>& on_finished) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::optional<Result<Outcome>>> results(runs.size());
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  const auto give_up = [&] { return stop.load() || failed.load(); };
  std::size_t working = std::min(runs.size(), static_cast<std::size_t>(std::max(1, jobs)));

  const auto work = [&] {
    for (std::size_t i = next++; i < runs.size() && !give_up(); i = next++) {
      const auto started = std::chrono::steady_clock::now();
      const double cpu_started_s = thread_cpu_s();
      Result<Outcome> result = run_scenario(runs[i], give_up);
      if (result) {
        result->cpu_time_s = thread_cpu_s() - cpu_started_s;
        result->wall_time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
      } else {
        failed = true;
      }
      const std::lock_guard lock(mutex);
      results[i] = std::move(result);
      changed.notify_all();
    }
    const std::lock_guard lock(mutex);
    --working;
    changed.notify_all();
  };

  std::vector<std::jthread> workers;
  for (std::size_t k = 0, count = working; k < count; ++k) workers.emplace_back(work);

  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return results[i].has_value() || working == 0; });
    // Without a result here the workers have stopped early; later runs may still have finished.
    if (!results[i].has_value()) continue;
    const Result<Outcome>& result = *results[i];
    lock.unlock();
    if (!result) return result.error();
    if (!result->interrupted) on_finished({i, *result});
  }
  return {};
}

}  // namespace pitwall::scenarios
