// SPDX-License-Identifier: Apache-2.0
// The big recorded data lies beside the project, not in it: $PITWALL_TEST_DATA, or ../shared/data from the source
// tree. A test that needs some of it skips where it is absent:
//
//   const auto maps = test_data("maps");
//   if (!maps) return;
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "tests/support/source_dir.hpp"

namespace pitwall {

/// The file or folder `name` of the test data; where it is absent, one line says so and the caller returns.
inline std::optional<std::filesystem::path> test_data(const std::string& name) {
  const char* set = std::getenv("PITWALL_TEST_DATA");
  const std::filesystem::path root = set != nullptr ? std::filesystem::path(set) : source_dir() / ".." / "shared" / "data";
  std::error_code ignored;
  if (std::filesystem::exists(root / name, ignored)) return root / name;
  MESSAGE("skipped: no test data at " << (root / name).string() << " (set PITWALL_TEST_DATA)");
  return std::nullopt;
}

}  // namespace pitwall
