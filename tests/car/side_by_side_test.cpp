// SPDX-License-Identifier: Apache-2.0
// The tests of car_run as a process mostly wait: some of them run at once here, each in a process of its own, and what they say is shown
// where one fails. By hand: pitwall_car_run_test --test-case='row 7*'.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "core/files.hpp"
#include "core/text.hpp"

using namespace pitwall;

namespace {

constexpr const char* kProgram = PITWALL_BIN_DIR "/pitwall_car_run_test";
// Each takes a tenth of a core, and an emulated car beside it another.
constexpr std::size_t kAtOnce = 4;

struct Job {
  std::string filter;
  int code = -1;
  std::string said;
};

std::filesystem::path log_of(std::size_t job) {
  return std::filesystem::temp_directory_path() / ("pitwall_car_" + std::to_string(::getpid()) + "_" + std::to_string(job) + ".log");
}

void run(Job& job, std::size_t number) {
  const std::filesystem::path log = log_of(number);
  const int status = std::system((std::string(kProgram) + " -d " + job.filter + " > '" + log.string() + "' 2>&1").c_str());
  job.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  const auto said = read_file(log);
  job.said = said ? *said : "";
  std::filesystem::remove(log);
}

/// One job for each test case of a file.
void add_cases(const std::string& file, std::vector<Job>& jobs) {
  Job count{"--source-file='*" + file + "' --count", -1, ""};
  run(count, 0);
  const std::size_t colon = count.said.rfind(": ");
  REQUIRE_MESSAGE(colon != std::string::npos, count.said);
  const auto cases = parse_int(trim(std::string_view(count.said).substr(colon + 2)));
  REQUIRE_MESSAGE(cases, count.said);
  for (std::int64_t k = 1; k <= *cases; ++k)
    jobs.push_back({"--source-file='*" + file + "' --first=" + std::to_string(k) + " --last=" + std::to_string(k), -1, ""});
}

}  // namespace

TEST_CASE("a minute of driving, and beside it the safety list, process by process") {
  std::vector<Job> jobs{{"--source-file='*car_loop_test.cpp'", -1, ""}};
  for (const char* file : {"car_inputs_test.cpp", "car_run_test.cpp", "lidars_test.cpp"}) add_cases(file, jobs);
  REQUIRE(jobs.size() > 20);
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> workers;
  for (std::size_t w = 0; w < kAtOnce; ++w) {
    workers.emplace_back([&] {
      for (std::size_t k = next++; k < jobs.size(); k = next++) run(jobs[k], k);
    });
  }
  for (std::thread& worker : workers) worker.join();
  for (const Job& job : jobs) {
    CHECK_MESSAGE(job.code == 0, job.filter << "\n" << job.said);
    CHECK_MESSAGE(job.said.find("TEST CASE:") != std::string::npos, job.filter << ": nothing ran");
  }
  MESSAGE(jobs.front().said);
}
