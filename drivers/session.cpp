// SPDX-License-Identifier: Apache-2.0
#include "drivers/session.hpp"

namespace pitwall::drivers {

const char* to_string(Phase phase) {
  switch (phase) {
    case Phase::kClosed:
      return "closed";
    case Phase::kIdentifying:
      return "identifying";
    case Phase::kRunning:
      return "running";
    case Phase::kSilent:
      return "silent";
    case Phase::kReconnect:
      return "reconnect";
    case Phase::kRefused:
      return "refused";
  }
  return "?";
}

std::vector<std::byte> Session::to_send() {
  append_pending(out_);
  std::vector<std::byte> bytes = std::move(out_);
  out_.clear();
  counters_.bytes_sent += bytes.size();
  return bytes;
}

void Session::set_phase(Phase phase, std::string status) {
  if (phase != phase_ || status != status_) {
    note(std::string(to_string(phase)) + ": " + status);
    status_ = std::move(status);
  }
  phase_ = phase;
}

}  // namespace pitwall::drivers
