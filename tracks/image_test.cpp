// SPDX-License-Identifier: Apache-2.0
#include "tracks/image.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "tests/support/png.hpp"

namespace pitwall::tracks {
namespace {

Image decoded(const std::string& bytes) {
  auto image = decode_image(bytes, "test");
  REQUIRE_MESSAGE(image.ok(), (image.ok() ? "" : image.error().message));
  return *std::move(image);
}

std::vector<double> lightness(const Image& image) {
  std::vector<double> values;
  for (const std::uint32_t light : image.light) values.push_back(static_cast<double>(light) / image.full);
  return values;
}

std::string error_of(const std::string& bytes) {
  const auto image = decode_image(bytes, "file.png");
  return image.ok() ? "" : image.error().message;
}

TEST_CASE("PGM: plain and raw, comments, any maxval, 16 bit big-endian") {
  const Image plain = decoded("P2\n# made by hand\n3 2 # size\n100\n0 50 100\n 25\n75 # last row\n100\n");
  CHECK(plain.width == 3);
  CHECK(plain.height == 2);
  CHECK(plain.full == 100);
  CHECK(plain.light == std::vector<std::uint32_t>{0, 50, 100, 25, 75, 100});
  CHECK(plain.opaque.empty());

  const Image raw = decoded(std::string("P5 2 1 255\n") + "\x01\xff");
  CHECK(raw.light == std::vector<std::uint32_t>{1, 255});
  const Image comment = decoded(std::string("P5\n#c\n2 #d\n1\n#e\n255\n") + "\x23\x0a");
  CHECK(comment.light == std::vector<std::uint32_t>{0x23, 0x0a});

  const Image wide = decoded(std::string("P5 2 1 65535\n") + std::string("\x01\x02\xff\xff", 4));
  CHECK(wide.full == 65535);
  CHECK(wide.light == std::vector<std::uint32_t>{0x0102, 65535});
}

TEST_CASE("PGM: damaged files are refused with the reason") {
  CHECK(contains(error_of("P5 2 2 255\nabc"), "need 4 bytes, 3 are there"));
  CHECK(contains(error_of("P5 2 2 255"), "cut off"));
  CHECK(contains(error_of("P5 2"), "header"));
  CHECK(contains(error_of("P5 -2 2 255\n"), "header"));
  CHECK(contains(error_of("P5 0 2 255\n"), "0 x 2"));
  CHECK(contains(error_of("P5 99999 99999 255\n"), "99999 x 99999"));
  CHECK(contains(error_of("P5 99999999999 1 255\n"), "header"));
  CHECK(contains(error_of("P5 1 1 0\n\x01"), "maxval 0"));
  CHECK(contains(error_of("P5 1 1 65536\n\x01\x01"), "maxval 65536"));
  CHECK(contains(error_of("P2 1 1 10\n11"), "pixel 0 = 11"));
  CHECK(contains(error_of("P2 2 1 10\n1 x"), "pixel 1"));
  CHECK(contains(error_of("P2 100 100 10\n1 2 3"), "cut off"));
  CHECK(contains(error_of("P6 1 1 255\nabc"), "neither PGM"));
  CHECK(contains(error_of(""), "empty"));
  CHECK(contains(error_of("GIF89a"), "neither PGM"));
}

TEST_CASE("PNG: grey of 1, 2, 4, 8 and 16 bits, plain and interlaced") {
  for (const bool interlaced : {false, true}) {
    PngSpec spec{4, 1, 1, PNG_COLOR_TYPE_GRAY, interlaced, {}, {}, -1};
    CHECK(lightness(decoded(make_png(spec, {{0b10100000}}))) == std::vector<double>{1, 0, 1, 0});
    spec.depth = 2;
    CHECK(lightness(decoded(make_png(spec, {{0b00011011}}))) == std::vector<double>{0, 85.0 / 255, 170.0 / 255, 1});
    spec.depth = 4;
    CHECK(lightness(decoded(make_png(spec, {{0x0f, 0x3c}}))) == std::vector<double>{0, 1, 51.0 / 255, 204.0 / 255});
    spec.depth = 8;
    CHECK(decoded(make_png(spec, {{0, 205, 254, 255}})).light == std::vector<std::uint32_t>{0, 205, 254, 255});
    spec.depth = 16;
    const Image image = decoded(make_png(spec, {{0, 1, 205, 205, 254, 254, 255, 255}}));
    CHECK(image.full == 65535);
    CHECK(image.light == std::vector<std::uint32_t>{1, 205 * 257, 254 * 257, 65535});
    CHECK(image.opaque.empty());
  }
}

TEST_CASE("PNG: a palette gives the mean of its colours, and its transparent entries") {
  for (const int depth : {1, 2, 4, 8}) {
    PngSpec spec{2, 1, depth, PNG_COLOR_TYPE_PALETTE, false, {{30, 60, 90}, {255, 255, 255}}, {}, -1};
    const auto second = static_cast<png_byte>(depth == 8 ? 0 : 1 << (8 - 2 * depth));
    std::vector<png_byte> row{second};
    if (depth == 8) row = {0, 1};
    const Image image = decoded(make_png(spec, {row}));
    CHECK(image.full == 765);
    CHECK(image.light == std::vector<std::uint32_t>{180, 765});
    CHECK(image.is_opaque(0));
    spec.palette_alpha = {0};
    const Image transparent = decoded(make_png(spec, {row}));
    CHECK(transparent.light == std::vector<std::uint32_t>{180, 765});
    CHECK_FALSE(transparent.is_opaque(0));
    CHECK(transparent.is_opaque(1));
  }
}

TEST_CASE("PNG: grey+alpha, RGB, RGBA of 8 and 16 bits; alpha is no lightness") {
  PngSpec spec{2, 1, 8, PNG_COLOR_TYPE_GRAY_ALPHA, false, {}, {}, -1};
  Image image = decoded(make_png(spec, {{205, 255, 0, 254}}));
  CHECK(image.light == std::vector<std::uint32_t>{205, 0});
  CHECK(image.opaque == std::vector<std::uint8_t>{1, 0});
  spec.depth = 16;
  image = decoded(make_png(spec, {{205, 205, 255, 255, 0, 7, 255, 254}}));
  CHECK(image.light == std::vector<std::uint32_t>{205 * 257, 7});
  CHECK(image.opaque == std::vector<std::uint8_t>{1, 0});

  spec = {2, 1, 8, PNG_COLOR_TYPE_RGB, false, {}, {}, -1};
  image = decoded(make_png(spec, {{10, 20, 40, 255, 255, 255}}));
  CHECK(image.full == 765);
  CHECK(image.light == std::vector<std::uint32_t>{70, 765});
  CHECK(image.opaque.empty());
  spec.depth = 16;
  image = decoded(make_png(spec, {{0, 1, 0, 2, 1, 0, 255, 255, 255, 255, 255, 255}}));
  CHECK(image.full == 3 * 65535);
  CHECK(image.light == std::vector<std::uint32_t>{259, 3 * 65535});

  spec = {2, 1, 8, PNG_COLOR_TYPE_RGB_ALPHA, true, {}, {}, -1};
  image = decoded(make_png(spec, {{10, 20, 40, 255, 255, 255, 255, 0}}));
  CHECK(image.light == std::vector<std::uint32_t>{70, 765});
  CHECK(image.opaque == std::vector<std::uint8_t>{1, 0});
  spec.depth = 16;
  image = decoded(make_png(spec, {{0, 1, 0, 2, 1, 0, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0}}));
  CHECK(image.light == std::vector<std::uint32_t>{259, 0});
  CHECK(image.opaque == std::vector<std::uint8_t>{1, 0});
}

TEST_CASE("PNG: one grey declared transparent is not opaque") {
  const PngSpec spec{3, 1, 8, PNG_COLOR_TYPE_GRAY, false, {}, {}, 205};
  const Image image = decoded(make_png(spec, {{0, 205, 254}}));
  CHECK(image.light == std::vector<std::uint32_t>{0, 205, 254});
  CHECK(image.opaque == std::vector<std::uint8_t>{1, 0, 1});
}

TEST_CASE("PNG: rows run from the top, interlaced or not") {
  for (const bool interlaced : {false, true}) {
    const PngSpec spec{3, 9, 8, PNG_COLOR_TYPE_GRAY, interlaced, {}, {}, -1};
    std::vector<std::vector<png_byte>> rows;
    for (int r = 0; r < 9; ++r)
      rows.push_back({static_cast<png_byte>(10 * r), static_cast<png_byte>(10 * r + 1), static_cast<png_byte>(10 * r + 2)});
    const Image image = decoded(make_png(spec, rows));
    for (int r = 0; r < 9; ++r) {
      for (int c = 0; c < 3; ++c) CHECK(image.light[static_cast<std::size_t>(3 * r + c)] == static_cast<std::uint32_t>(10 * r + c));
    }
  }
}

TEST_CASE("PNG: cut at any byte or with any byte changed it is refused or read, never worse") {
  const PngSpec spec{8, 8, 8, PNG_COLOR_TYPE_RGB_ALPHA, false, {}, {}, -1};
  std::vector<std::vector<png_byte>> rows(8, std::vector<png_byte>(32, 200));
  rows[3][5] = 7;
  const std::string bytes = make_png(spec, rows);
  for (std::size_t size = 0; size < bytes.size(); ++size) CHECK_FALSE(decode_image(std::string_view(bytes).substr(0, size), "cut").ok());
  CHECK(contains(error_of(bytes.substr(0, 60)), "file.png: damaged PNG"));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    const auto image = decode_image(changed, "changed");
    if (image.ok()) CHECK(image->light.size() == 64);
  }
}

TEST_CASE("PNG: a header that promises far more than the file can hold takes no memory") {
  std::string bytes = make_png({1, 1, 8, PNG_COLOR_TYPE_GRAY, true, {}, {}, -1}, {{0}});
  // 16000 x 16000 in IHDR; its checksum has to fit again.
  const std::array<unsigned char, 8> size{0, 0, 0x3e, 0x80, 0, 0, 0x3e, 0x80};
  for (std::size_t i = 0; i < 8; ++i) bytes[16 + i] = static_cast<char>(size[i]);
  std::uint32_t crc = 0xffffffffU;
  for (std::size_t i = 12; i < 29; ++i) {
    crc ^= static_cast<unsigned char>(bytes[i]);
    for (int k = 0; k < 8; ++k) crc = (crc & 1U) != 0 ? 0xedb88320U ^ (crc >> 1) : crc >> 1;
  }
  crc ^= 0xffffffffU;
  for (std::size_t i = 0; i < 4; ++i) bytes[29 + i] = static_cast<char>(crc >> (24 - 8 * i));
  CHECK(contains(error_of(bytes), "cut off"));
}

TEST_CASE("what encode_pgm writes is read back") {
  const std::vector<std::uint8_t> grey{0, 205, 254, 10, 35, 32};
  const Image image = decoded(encode_pgm(3, 2, grey));
  CHECK(image.width == 3);
  CHECK(image.height == 2);
  CHECK(image.light == std::vector<std::uint32_t>(grey.begin(), grey.end()));
}

}  // namespace
}  // namespace pitwall::tracks
