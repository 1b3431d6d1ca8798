// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/peer.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <utility>

#include "core/text.hpp"

namespace pitwall::ros_bridge {
namespace {

constexpr std::int64_t kRescan_ns = 1'000'000'000;
constexpr std::size_t kNamed = 5;

std::int64_t monotonic_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

std::vector<pid_t> numbers_in(const std::string& folder) {
  std::vector<pid_t> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), &::closedir);
  if (!open) return numbers;
  while (const dirent* entry = ::readdir(open.get())) {
    if (const auto number = parse_int(static_cast<const char*>(entry->d_name))) numbers.push_back(static_cast<pid_t>(*number));
  }
  return numbers;
}

struct Stat {
  std::string name;
  char state = '?';
  pid_t parent = 0;
};

// "123 (name) S 1 ...": the name may hold blanks and brackets.
bool read_stat(const std::string& file, Stat& out) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  std::array<char, 512> text{};
  const ssize_t got = ::read(fd, text.data(), text.size() - 1);
  ::close(fd);
  if (got <= 0) return false;
  const std::string line(text.data(), static_cast<std::size_t>(got));
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close + 4 > line.size()) return false;
  out.name = line.substr(open + 1, close - open - 1);
  out.state = line[close + 2];
  out.parent = static_cast<pid_t>(std::atoi(line.c_str() + close + 4));
  return true;
}

}  // namespace

Result<std::unique_ptr<LaunchedPeer>> LaunchedPeer::start(const std::string& command,
                                                          const std::map<std::string, std::string>& environment) {
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return Error{"no process for '" + command + "'"};
  if (pid == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGINT);
    if (::getppid() != parent) ::_exit(130);  // it died before that
    for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
    ::execl("/bin/sh", "sh", "-c", ("exec " + command).c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::setpgid(pid, pid);
  return std::unique_ptr<LaunchedPeer>(new LaunchedPeer(pid));
}

LaunchedPeer::~LaunchedPeer() {
  if (!alive()) return;
  ::kill(-pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool LaunchedPeer::alive() {
  if (!ended_ && ::waitpid(pid_, &exit_status_, WNOHANG) == pid_) ended_ = true;
  return !ended_;
}

void LaunchedPeer::scan_tree() {
  std::vector<std::pair<pid_t, pid_t>> parents;  // of every process: child, parent
  for (const pid_t pid : numbers_in("/proc")) {
    Stat stat;
    if (read_stat("/proc/" + std::to_string(pid) + "/stat", stat)) parents.emplace_back(pid, stat.parent);
  }
  tree_.assign(1, pid_);
  for (std::size_t i = 0; i < tree_.size(); ++i) {
    for (const auto& [child, parent] : parents) {
      if (parent == tree_[i]) tree_.push_back(child);
    }
  }
}

bool LaunchedPeer::busy() {
  if (tree_.empty() || monotonic_ns() - scanned_ns_ > kRescan_ns) {
    scan_tree();
    scanned_ns_ = monotonic_ns();
  }
  bool any = false;
  for (const pid_t pid : tree_) {
    const std::string folder = "/proc/" + std::to_string(pid) + "/task";
    for (const pid_t thread : numbers_in(folder)) {
      Stat stat;
      if (!read_stat(folder + "/" + std::to_string(thread) + "/stat", stat) || (stat.state != 'R' && stat.state != 'D')) continue;
      any = true;
      ++busy_[stat.name + " (" + std::to_string(pid) + "/" + std::to_string(thread) + ", " + stat.state + ")"];
    }
  }
  return any;
}

std::string LaunchedPeer::busiest() {
  std::vector<std::pair<std::uint64_t, std::string>> all;
  for (const auto& [name, count] : busy_) all.emplace_back(count, name);
  std::sort(all.rbegin(), all.rend());
  if (all.size() > kNamed) all.resize(kNamed);
  busy_.clear();
  std::vector<std::string> names;
  for (const auto& [count, name] : all) names.push_back(name + " " + std::to_string(count) + " times");
  return join(names);
}

bool LaunchedPeer::wait_end(Duration patience) {
  // Readable once the process has ended. Where there is no such thing (some sandboxes), poll passes it over, and we look every 5 ms.
  pollfd ended{static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)), POLLIN, 0};
  const std::int64_t until = monotonic_ns() + patience.ns;
  for (std::int64_t left = patience.ns; left > 0 && alive(); left = until - monotonic_ns())
    ::poll(&ended, 1, ended.fd >= 0 ? static_cast<int>((left + 999'999) / 1'000'000) : 5);
  if (ended.fd >= 0) ::close(ended.fd);
  return !alive();
}

Status LaunchedPeer::stop(Duration patience) {
  if (alive()) ::kill(-pid_, SIGINT);
  if (!wait_end(patience)) {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, &exit_status_, 0);
    ended_ = true;
    return Error{"it did not end within " + format_number(patience.seconds(), 3) +
                 " s of SIGINT and was killed: what it wrote is not complete"};
  }
  if (WIFEXITED(exit_status_) && (WEXITSTATUS(exit_status_) == 0 || WEXITSTATUS(exit_status_) == 128 + SIGINT)) return {};
  if (WIFSIGNALED(exit_status_) && WTERMSIG(exit_status_) == SIGINT) return {};
  const bool signalled = WIFSIGNALED(exit_status_);
  return Error{"it ended with " + std::string(signalled ? "signal " : "exit code ") +
               std::to_string(signalled ? WTERMSIG(exit_status_) : WEXITSTATUS(exit_status_))};
}

}  // namespace pitwall::ros_bridge
