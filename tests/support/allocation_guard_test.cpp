// SPDX-License-Identifier: Apache-2.0
#include "tests/support/allocation_guard.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <new>
#include <thread>
#include <vector>

using namespace pitwall;

TEST_CASE("the guard counts what a vector allocates, and nothing when it has room") {
  std::vector<double> values;
  const AllocationGuard growing;
  values.reserve(100);
  const std::size_t grown = growing.count();
  const std::size_t bytes = growing.bytes();
  const AllocationGuard idle;
  for (int i = 0; i < 100; ++i) values.push_back(i);
  const std::size_t none = idle.count();
  CHECK(grown == 1);
  CHECK(bytes == 800);
  CHECK(none == 0);
}

TEST_CASE("the guard counts over-aligned and nothrow allocations") {
  struct alignas(64) Wide {
    double values[8] = {};
  };
  const AllocationGuard guard;
  {
    const auto wide = std::make_unique<Wide>();
    const std::unique_ptr<int> quiet(new (std::nothrow) int(3));
    const auto many = std::make_unique<Wide[]>(3);
    CHECK(reinterpret_cast<std::uintptr_t>(many.get()) % 64 == 0);
  }
  const std::size_t count = guard.count();
  CHECK(count == 3);
}

TEST_CASE("another thread's allocations are not counted") {
  std::size_t seen_there = 0;
  const AllocationGuard outside;
  std::thread worker([&seen_there] {
    const AllocationGuard inside;
    const std::vector<int> some(1000);
    seen_there = inside.count();
  });
  worker.join();
  const std::size_t here = outside.count();
  CHECK(seen_there == 1);
  CHECK(here <= 1);  // starting a thread may allocate its state on this one
}
