// SPDX-License-Identifier: Apache-2.0
#include "core/hash.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <limits>
#include <set>
#include <span>
#include <vector>

using namespace pitwall;

namespace {

template <class... Values>
std::uint64_t hash_of(Values... values) {
  Hash hash;
  (hash.add(values), ...);
  return hash.value();
}

}  // namespace

TEST_CASE("the order of values matters") {
  CHECK(hash_of(1.0, 2.0) != hash_of(2.0, 1.0));
  CHECK(hash_of(std::string_view("a"), std::string_view("b")) != hash_of(std::string_view("b"), std::string_view("a")));
}

TEST_CASE("minus zero and zero differ, and so do float and double of one value") {
  CHECK(hash_of(0.0) != hash_of(-0.0));
  CHECK(hash_of(0.0F) != hash_of(-0.0F));
  CHECK(hash_of(1.0F) != hash_of(1.0));
}

TEST_CASE("texts that meet at another place differ") {
  CHECK(hash_of(std::string_view("ab"), std::string_view("c")) != hash_of(std::string_view("a"), std::string_view("bc")));
  CHECK(hash_of(std::string_view("")) != Hash().value());
  CHECK(hash_of(std::string_view("a")) != hash_of(std::string_view("a\0", 2)));
  CHECK(hash_of(std::string_view("12345678")) != hash_of(std::string_view("123456789")));
}

TEST_CASE("each flipped bit of a word moves about half of the bits of the value") {
  const std::uint64_t reference = hash_of(std::uint64_t{0x0123456789abcdef});
  int flipped = 0;
  std::set<std::uint64_t> values;
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t other = hash_of(std::uint64_t{0x0123456789abcdef} ^ (std::uint64_t{1} << bit));
    flipped += std::popcount(reference ^ other);
    values.insert(other);
  }
  CHECK(values.size() == 64);
  CHECK(flipped > 64 * 28);
  CHECK(flipped < 64 * 36);
}

TEST_CASE("words that the state equals do not vanish") {
  // A run of zeros must depend on its length.
  CHECK(hash_of(std::uint64_t{0}) != Hash().value());
  CHECK(hash_of(std::uint64_t{0}, std::uint64_t{0}) != hash_of(std::uint64_t{0}));
}

TEST_CASE("values are pinned: a recorded trace hash must mean the same tomorrow") {
  CHECK(to_hex(Hash().value()) == "0000000000000000");
  CHECK(to_hex(hash_of(std::uint64_t{0})) == "9e3779b97f4a7c15");
  CHECK(to_hex(hash_of(std::uint64_t{1}, std::int64_t{-1})) == "1899454b7503e8da");
  CHECK(to_hex(hash_of(1.0, -0.0, 0.5F)) == "f943c327a125b6bf");
  CHECK(to_hex(hash_of(std::string_view("car0/lidar"))) == "7bc6dabf7de8c725");
}

TEST_CASE("many floats: every one counts, and so do their order and their number") {
  std::vector<float> values;
  for (int k = 0; k < 37; ++k) values.push_back(0.1F * static_cast<float>(k));
  const auto bulk = [](std::span<const float> v) {
    Hash hash;
    hash.add(v);
    return hash.value();
  };
  std::set<std::uint64_t> seen{bulk(values)};
  for (std::size_t n = 0; n < values.size(); ++n) seen.insert(bulk(std::span(values).first(n)));
  for (std::size_t k = 0; k < values.size(); ++k) {
    std::vector<float> other = values;
    other[k] = -other[k];
    if (k == 0) other[0] = std::numeric_limits<float>::quiet_NaN();
    seen.insert(bulk(other));
    if (k + 1 == values.size()) continue;
    other = values;
    std::swap(other[k], other[k + 1]);
    seen.insert(bulk(other));
  }
  CHECK(seen.size() == 1 + 37 + 37 + 36);
  // What was hashed before counts too, and the value is pinned.
  Hash after;
  after.add(std::uint64_t{1});
  after.add(std::span<const float>(values));
  CHECK(after.value() != bulk(values));
  CHECK(to_hex(bulk(values)) == "d5d705111baaa504");
}
