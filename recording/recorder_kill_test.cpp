// SPDX-License-Identifier: Apache-2.0
// Power is cut at random moments of recording (kill -9): the file always opens, and of the runner's time at most the last
// second is missing.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>

#include "core/rng.hpp"
#include "recording/bag_reader.hpp"
#include "recording/bag_writer.hpp"
#include "tests/support/temp_folder.hpp"

namespace pitwall::recording {
namespace {

constexpr std::int64_t kStep = 5'000'000;  // 200 messages a second
constexpr std::int64_t kSecond = 1'000'000'000;

std::string payload(std::int64_t k) { return std::to_string(k) + std::string(static_cast<std::size_t>(k % 7) * 600, 'x'); }

/// Records until it is killed; `written` is the time of the last message that the writer has taken.
[[noreturn]] void record(const std::filesystem::path& folder, const WriteOptions& options, std::atomic<std::int64_t>& written) {
  auto writer = BagWriter::create(folder, options);
  if (!writer) std::_Exit(2);
  Topic topic;
  topic.name = "/a";
  topic.type = "std_msgs/msg/String";
  const auto index = writer->add_topic(topic);
  for (std::int64_t k = 0;; ++k) {
    const std::string data = payload(k);
    const Time at{k * kStep};
    if (!writer->write(*index, at, at, as_bytes(data))) std::_Exit(2);
    written = at.ns;
  }
}

}  // namespace

TEST_CASE("200 kills at random moments of recording never lose more than the last second, and the file always opens") {
  const Rng rng(1, "kill");
  void* shared = ::mmap(nullptr, sizeof(std::atomic<std::int64_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  auto& written = *new (shared) std::atomic<std::int64_t>(-1);
  std::int64_t most_lost = 0;
  int with_messages = 0;
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    CAPTURE(trial);
    const TempFolder temp("kill");
    WriteOptions options;
    options.compression = trial % 2 == 0 ? Compression::kZstd : Compression::kNone;
    options.split_after = {trial % 3 == 0 ? 7 * kSecond : 0};
    written = -1;
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) record(temp.path() / "run", options, written);
    while (written < 0) ::usleep(100);
    ::usleep(static_cast<useconds_t>(rng.uniform(trial, 0) * 20'000.0));
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));

    auto reader = BagReader::open(temp.path() / "run");
    REQUIRE_MESSAGE(reader.ok(), (reader.ok() ? "" : reader.error().message));
    std::int64_t k = 0;
    while (const BagMessage* message = reader->next()) {
      CHECK(message->log_time.ns == k * kStep);
      CHECK(as_text(message->data) == payload(k));
      ++k;
    }
    const std::int64_t last = k == 0 ? -1 : (k - 1) * kStep;
    const std::int64_t lost = written - last;
    CHECK(lost <= kSecond);
    most_lost = std::max(most_lost, lost);
    with_messages += k > 0 ? 1 : 0;
  }
  MESSAGE("lost at most " << most_lost / 1'000'000 << " ms; " << with_messages << " of 200 had written anything");
  CHECK(with_messages > 100);
  ::munmap(shared, sizeof(std::atomic<std::int64_t>));
}

}  // namespace pitwall::recording
