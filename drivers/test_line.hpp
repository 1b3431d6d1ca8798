// SPDX-License-Identifier: Apache-2.0
// A session at one end of a made-up line on a made-up clock, a device written in a test at the other.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "drivers/session.hpp"
#include "drivers/test_bytes.hpp"

namespace pitwall::drivers::test {

class Line {
 public:
  explicit Line(Session& session) : session_(session) {}

  /// Called with everything that the session writes, as it does.
  std::function<void(Bytes)> device = [](Bytes) {};
  Time now = ms(1'000'000);
  std::vector<std::byte> written;

  void start() {
    session_.start(now);
    pump();
  }
  /// Bytes that reach the session after a delay.
  void reply(Bytes bytes, Duration delay = from_milliseconds(1)) {
    auto& at = arrivals_[(now + delay).ns];
    at.insert(at.end(), bytes.begin(), bytes.end());
  }
  void reply(std::string_view text, Duration delay = from_milliseconds(1)) { reply(bytes_of(text), delay); }
  /// Runs until then, stopping at every deadline and every arrival.
  void run(Duration span) {
    const Time end = now + span;
    while (true) {
      const Time arrival = arrivals_.empty() ? kNever : Time{arrivals_.begin()->first};
      const Time next = std::min({end, arrival, std::max(session_.next_deadline(), now)});
      // A deadline that does not move once it has been dealt with would hang a real loop.
      idle_ = next == now ? idle_ + 1 : 0;
      if (idle_ > 100) {
        throw std::runtime_error("the session asks to be advanced again and again");
      }
      now = next;
      if (arrival == now) {
        const std::vector<std::byte> bytes = std::move(arrivals_.begin()->second);
        arrivals_.erase(arrivals_.begin());
        session_.receive(bytes, now);
      }
      session_.advance(now);
      pump();
      if (now == end) {
        return;
      }
    }
  }
  std::vector<std::string> notes() {
    std::vector<std::string> all;
    while (auto note = session_.next_note()) {
      all.push_back(*note);
    }
    return all;
  }

 private:
  void pump() {
    const auto bytes = session_.to_send();
    if (!bytes.empty()) {
      append(written, bytes);
      device(bytes);
    }
  }

  Session& session_;
  std::map<std::int64_t, std::vector<std::byte>> arrivals_;
  int idle_ = 0;
};

}  // namespace pitwall::drivers::test
