// SPDX-License-Identifier: Apache-2.0
// The compressed forms that recordings come in (zstd frames, lz4 frames) and the checksum of MCAP. Sizes that a file
// claims are never believed: output grows only as bytes really decode.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "recording/bytes.hpp"

namespace pitwall::recording {

/// CRC-32 (zlib's polynomial) of the bytes, going on from `before`.
std::uint32_t crc32(Bytes bytes, std::uint32_t before = 0);

/// What became of a compressed piece.
enum class Decoded : std::uint8_t {
  kWhole,
  kCut,      ///< the input ended early; the output is what decoded until then
  kBroken,   ///< the input is no such frame, or is damaged; the output is what decoded until then
  kTooLong,  ///< more than `most` bytes
};

/// Whether the bytes begin like a zstd or an lz4 frame.
bool is_zstd(Bytes bytes);
bool is_lz4(Bytes bytes);

/// Decodes "zstd", "lz4" (or "", a copy) into `out`, which is emptied first; at most `most` bytes.
Decoded decompress(std::string_view compression, Bytes bytes, std::size_t most, Buffer& out);

/// One zstd frame of the bytes, with its content size.
void compress_zstd(Bytes bytes, int level, Buffer& out);

/// A file as text, taken out of its gzip form if it is in one. Errors: no such file, a damaged one, more than 1 GiB of text.
Result<std::string> read_text(const std::filesystem::path& file);

/// Decodes a whole .zstd file into a new file beside; what decodes before a damage is kept. Errors are of the files.
Result<Decoded> decompress_file(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace pitwall::recording
