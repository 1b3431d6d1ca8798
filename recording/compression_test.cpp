// SPDX-License-Identifier: Apache-2.0
#include "recording/compression.hpp"

#include <doctest/doctest.h>
#include <lz4frame.h>

#include <string>

#include "core/files.hpp"
#include "recording/byte_source.hpp"
#include "tests/support/temp_folder.hpp"

namespace pitwall::recording {
namespace {

std::string repeating(std::size_t size) {
  std::string text;
  while (text.size() < size) text += "lap " + std::to_string(text.size()) + ", ";
  text.resize(size);
  return text;
}

Buffer packed(std::string_view compression, const std::string& text) {
  Buffer out;
  if (compression == "zstd") {
    compress_zstd(as_bytes(text), 1, out);
  } else {
    out.resize(LZ4F_compressFrameBound(text.size(), nullptr));
    out.resize(LZ4F_compressFrame(out.data(), out.size(), text.data(), text.size(), nullptr));
  }
  return out;
}

}  // namespace

TEST_CASE("CRC-32 has its published check value, in one go and in pieces") {
  CHECK(crc32(as_bytes("123456789")) == 0xCBF43926U);
  CHECK(crc32(as_bytes("6789"), crc32(as_bytes("12345"))) == 0xCBF43926U);
  CHECK(crc32({}) == 0);
  CHECK(crc32({}, 17) == 17);
}

TEST_CASE("zstd and lz4 frames decode; cut ones give what was before the cut; damaged ones say so") {
  const std::string text = repeating(1'000'000);
  for (const char* compression : {"zstd", "lz4"}) {
    CAPTURE(compression);
    const Buffer whole = packed(compression, text);
    CHECK((std::string_view(compression) == "zstd" ? is_zstd(whole) : is_lz4(whole)));
    Buffer out;
    CHECK(decompress(compression, whole, 2'000'000, out) == Decoded::kWhole);
    CHECK(as_text(out) == text);
    CHECK(decompress(compression, whole, text.size(), out) == Decoded::kWhole);
    CHECK(decompress(compression, whole, text.size() - 1, out) == Decoded::kTooLong);
    CHECK(out.size() == text.size() - 1);
    CHECK(decompress(compression, Bytes(whole).first(whole.size() / 2), 2'000'000, out) == Decoded::kCut);
    CHECK(out.size() > 0);
    CHECK(text.starts_with(as_text(out)));
    CHECK(decompress(compression, as_bytes("no frame at all"), 100, out) == Decoded::kBroken);
    CHECK(decompress(compression, {}, 100, out) == Decoded::kCut);
    Buffer twice = whole;
    append(twice, whole);
    CHECK(decompress(compression, twice, 3'000'000, out) == Decoded::kWhole);
    CHECK(out.size() == 2 * text.size());
  }
  Buffer out;
  CHECK(decompress("", as_bytes("plain"), 5, out) == Decoded::kWhole);
  CHECK(decompress("", as_bytes("plain"), 4, out) == Decoded::kTooLong);
  CHECK(decompress("brotli", as_bytes("plain"), 5, out) == Decoded::kBroken);
}

TEST_CASE("files decompress as far as they go") {
  const TempFolder temp("compression");
  const std::string text = repeating(3'000'000);
  const Buffer whole = packed("zstd", text);
  const std::string bytes(as_text(whole));
  const auto verdict = [&](const std::string& content, std::string& decoded) {
    std::filesystem::remove(temp.path() / "out");
    const auto done = decompress_file(temp.write("in.zstd", content), temp.path() / "out");
    REQUIRE(done.ok());
    decoded = read_file(temp.path() / "out").value();
    return *done;
  };
  std::string decoded;
  CHECK(verdict(bytes, decoded) == Decoded::kWhole);
  CHECK(decoded == text);
  CHECK(verdict(bytes.substr(0, bytes.size() / 2), decoded) == Decoded::kCut);
  CHECK(text.starts_with(decoded));
  CHECK(verdict("rubbish rubbish rubbish", decoded) == Decoded::kBroken);
  CHECK_FALSE(decompress_file(temp.path() / "not there", temp.path() / "other").ok());
}

}  // namespace pitwall::recording
