// SPDX-License-Identifier: Apache-2.0
// Pictures that maps come as: PGM (Netpbm "plain" P2 and "raw" P5, maxval up to 65535, 16 bit big-endian) and PNG in
// every colour type and bit depth. What a map needs of a picture is how light each pixel is, and whether it is opaque.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace pitwall::tracks {

/// A decoded picture, row by row from the top. The lightness of a pixel is the mean of its colour channels (grey: the
/// one), kept as the exact fraction light / full.
struct Image {
  int width = 0;
  int height = 0;
  std::uint32_t full = 255;          ///< `light` of white: channels * largest channel value
  std::vector<std::uint32_t> light;  ///< sum of the colour channels, 0 (black) .. full (white)
  /// 1 where a pixel is fully opaque; empty where the picture has no alpha channel and no transparent colour.
  std::vector<std::uint8_t> opaque;

  [[nodiscard]] bool is_opaque(std::size_t pixel) const { return opaque.empty() || opaque[pixel] != 0; }
};

/// Decodes a PGM or PNG held in memory, told apart by their first bytes. Refused, with a reason: any other format,
/// damaged or cut short, more than 2^28 pixels. `name` stands for the file in messages.
Result<Image> decode_image(std::string_view bytes, const std::string& name);
/// Reads and decodes a picture.
Result<Image> load_image(const std::filesystem::path& file);

/// A picture as P5 bytes; `grey` holds width * height values row by row from the top.
std::string encode_pgm(int width, int height, const std::vector<std::uint8_t>& grey);

}  // namespace pitwall::tracks
