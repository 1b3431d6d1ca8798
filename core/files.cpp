// SPDX-License-Identifier: Apache-2.0
#include "core/files.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

namespace pitwall {
namespace {

std::string reason() { return std::strerror(errno); }

/// Something that is there but is no file: a device would read without end, a pipe would wait, and a rename would put a
/// file in its place.
bool is_special(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) && !std::filesystem::is_directory(status);
}

/// Where a chain of links ends, be there a file or not: a rename would replace the link itself.
std::filesystem::path end_of_links(std::filesystem::path path) {
  constexpr int kLongestChain = 40;
  std::error_code failed;
  for (int k = 0; k < kLongestChain && std::filesystem::is_symlink(path, failed); ++k) {
    const std::filesystem::path to = std::filesystem::read_symlink(path, failed);
    if (failed) break;
    path = path.parent_path() / to;
  }
  return path;
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return Error{path.string() + ": is a folder, not a file"};
  if (is_special(path)) return Error{path.string() + ": is a device, pipe or socket, not a file"};
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error{path.string() + ": cannot read: " + reason()};
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) return Error{path.string() + ": reading failed: " + reason()};
  return bytes;
}

Status write_file(const std::filesystem::path& target, std::string_view bytes) {
  std::error_code failed;
  const std::filesystem::path path = end_of_links(target);
  if (is_special(path)) return Error{target.string() + ": cannot write: is a device, pipe or socket, not a file"};
  if (path.has_parent_path()) {
    std::filesystem::create_directories(path.parent_path(), failed);
    if (failed) return Error{path.parent_path().string() + ": cannot create folder: " + failed.message()};
  }
  const std::filesystem::path beside = path.string() + ".part" + std::to_string(::getpid());
  errno = 0;
  {
    std::ofstream out(beside, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.flush();
    if (!out) {
      const std::string why = reason();
      out.close();
      std::filesystem::remove(beside, failed);
      return Error{path.string() + ": cannot write: " + why};
    }
  }
  std::filesystem::rename(beside, path, failed);
  if (failed) {
    const std::string why = failed.message();
    std::filesystem::remove(beside, failed);
    return Error{path.string() + ": cannot write: " + why};
  }
  return {};
}

std::filesystem::path data_folder() {
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  return program.parent_path().parent_path() / "share" / "pitwall";
}

}  // namespace pitwall
