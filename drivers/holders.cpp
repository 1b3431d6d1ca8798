// SPDX-License-Identifier: Apache-2.0
// Who has a device open, from /proc.
#include <dirent.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <vector>

#include "core/text.hpp"
#include "drivers/byte_stream.hpp"

namespace pitwall::drivers {
namespace {

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  if (DIR* entries = ::opendir(folder.c_str()); entries != nullptr) {
    while (const dirent* entry = ::readdir(entries)) {
      names.emplace_back(entry->d_name);
    }
    ::closedir(entries);
  }
  return names;
}

std::string described(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/comm");
  std::string program;
  std::getline(file, program);
  return pid + " (" + (program.empty() ? "?" : program) + ")";
}

// A line of /proc/locks: "1: FLOCK  ADVISORY  WRITE 708 00:16:5 0 EOF", with device and inode of the file.
std::vector<std::string> lockers_of(const struct stat& file) {
  std::vector<std::string> holders;
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::array<char, 16> kind{};
    long pid = 0;
    unsigned device_major = 0;
    unsigned device_minor = 0;
    unsigned long inode = 0;
    const int read = std::sscanf(line.c_str(), "%*s %15s %*s %*s %ld %x:%x:%lu", kind.data(), &pid, &device_major, &device_minor, &inode);
    if (read == 5 && pid > 0 && inode == file.st_ino && device_major == major(file.st_dev) && device_minor == minor(file.st_dev)) {
      holders.push_back(described(std::to_string(pid)));
    }
  }
  return holders;
}

std::vector<std::string> openers_of(const struct stat& file) {
  std::vector<std::string> holders;
  for (const std::string& pid : names_in("/proc")) {
    if (!parse_int(pid)) {
      continue;
    }
    const std::string folder = "/proc/" + pid + "/fd";
    for (const std::string& descriptor : names_in(folder)) {
      struct stat opened {};
      if (::stat((folder + "/" + descriptor).c_str(), &opened) == 0 && opened.st_dev == file.st_dev && opened.st_ino == file.st_ino) {
        holders.push_back(described(pid));
        break;
      }
    }
  }
  return holders;
}

}  // namespace

std::string holders_of(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) {
    return {};
  }
  const std::vector<std::string> lockers = lockers_of(file);
  return join(lockers.empty() ? openers_of(file) : lockers);
}

}  // namespace pitwall::drivers
