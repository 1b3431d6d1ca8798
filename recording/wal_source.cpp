// SPDX-License-Identifier: Apache-2.0
#include "recording/wal_source.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace pitwall::recording {
namespace {

constexpr std::uint64_t kHeader = 32;
constexpr std::uint64_t kFrameHeader = 24;
constexpr std::uint64_t kMostMissingPages = 1U << 18U;  // of a database that was cut off: 1 GiB of the usual 4 KiB pages
constexpr std::uint32_t kWalMagic = 0x377F0682;         // the last bit: checksums over big-endian words

struct Checksum {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  bool big_endian = false;

  void add(Bytes bytes) {
    for (std::size_t k = 0; k + 8 <= bytes.size(); k += 8) {
      a += word(&bytes[k]) + b;
      b += word(&bytes[k + 4]) + a;
    }
  }
  /// Whether the sums stand at `at`.
  [[nodiscard]] bool is_at(const std::uint8_t* at) const { return load_be<std::uint32_t>(at) == a && load_be<std::uint32_t>(at + 4) == b; }

 private:
  [[nodiscard]] std::uint32_t word(const std::uint8_t* from) const {
    return big_endian ? load_be<std::uint32_t>(from) : load_le<std::uint32_t>(from);
  }
};

}  // namespace

WalSource::WalSource(std::unique_ptr<ByteSource> database, std::unique_ptr<ByteSource> wal)
    : database_(std::move(database)), wal_(std::move(wal)), size_(database_->size()) {
  read_frames();
}

void WalSource::read_frames() {
  std::array<std::uint8_t, kHeader> header{};
  if (wal_->read(0, header) < header.size() || (load_be<std::uint32_t>(header.data()) & ~1U) != kWalMagic) return;
  const std::uint64_t page_size = load_be<std::uint32_t>(&header[8]);
  if (page_size < 512 || page_size > 65536 || !std::has_single_bit(page_size)) return;
  Checksum sum;
  sum.big_endian = (header[3] & 1U) != 0;
  sum.add(Bytes(header).first(24));
  if (!sum.is_at(&header[24])) return;
  page_size_ = page_size;

  Buffer frame(static_cast<std::size_t>(kFrameHeader + page_size));
  std::map<std::uint64_t, std::uint64_t> pending;
  for (std::uint64_t at = kHeader; wal_->read(at, frame) == frame.size(); at += frame.size()) {
    if (!std::equal(&frame[8], &frame[16], &header[16])) return;  // salts of an earlier round
    sum.add(Bytes(frame).first(8));
    sum.add(Bytes(frame).subspan(kFrameHeader));
    if (!sum.is_at(&frame[16])) return;
    const auto page = load_be<std::uint32_t>(frame.data());
    if (page == 0) return;
    pending[page - 1] = at + kFrameHeader;
    const auto pages_after_commit = load_be<std::uint32_t>(&frame[4]);
    if (pages_after_commit == 0) continue;
    for (const auto& [number, place] : pending) place_[number] = place;
    pending.clear();
    // A page is in the log or in the database, so a number far beyond both is not believed.
    const std::uint64_t there = database_->size() / page_size + place_.size();
    size_ = std::min<std::uint64_t>(pages_after_commit, there + kMostMissingPages) * page_size;
  }
}

std::size_t WalSource::read(std::uint64_t offset, std::span<std::uint8_t> into) {
  if (place_.empty()) return database_->read(offset, into);
  std::size_t done = 0;
  while (done < into.size() && offset + done < size_) {
    const std::uint64_t at = offset + done;
    const std::uint64_t within = at % page_size_;
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>({page_size_ - within, into.size() - done, size_ - at}));
    const auto place = place_.find(at / page_size_);
    const std::span<std::uint8_t> piece = into.subspan(done, count);
    const std::size_t got = place == place_.end() ? database_->read(at, piece) : wal_->read(place->second + within, piece);
    done += got;
    if (got < count) break;
  }
  return done;
}

}  // namespace pitwall::recording
