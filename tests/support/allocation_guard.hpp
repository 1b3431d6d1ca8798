// SPDX-License-Identifier: Apache-2.0
// Counts what the calling thread allocates through operator new while a guard is alive. allocation_guard.cpp replaces
// the global operators and is part of every test program (cmake/pitwall.cmake), so a test only includes this header:
//
//   controller.reset(first);
//   const AllocationGuard guard;
//   for (...) controller.update(observation);
//   CHECK(guard.count() == 0);
//
// doctest's own CHECK allocates: collect results first and check after reading count().
#pragma once

#include <cstddef>

namespace pitwall {

/// Allocations of the calling thread since construction. Guards may nest; one guard stays on its thread.
class AllocationGuard {
 public:
  AllocationGuard();
  /// Number of operator new calls of this thread so far.
  [[nodiscard]] std::size_t count() const;
  /// Bytes asked for by those calls.
  [[nodiscard]] std::size_t bytes() const;

 private:
  std::size_t count_at_start_;
  std::size_t bytes_at_start_;
};

}  // namespace pitwall
