// SPDX-License-Identifier: Apache-2.0
#include "drivers/emulators/wire.hpp"

#include <doctest/doctest.h>

#include "drivers/emulators/test_hex.hpp"

namespace pitwall::emulators {
namespace {

Wire wire() {
  return Wire(1, "x", [](Bytes& message) { message.back() ^= 1; });
}

void turn(Wire& w, std::int64_t ms, std::string_view knob) {
  const Status turned = w.knobs().turn(at_ms(ms), knob);
  REQUIRE_MESSAGE(turned.ok(), (turned.ok() ? "" : turned.error().message));
}

/// All that is due, and in how many pieces.
std::pair<Bytes, int> due(Wire& w, Time now) {
  std::pair<Bytes, int> all;
  for (Bytes piece = w.take(now); !piece.empty(); piece = w.take(now)) {
    all.first.insert(all.first.end(), piece.begin(), piece.end());
    ++all.second;
  }
  return all;
}

}  // namespace

TEST_CASE("a sound cable carries messages as they are") {
  Wire w = wire();
  w.send(at_ms(1), {1, 2, 3});
  w.send(at_ms(1), {4});
  CHECK(due(w, at_ms(1)) == std::pair{Bytes{1, 2, 3, 4}, 2});
  CHECK(w.next_due() == kNever);
  CHECK(w.damaged() == 0);
}

TEST_CASE("mute says nothing, and what was said is lost") {
  Wire w = wire();
  turn(w, 0, "mute 1");
  w.send(at_ms(1), {1});
  turn(w, 2, "mute 0");
  w.send(at_ms(3), {2});
  CHECK(due(w, at_ms(4)).first == Bytes{2});
}

TEST_CASE("late is late by so much, and never overtaken") {
  Wire w = wire();
  turn(w, 0, "late 30");
  w.send(at_ms(1), {1});
  turn(w, 2, "late 0");
  w.send(at_ms(3), {2});
  CHECK(due(w, at_ms(30)).first.empty());
  CHECK(w.next_due() == at_ms(31));
  CHECK(due(w, at_ms(31)).first == Bytes{1, 2});
}

TEST_CASE("chopped messages come in pieces, all of them within 2 ms") {
  Wire w = wire();
  turn(w, 0, "chop 1");
  const Bytes message(500, 7);
  w.send(at_ms(0), message);
  Bytes all;
  int pieces = 0;
  for (std::int64_t us = 0; us <= 2000; us += 100) {
    const auto [bytes, count] = due(w, Time{us * 1000});
    all.insert(all.end(), bytes.begin(), bytes.end());
    pieces += count;
    if (us == 1000) CHECK(all.size() == doctest::Approx(251).epsilon(0.01));
  }
  CHECK(all == message);
  CHECK(pieces == 500);
}

TEST_CASE("garbage comes ahead of the next message, once") {
  Wire w = wire();
  turn(w, 0, "garbage 5");
  w.send(at_ms(0), {1, 2});
  const Bytes bytes = due(w, at_ms(0)).first;
  REQUIRE(bytes.size() == 7);
  CHECK(Bytes(bytes.begin() + 5, bytes.end()) == Bytes{1, 2});
  w.send(at_ms(0), {3});
  CHECK(due(w, at_ms(0)).first == Bytes{3});
}

TEST_CASE("bad sums are so many, flipped bytes such a share, and both are counted") {
  Wire w = wire();
  turn(w, 0, "badsum 2");
  for (int i = 0; i < 3; ++i) w.send(at_ms(0), {8, 8});
  CHECK(due(w, at_ms(0)).first == Bytes{8, 9, 8, 9, 8, 8});
  CHECK(w.damaged() == 2);
  turn(w, 0, "flip 0.01");
  const Bytes message(100, 0);
  int wrong = 0;
  for (int i = 0; i < 10000; ++i) {
    w.send(at_ms(0), message);
    const Bytes bytes = due(w, at_ms(0)).first;
    const auto flipped = std::count_if(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte != 0; });
    CHECK(flipped <= 1);
    wrong += flipped == 1 ? 1 : 0;
  }
  CHECK(wrong == w.damaged() - 2);
  CHECK(wrong == doctest::Approx(100).epsilon(0.3));
}

TEST_CASE("bytes can be said from outside, and unknown knobs have a nearest name") {
  Wire w = wire();
  turn(w, 0, "say 0aff 01");
  CHECK(due(w, at_ms(0)).first == Bytes{0x0a, 0xff, 0x01});
  CHECK_FALSE(w.knobs().turn(at_ms(0), "say 0").ok());
  CHECK_FALSE(w.knobs().turn(at_ms(0), "say 0g").ok());
  CHECK_FALSE(w.knobs().turn(at_ms(0), "mute 2").ok());
  CHECK_FALSE(w.knobs().turn(at_ms(0), "late -1").ok());
  const Status unknown = w.knobs().turn(at_ms(0), "mut 1");
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().message.find("did you mean 'mute'") != std::string::npos);
}

}  // namespace pitwall::emulators
