// SPDX-License-Identifier: Apache-2.0
// Any bytes as a picture. A PNG's checksums are set right first, so that mutations reach what lies behind them.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/check.hpp"
#include "tracks/image.hpp"

namespace {

std::uint32_t crc_of(std::string_view bytes) {
  std::uint32_t crc = 0xffffffffU;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int k = 0; k < 8; ++k) crc = (crc & 1U) != 0 ? 0xedb88320U ^ (crc >> 1) : crc >> 1;
  }
  return crc ^ 0xffffffffU;
}

void set_checksums(std::string& png) {
  std::size_t at = 8;
  while (at + 12 <= png.size()) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length = length * 256 + static_cast<unsigned char>(png[at + i]);
    if (length > png.size() - at - 12) return;
    const std::uint32_t crc = crc_of(std::string_view(png).substr(at + 4, length + 4));
    for (std::size_t i = 0; i < 4; ++i) png[at + 8 + length + i] = static_cast<char>(crc >> (24 - 8 * i));
    at += 12 + length;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(data, data + size);
  if (bytes.starts_with("\x89PNG")) set_checksums(bytes);
  const auto image = pitwall::tracks::decode_image(bytes, "fuzz");
  if (!image) {
    PITWALL_CHECK(image.error().message.starts_with("fuzz: "), image.error().message);
    return 0;
  }
  const auto pixels = static_cast<std::size_t>(image->width) * static_cast<std::size_t>(image->height);
  PITWALL_CHECK(pixels > 0 && image->light.size() == pixels && (image->opaque.empty() || image->opaque.size() == pixels));
  for (const std::uint32_t light : image->light) PITWALL_CHECK(light <= image->full, light, image->full);
  return 0;
}
