// SPDX-License-Identifier: Apache-2.0
#include "core/files.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

using namespace pitwall;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("pitwall_files_test_" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

}  // namespace

TEST_CASE("what is written is read back, parents are made and nothing is left beside") {
  const Folder folder;
  const fs::path file = folder.path / "a" / "b.bin";
  const std::string bytes("\0\xff\r\n x", 6);
  REQUIRE(write_file(file, bytes).ok());
  REQUIRE(write_file(file, bytes).ok());
  CHECK(read_file(file).value() == bytes);
  CHECK(std::distance(fs::directory_iterator(file.parent_path()), fs::directory_iterator()) == 1);
}

TEST_CASE("a file that is not there, or is a folder, is named in the error") {
  const Folder folder;
  const auto missing = read_file(folder.path / "none.yaml");
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().message == (folder.path / "none.yaml").string() + ": cannot read: No such file or directory");
  const auto is_folder = read_file(folder.path);
  REQUIRE_FALSE(is_folder.ok());
  CHECK(is_folder.error().message == folder.path.string() + ": is a folder, not a file");
}

TEST_CASE("a target that cannot be replaced is an error and leaves nothing half-written") {
  const Folder folder;
  fs::create_directories(folder.path / "taken" / "inside");
  const Status status = write_file(folder.path / "taken", "x");
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().message.starts_with((folder.path / "taken").string() + ": cannot write: "));
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 1);
}

TEST_CASE("a parent that is a file is an error that names it") {
  const Folder folder;
  REQUIRE(write_file(folder.path / "file", "x").ok());
  const Status status = write_file(folder.path / "file" / "below.txt", "x");
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().message.starts_with((folder.path / "file").string()));
}
