// SPDX-License-Identifier: Apache-2.0
// The big recorded data of the tests: beside the checkout, or where PITWALL_TEST_DATA says. Absent data is skipped with
// one line.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

namespace pitwall::test {

/// `relative` below the folder of the test data.
inline std::filesystem::path data(const std::filesystem::path& relative) {
  const char* given = std::getenv("PITWALL_TEST_DATA");
  const std::filesystem::path root =
      given != nullptr ? std::filesystem::path(given) : std::filesystem::path(PITWALL_SOURCE_DIR) / "../shared/data";
  return root / relative;
}

/// Whether it is there; says once per call that the test is skipped if not.
inline bool have(const std::filesystem::path& path) {
  if (std::filesystem::exists(path)) return true;
  MESSAGE("skipped: no " << path.string() << " (set PITWALL_TEST_DATA)");
  return false;
}

}  // namespace pitwall::test
