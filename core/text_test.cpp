// SPDX-License-Identifier: Apache-2.0
#include "core/text.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "core/hash.hpp"
#include "core/rng.hpp"

using namespace pitwall;

TEST_CASE("a number is read whole or not at all") {
  CHECK(parse_double("1.5") == 1.5);
  CHECK(parse_double(" -2e-3\t") == -2e-3);
  CHECK(parse_double("+4") == 4.0);
  CHECK(parse_double(".5") == 0.5);
  CHECK(parse_double("5.") == 5.0);
  for (const std::string wrong :
       {"", " ", "+", "-", "1.5x", "1,5", "1 2", "0x10", "+-1", "e5", "--1", "++1", "infinity", "nan(1)", "-nan", "1e999"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_double(wrong).has_value());
  }
}

TEST_CASE("infinities and NaN are read in YAML's spelling") {
  CHECK(parse_double(".inf") == std::numeric_limits<double>::infinity());
  CHECK(parse_double("+inf") == std::numeric_limits<double>::infinity());
  CHECK(parse_double("-.INF") == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(parse_double(".NaN").value()));
}

TEST_CASE("a whole number is read whole, within 64 bits") {
  CHECK(parse_int("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
  CHECK(parse_int("+7") == 7);
  for (const std::string wrong : {"", "1.0", "9223372036854775808", "1e3", "+-3", "seven"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_int(wrong).has_value());
  }
}

TEST_CASE("exact text reads back to the same bits") {
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const auto word = philox4x32({static_cast<std::uint32_t>(i), 0, 0, 0}, {1, 2});
    const auto value = std::bit_cast<double>((std::uint64_t{word[0]} << 32) | word[1]);
    if (std::isnan(value)) continue;
    CHECK(std::bit_cast<std::uint64_t>(parse_double(format_exact(value)).value()) == std::bit_cast<std::uint64_t>(value));
  }
  for (const double value : {0.0, -0.0, 0.1, 5e-324, 1.7976931348623157e308, std::numeric_limits<double>::infinity()}) {
    CHECK(std::bit_cast<std::uint64_t>(parse_double(format_exact(value)).value()) == std::bit_cast<std::uint64_t>(value));
  }
  CHECK(std::isnan(parse_double(format_exact(std::numeric_limits<double>::quiet_NaN())).value()));
}

TEST_CASE("numbers for people have the digits asked for") {
  CHECK(format_number(1.23456, 3) == "1.23");
  CHECK(format_number(0.6, 6) == "0.6");
  CHECK(format_number(12345678.0, 3) == "1.23e+07");
}

TEST_CASE("trim and split keep what is inside") {
  CHECK(trim(" \t a b \r\n") == "a b");
  CHECK(trim("   ").empty());
  CHECK(split("a, b ,,c", ',') == std::vector<std::string_view>{"a", "b", "", "c"});
  CHECK(split("", ',') == std::vector<std::string_view>{""});
}

TEST_CASE("the nearest name is offered, and nonsense gets none") {
  const std::vector<std::string> names = {"pure_pursuit", "gap_follow", "stanley"};
  CHECK(nearest_name("pure_persuit", names) == "pure_pursuit");
  CHECK(nearest_name("GAP_FOLLOW", names) == "gap_follow");
  CHECK_FALSE(nearest_name("xyzzy", names).has_value());
  CHECK_FALSE(nearest_name("anything", {}).has_value());
  CHECK_FALSE(nearest_name("ab", std::vector<std::string>{"xy"}).has_value());
  CHECK(nearest_name("mcp", std::vector<std::string>{"gap", "mpc"}) == "mpc");
  CHECK(unknown_name("controller", "xyzzy", names) == "unknown controller 'xyzzy'; known: pure_pursuit, gap_follow, stanley");
  CHECK(unknown_name("key", "key33", std::vector<std::string>(13, "key3")) == "unknown key 'key33'; did you mean 'key3'?");
  CHECK(unknown_name("controller", "stanly", names) ==
        "unknown controller 'stanly'; did you mean 'stanley'? known: pure_pursuit, gap_follow, stanley");
}

TEST_CASE("join and to_hex") {
  CHECK(join(std::vector<std::string>{"a", "b"}) == "a, b");
  CHECK(join(std::vector<std::string>{}).empty());
  CHECK(to_hex(0) == "0000000000000000");
  CHECK(to_hex(0x0123456789abcdefULL) == "0123456789abcdef");
}
