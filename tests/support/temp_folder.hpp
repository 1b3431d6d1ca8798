// SPDX-License-Identifier: Apache-2.0
// A folder of a test's own that is gone afterwards.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "core/files.hpp"

namespace pitwall {

class TempFolder {
 public:
  explicit TempFolder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / ("pitwall_" + name + "_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Writes a file below the folder and gives its path.
  std::filesystem::path write(const std::string& name, std::string_view bytes) const {
    const Status written = write_file(path_ / name, bytes);
    REQUIRE_MESSAGE(written.ok(), (written.ok() ? "" : written.error().message));
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace pitwall
