// SPDX-License-Identifier: Apache-2.0
#include "recording/compression.hpp"

#include <libdeflate.h>
#include <lz4frame.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

#include "core/check.hpp"
#include "core/files.hpp"
#include "recording/byte_source.hpp"

namespace pitwall::recording {
namespace {

using ZstdStream = std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)>;
ZstdStream zstd_stream() { return {ZSTD_createDStream(), &ZSTD_freeDStream}; }

/// Room for more output: doubles, but never beyond `most` + 1, so that one byte too many is seen.
bool grow(Buffer& out, std::size_t used, std::size_t most) {
  constexpr std::size_t kFirst = std::size_t{1} << 16;
  if (used < out.size()) return true;
  if (used > most) return false;
  const std::size_t size = std::min(most + 1, std::max(kFirst, 2 * out.size()));
  out.reserve(size);  // no more than that, which resize alone would take
  out.resize(size);
  return true;
}

Decoded decode_zstd(Bytes bytes, std::size_t most, Buffer& out) {
  const ZstdStream stream = zstd_stream();
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  std::size_t used = 0;
  Decoded verdict = Decoded::kCut;
  while (verdict == Decoded::kCut) {
    if (!grow(out, used, most)) break;
    ZSTD_outBuffer piece{out.data(), out.size(), used};
    const std::size_t rest = ZSTD_decompressStream(stream.get(), &piece, &in);
    const bool moved = piece.pos != used;
    used = piece.pos;
    if (ZSTD_isError(rest) != 0) verdict = Decoded::kBroken;
    if (rest == 0 && in.pos == in.size) verdict = Decoded::kWhole;
    if (verdict == Decoded::kCut && in.pos == in.size && !moved && used < out.size()) break;
  }
  out.resize(std::min(used, most));
  return used > most ? Decoded::kTooLong : verdict;
}

Decoded decode_lz4(Bytes bytes, std::size_t most, Buffer& out) {
  LZ4F_dctx* raw = nullptr;
  PITWALL_CHECK(LZ4F_isError(LZ4F_createDecompressionContext(&raw, LZ4F_VERSION)) == 0);
  const std::unique_ptr<LZ4F_dctx, decltype(&LZ4F_freeDecompressionContext)> context(raw, &LZ4F_freeDecompressionContext);
  std::size_t read = 0;
  std::size_t used = 0;
  Decoded verdict = Decoded::kCut;
  while (verdict == Decoded::kCut) {
    if (!grow(out, used, most)) break;
    std::size_t produced = out.size() - used;
    std::size_t consumed = bytes.size() - read;
    const std::size_t hint = LZ4F_decompress(context.get(), out.data() + used, &produced, bytes.data() + read, &consumed, nullptr);
    used += produced;
    read += consumed;
    if (LZ4F_isError(hint) != 0) verdict = Decoded::kBroken;
    if (hint == 0 && read == bytes.size()) verdict = Decoded::kWhole;
    if (verdict == Decoded::kCut && produced == 0 && consumed == 0) break;
  }
  out.resize(std::min(used, most));
  return used > most ? Decoded::kTooLong : verdict;
}

}  // namespace

std::uint32_t crc32(Bytes bytes, std::uint32_t before) {
  return bytes.empty() ? before : libdeflate_crc32(before, bytes.data(), bytes.size());
}

bool is_zstd(Bytes bytes) { return bytes.size() >= 4 && load_le<std::uint32_t>(bytes.data()) == ZSTD_MAGICNUMBER; }
bool is_lz4(Bytes bytes) {
  constexpr std::uint32_t kMagic = 0x184D2204;
  return bytes.size() >= 4 && load_le<std::uint32_t>(bytes.data()) == kMagic;
}

Decoded decompress(std::string_view compression, Bytes bytes, std::size_t most, Buffer& out) {
  out.clear();
  if (compression == "zstd") return decode_zstd(bytes, most, out);
  if (compression == "lz4") return decode_lz4(bytes, most, out);
  if (!compression.empty()) return Decoded::kBroken;
  if (bytes.size() > most) return Decoded::kTooLong;
  append(out, bytes);
  return Decoded::kWhole;
}

void compress_zstd(Bytes bytes, int level, Buffer& out) {
  out.resize(ZSTD_compressBound(bytes.size()));
  const std::size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), level);
  PITWALL_CHECK(ZSTD_isError(size) == 0, ZSTD_getErrorName(size));
  out.resize(size);
}

Result<Decoded> decompress_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  auto source = open_source(from);
  if (!source) return source.error();
  auto sink = create_sink(to, false);
  if (!sink) return sink.error();
  const ZstdStream stream = zstd_stream();
  Buffer input(ZSTD_DStreamInSize());
  Buffer output(ZSTD_DStreamOutSize());
  std::size_t rest = 1;
  for (std::uint64_t offset = 0;;) {
    const std::size_t got = (*source)->read(offset, input);
    if (got == 0) return rest == 0 ? Decoded::kWhole : Decoded::kCut;
    offset += got;
    ZSTD_inBuffer in{input.data(), got, 0};
    for (bool full = false; in.pos < in.size || full;) {
      ZSTD_outBuffer piece{output.data(), output.size(), 0};
      rest = ZSTD_decompressStream(stream.get(), &piece, &in);
      const Status written = (*sink)->write(Bytes(output.data(), piece.pos));
      if (!written) return written.error();
      if (ZSTD_isError(rest) != 0) return Decoded::kBroken;
      full = piece.pos == output.size();
    }
  }
}

Result<std::string> read_text(const std::filesystem::path& file) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  Result<std::string> bytes = read_file(file);
  if (!bytes || !bytes->starts_with("\x1f\x8b")) return bytes;
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> decoder(libdeflate_alloc_decompressor(),
                                                                                                  &libdeflate_free_decompressor);
  std::string text;
  // Several gzip files one after the other are one.
  for (std::size_t at = 0; at < bytes->size();) {
    std::string piece(std::max<std::size_t>(4096, 8 * (bytes->size() - at)), '\0');
    std::size_t taken = 0;
    std::size_t made = 0;
    libdeflate_result verdict = LIBDEFLATE_INSUFFICIENT_SPACE;
    while (verdict == LIBDEFLATE_INSUFFICIENT_SPACE && piece.size() <= kMost) {
      verdict =
          libdeflate_gzip_decompress_ex(decoder.get(), bytes->data() + at, bytes->size() - at, piece.data(), piece.size(), &taken, &made);
      if (verdict == LIBDEFLATE_INSUFFICIENT_SPACE) piece.resize(2 * piece.size());
    }
    if (verdict == LIBDEFLATE_INSUFFICIENT_SPACE || text.size() + made > kMost) return Error{file.string() + ": more than 1 GiB of text"};
    if (verdict != LIBDEFLATE_SUCCESS) return Error{file.string() + ": damaged gzip data"};
    text.append(piece, 0, made);
    at += taken;
  }
  return text;
}

}  // namespace pitwall::recording
