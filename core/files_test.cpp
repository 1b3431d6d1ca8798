// SPDX-License-Identifier: Apache-2.0
#include "core/files.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
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

TEST_CASE("a device or a pipe is neither read, which would never end, nor replaced by a file") {
  const Folder folder;
  const fs::path pipe = folder.path / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (const fs::path& special : {fs::path("/dev/null"), pipe}) {
    const auto bytes = read_file(special);
    REQUIRE_FALSE(bytes.ok());
    CHECK(bytes.error().message == special.string() + ": is a device, pipe or socket, not a file");
  }
  // Not on /dev/null: a test that fails must not break the machine.
  const Status written = write_file(pipe, "x");
  REQUIRE_FALSE(written.ok());
  CHECK(written.error().message == pipe.string() + ": cannot write: is a device, pipe or socket, not a file");
  CHECK(fs::is_fifo(pipe));
}

TEST_CASE("writing to a link writes what it points to, and keeps the link") {
  const Folder folder;
  REQUIRE(write_file(folder.path / "old", "old").ok());
  fs::create_symlink("old", folder.path / "near");
  fs::create_symlink(folder.path / "near", folder.path / "far");
  fs::create_symlink("new", folder.path / "dangling");
  fs::create_symlink("loop", folder.path / "loop");
  REQUIRE(write_file(folder.path / "far", "x").ok());
  REQUIRE(write_file(folder.path / "dangling", "y").ok());
  CHECK(read_file(folder.path / "old").value() == "x");
  CHECK(read_file(folder.path / "new").value() == "y");
  CHECK(fs::is_symlink(folder.path / "far"));
  CHECK(fs::is_symlink(folder.path / "near"));
  CHECK(fs::is_symlink(folder.path / "dangling"));
  CHECK_FALSE(read_file(folder.path / "loop").ok());
}
