// SPDX-License-Identifier: Apache-2.0
#include "apps/interrupt.hpp"

#include <atomic>
#include <csignal>

namespace pitwall::apps {

namespace {

std::atomic<bool> g_interrupted{false};
extern "C" void on_signal(int /*signal*/) { g_interrupted = true; }

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of the write, not the end of the process
}

bool interrupted() { return g_interrupted; }

}  // namespace pitwall::apps
