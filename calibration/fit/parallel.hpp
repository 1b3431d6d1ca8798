// SPDX-License-Identifier: Apache-2.0
// Work items side by side. Which thread takes which is left to chance: items must write to places of their own.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace pitwall::fit {

/// Calls work(item, worker) for every item below `count`, on `jobs` threads (0: as many as the machine has).
template <class Work>
void side_by_side(std::size_t count, unsigned jobs, const Work& work) {
  if (jobs == 0) jobs = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t workers = std::min<std::size_t>(jobs, count);
  std::atomic<std::size_t> next{0};
  const auto run = [&](std::size_t worker) {
    for (std::size_t item = next++; item < count; item = next++) work(item, worker);
  };
  std::vector<std::thread> threads;
  for (std::size_t worker = 1; worker < workers; ++worker) threads.emplace_back(run, worker);
  if (workers > 0) run(0);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace pitwall::fit
