// SPDX-License-Identifier: Apache-2.0
#include "scenarios/runner.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

namespace pitwall::scenarios {
namespace {

/// CPU time of the calling thread in s: what a run costs on one core, whatever else the machine does.
double thread_cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// A run, timed. What it throws is a bug of ours, or of a controller, and says which run it was.
Result<Outcome> timed_run(const RunOne& run_one, const ResolvedRun& run, const std::function<bool()>& give_up) {
  const auto started = std::chrono::steady_clock::now();
  const double cpu_started_s = thread_cpu_s();
  try {
    Result<Outcome> result = run_one(run, give_up);
    if (result) {
      result->cpu_time_s = thread_cpu_s() - cpu_started_s;
      result->wall_time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    }
    return result;
  } catch (const std::exception& error) {
    throw std::runtime_error(run.scenario.id + " on " + run.track->name + ", seed " + std::to_string(run.scenario.world.seed) + ": " +
                             error.what());
  }
}

}  // namespace

int default_jobs() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

Status run_all(const std::vector<ResolvedRun>& runs, int jobs, const std::atomic<bool>& stop,
               const std::function<void(const Finished&)>& on_finished, const RunOne& run_one) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::optional<Result<Outcome>>> results(runs.size());
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr thrown;
  const auto give_up = [&] { return stop.load() || failed.load(); };
  std::size_t working = std::min(runs.size(), static_cast<std::size_t>(std::max(1, jobs)));

  const auto work = [&] {
    for (std::size_t i = next++; i < runs.size() && !give_up(); i = next++) {
      try {
        Result<Outcome> result = timed_run(run_one, runs[i], give_up);
        if (!result) failed = true;
        const std::lock_guard lock(mutex);
        results[i] = std::move(result);
      } catch (...) {
        failed = true;
        const std::lock_guard lock(mutex);
        if (!thrown) thrown = std::current_exception();
      }
      changed.notify_all();
    }
    const std::lock_guard lock(mutex);
    --working;
    changed.notify_all();
  };

  std::vector<std::jthread> workers;
  for (std::size_t k = 0, count = working; k < count; ++k) {
    try {
      workers.emplace_back(work);
    } catch (const std::system_error&) {
      // The machine gives no more threads: those there are do the work.
      if (workers.empty()) throw;
      const std::lock_guard lock(mutex);
      working -= count - k;
      break;
    }
  }

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
  workers.clear();
  if (thrown) std::rethrow_exception(thrown);
  return {};
}

}  // namespace pitwall::scenarios
