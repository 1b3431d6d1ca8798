// SPDX-License-Identifier: Apache-2.0
#include "core/check.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

#include "core/result.hpp"

using namespace pitwall;

namespace {

struct Death {
  bool aborted = false;
  std::string said;
};

/// Runs `body` in a child process and reports whether it aborted and what it wrote to stderr.
template <class Body>
Death death_of(Body body) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    // doctest's own handler would report the abort as a failure of this test.
    ::signal(SIGABRT, SIG_DFL);
    body();
    ::_exit(0);
  }
  ::close(ends[1]);
  Death death;
  std::array<char, 512> buffer{};
  for (ssize_t n = 0; (n = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    death.said.append(buffer.data(), static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  death.aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  return death;
}

}  // namespace

TEST_CASE("a failed check prints place, condition and values, and aborts") {
  const Death death = death_of([] {
    const int wheels = 3;
    PITWALL_CHECK(wheels == 4, "wheels", wheels, 0.1);
  });
  CHECK(death.aborted);
  CHECK(death.said.find("check_test.cpp:") != std::string::npos);
  CHECK(death.said.find("check `wheels == 4` failed: wheels 3 0.1000000000000000") != std::string::npos);
}

TEST_CASE("a check that holds says nothing and evaluates its condition once") {
  int calls = 0;
  PITWALL_CHECK(++calls == 1);
  CHECK(calls == 1);
}

TEST_CASE("a result is a value or an error") {
  const Result<std::string> good = std::string("text");
  REQUIRE(good.ok());
  CHECK(*good == "text");
  CHECK(good->size() == 4);
  const Result<std::string> bad = Error{"why"};
  CHECK_FALSE(bad.ok());
  CHECK(bad.error().message == "why");
  CHECK(Status().ok());
  CHECK(Status(Error{"no"}).error().message == "no");
}

TEST_CASE("reading the side of a result that is not there aborts with the message") {
  const Death value = death_of([] {
    const Result<int> bad = Error{"the reason"};
    (void)bad.value();
  });
  CHECK(value.aborted);
  CHECK(value.said.find("the reason") != std::string::npos);
  CHECK(death_of([] { (void)Result<int>(3).error(); }).aborted);
  CHECK(death_of([] { (void)Status().error(); }).aborted);
}
