// SPDX-License-Identifier: Apache-2.0
#include "core/fields.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <limits>

#include "core/node.hpp"

using namespace pitwall;

namespace {

enum class Mode { kSlow, kFast };
constexpr std::array<std::string_view, 2> kModeNames = {"slow", "fast"};

struct Inner {
  double gain = 0.5;
  void fields(FieldVisitor& f) { f.number("gain", gain, {"1/s", 0.0, 1.0, "a gain"}); }
};

struct Outer {
  double speed_mps = 2.0;
  double any = 0.0;
  std::int64_t count = 3;
  bool on = false;
  std::string title = "plain";
  Mode mode = Mode::kSlow;
  Inner inner;

  void fields(FieldVisitor& f) {
    f.number("speed_mps", speed_mps, {"m/s", -1.0, 20.0, "a speed"});
    f.number("any", any, {.doc = "unbounded"});
    f.integer("count", count, {"", 1, 10, "a count"});
    f.flag("on", on, "a switch");
    f.text("title", title, "a text");
    f.enumeration("mode", mode, kModeNames, "a choice");
    f.nested("inner", inner);
  }
};

Status load(std::string_view yaml, Outer& value) {
  const Result<Node> node = parse_yaml(yaml, "f.yaml");
  if (!node) return node.error();
  return load_fields(*node, "outer", value);
}

std::string error_of(std::string_view yaml) {
  Outer value;
  const Status status = load(yaml, value);
  return status ? "" : status.error().message;
}

}  // namespace

TEST_CASE("a file sets the fields it names and leaves the others") {
  Outer value;
  REQUIRE(load("speed_mps: 3.5\non: true\nmode: fast\ninner: {gain: 0.25}\n", value).ok());
  CHECK(value.speed_mps == 3.5);
  CHECK(value.on);
  CHECK(value.mode == Mode::kFast);
  CHECK(value.inner.gain == 0.25);
  CHECK(value.count == 3);
  CHECK(value.title == "plain");
}

TEST_CASE("an unknown key names file, line and the nearest known one") {
  const std::string message = error_of("on: true\nspeed_mp: 3\n");
  CHECK(message.starts_with("f.yaml:2: unknown key 'outer.speed_mp'; did you mean 'outer.speed_mps'?"));
  CHECK(error_of("inner:\n  gian: 1\n").starts_with("f.yaml:2: unknown key 'outer.inner.gian'; did you mean 'outer.inner.gain'?"));
}

TEST_CASE("a value out of range names the range") {
  CHECK(error_of("speed_mps: 21\n") == "f.yaml:1: outer.speed_mps = 21: allowed: -1 .. 20 m/s");
  CHECK(error_of("count: 11\n") == "f.yaml:1: outer.count = 11: a whole number, allowed: 1 .. 10");
  CHECK(error_of("speed_mps: .nan\n") == "f.yaml:1: outer.speed_mps = .nan: allowed: -1 .. 20 m/s");
  CHECK(error_of("any: .inf\n") == "f.yaml:1: outer.any = .inf: a finite number");
  CHECK(error_of("speed_mps: 20\n").empty());
  CHECK(error_of("speed_mps: -1\n").empty());
}

TEST_CASE("a value of the wrong kind is refused") {
  CHECK(error_of("speed_mps: fast\n") == "f.yaml:1: outer.speed_mps = fast: allowed: -1 .. 20 m/s");
  CHECK(error_of("speed_mps: [1]\n") == "f.yaml:1: outer.speed_mps = a list: allowed: -1 .. 20 m/s");
  CHECK(error_of("count: 2.5\n") == "f.yaml:1: outer.count = 2.5: a whole number, allowed: 1 .. 10");
  CHECK(error_of("on: yes\n") == "f.yaml:1: outer.on = yes: allowed: true, false");
  CHECK(error_of("title: {a: 1}\n") == "f.yaml:1: outer.title = a group: a text");
  CHECK(error_of("mode: fsat\n") == "f.yaml:1: outer.mode = fsat: allowed: slow, fast; did you mean 'fast'?");
  CHECK(error_of("inner: 3\n") == "f.yaml:1: 'outer.inner' must be a group of keys");
  CHECK(error_of("- 1\n") == "f.yaml:1: 'outer' must be a group of keys");
}

TEST_CASE("an error leaves the struct as it was") {
  Outer value;
  CHECK_FALSE(load("speed_mps: 5\ncount: 99\n", value).ok());
  CHECK(value.speed_mps == 2.0);
}

TEST_CASE("what is saved reads back to the same bits") {
  Outer value;
  value.speed_mps = 0.1 + 0.2;
  value.any = -0.0;
  value.count = 10;
  value.on = true;
  value.title = "with: colon # and \"quotes\"\nand a line";
  value.mode = Mode::kFast;
  value.inner.gain = 1.0 / 3.0;
  Outer back;
  REQUIRE(load(to_yaml(save_fields(value)), back).ok());
  CHECK(std::bit_cast<std::uint64_t>(back.speed_mps) == std::bit_cast<std::uint64_t>(value.speed_mps));
  CHECK(std::bit_cast<std::uint64_t>(back.any) == std::bit_cast<std::uint64_t>(value.any));
  CHECK(back.count == 10);
  CHECK(back.on);
  CHECK(back.title == value.title);
  CHECK(back.mode == Mode::kFast);
  CHECK(back.inner.gain == value.inner.gain);
}

TEST_CASE("check_fields finds what code set out of range") {
  Outer value;
  CHECK(check_fields("outer", value).ok());
  value.inner.gain = 2.0;
  const Status status = check_fields("outer", value);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().message == "(in code): outer.inner.gain = 2: allowed: 0 .. 1 1/s");
}

TEST_CASE("describe lists every field with unit, range and sentence") {
  const auto rows = describe_fields(Outer{});
  REQUIRE(rows.size() == 7);
  CHECK(rows[0].name == "speed_mps");
  CHECK(rows[0].value == "2");
  CHECK(rows[0].unit == "m/s");
  CHECK(rows[0].range == "-1 .. 20");
  CHECK(rows[0].doc == "a speed");
  CHECK(rows[1].range.empty());
  CHECK(rows[3].range == "true | false");
  CHECK(rows[5].range == "slow | fast");
  CHECK(rows[6].name == "inner.gain");
}

TEST_CASE("an integer without bounds asks for a whole number, and an exact bound is shown exactly") {
  struct Counts {
    std::int64_t any = 0;
    double big = 1.0;
    void fields(FieldVisitor& f) {
      f.integer("any", any, {.doc = "any"});
      f.number("big", big, {"", 0.0, 12345678.0, "big"});
    }
  };
  Counts counts;
  CHECK(load_fields(parse_yaml("any: 1.5", "f").value(), "c", counts).error().message == "f:1: c.any = 1.5: a whole number");
  CHECK(load_fields(parse_yaml("any: -9223372036854775808", "f").value(), "c", counts).ok());
  CHECK(load_fields(parse_yaml("big: 2e7", "f").value(), "c", counts).error().message == "f:1: c.big = 2e7: allowed: 0 .. 12345678");
}

TEST_CASE("an infinite bound does not let infinity in") {
  struct Open {
    double value = 0.0;
    void fields(FieldVisitor& f) { f.number("value", value, {"", 0.0, std::numeric_limits<double>::infinity(), "not negative"}); }
  };
  Open open;
  CHECK(load_fields(parse_yaml("value: 1e300", "f").value(), "o", open).ok());
  CHECK_FALSE(load_fields(parse_yaml("value: .inf", "f").value(), "o", open).ok());
  CHECK_FALSE(load_fields(parse_yaml("value: .nan", "f").value(), "o", open).ok());
}

TEST_CASE("a subtree is kept as it stands") {
  struct Holder {
    Node tree;
    void fields(FieldVisitor& f) { f.subtree("tree", tree, "whatever another reader knows"); }
  };
  Holder holder;
  REQUIRE(load_fields(parse_yaml("tree: {a: [1, 2]}", "f").value(), "h", holder).ok());
  CHECK(holder.tree.find("a")->items[1].scalar == "2");
  CHECK(save_fields(holder).find("tree")->find("a")->items[0].scalar == "1");
}
