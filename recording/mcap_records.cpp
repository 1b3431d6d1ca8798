// SPDX-License-Identifier: Apache-2.0
#include "recording/mcap_records.hpp"

namespace pitwall::recording::mcap {

Bytes Parser::take(std::uint64_t count) {
  ok_ = ok_ && count <= rest_.size();
  if (!ok_) return {};
  const Bytes taken = rest_.first(static_cast<std::size_t>(count));
  rest_ = rest_.subspan(taken.size());
  return taken;
}

void Parser::operator()(const char* name, Text& value) {
  Bytes32 bytes;
  (*this)(name, bytes);
  value = as_text(bytes);
}

void Parser::operator()(const char* name, Bytes32& value) {
  std::uint32_t size = 0;
  (*this)(name, size);
  static_cast<Bytes&>(value) = take(size);
}

void Parser::operator()(const char* name, Bytes64& value) {
  std::uint64_t size = 0;
  (*this)(name, size);
  static_cast<Bytes&>(value) = take(size);
}

void Parser::operator()(const char* /*name*/, BytesToEnd& value) { static_cast<Bytes&>(value) = take(rest_.size()); }

void Parser::operator()(const char* name, TextMap& value) {
  Bytes32 all;
  (*this)(name, all);
  Parser inside(all);
  while (inside.ok_ && !inside.rest_.empty()) {
    Text key;
    Text text;
    inside(name, key);
    inside(name, text);
    value.emplace(std::move(key), std::move(text));
  }
  ok_ = ok_ && inside.ok_;
}

void Parser::operator()(const char* name, CountMap& value) {
  Bytes32 all;
  (*this)(name, all);
  Parser inside(all);
  while (inside.ok_ && !inside.rest_.empty()) {
    std::uint16_t key = 0;
    std::uint64_t count = 0;
    inside(name, key);
    inside(name, count);
    value.emplace(key, count);
  }
  ok_ = ok_ && inside.ok_;
}

void Parser::operator()(const char* name, std::vector<std::pair<std::uint64_t, std::uint64_t>>& value) {
  Bytes32 all;
  (*this)(name, all);
  Parser inside(all);
  while (inside.ok_ && !inside.rest_.empty()) {
    auto& [time, offset] = value.emplace_back();
    inside(name, time);
    inside(name, offset);
  }
  ok_ = ok_ && inside.ok_;
}

void Composer::operator()(const char* name, const Text& value) {
  (*this)(name, static_cast<std::uint32_t>(value.size()));
  append(out_, as_bytes(value));
}

void Composer::operator()(const char* name, const Bytes32& value) {
  (*this)(name, static_cast<std::uint32_t>(value.size()));
  append(out_, value);
}

void Composer::operator()(const char* name, const Bytes64& value) {
  (*this)(name, std::uint64_t{value.size()});
  append(out_, value);
}

void Composer::operator()(const char* /*name*/, const BytesToEnd& value) { append(out_, value); }

void Composer::operator()(const char* name, const TextMap& value) {
  std::uint32_t size = 0;
  for (const auto& [key, text] : value) size += static_cast<std::uint32_t>(2 * sizeof(std::uint32_t) + key.size() + text.size());
  (*this)(name, size);
  for (const auto& [key, text] : value) {
    (*this)(name, key);
    (*this)(name, text);
  }
}

void Composer::operator()(const char* name, const CountMap& value) {
  (*this)(name, static_cast<std::uint32_t>(value.size() * (sizeof(std::uint16_t) + sizeof(std::uint64_t))));
  for (const auto& [key, count] : value) {
    (*this)(name, key);
    (*this)(name, count);
  }
}

void Composer::operator()(const char* name, const std::vector<std::pair<std::uint64_t, std::uint64_t>>& value) {
  (*this)(name, static_cast<std::uint32_t>(value.size() * 2 * sizeof(std::uint64_t)));
  for (const auto& [time, offset] : value) {
    (*this)(name, time);
    (*this)(name, offset);
  }
}

}  // namespace pitwall::recording::mcap
