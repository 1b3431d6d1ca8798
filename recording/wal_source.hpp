// SPDX-License-Identifier: Apache-2.0
// A database file with the pages of its write-ahead log laid over it (https://www.sqlite.org/walformat.html), for reading
// what SQLite itself refuses.
#pragma once

#include <map>
#include <memory>

#include "recording/byte_source.hpp"

namespace pitwall::recording {

class WalSource final : public ByteSource {
 public:
  /// Frames count up to the last commit whose checksums hold.
  WalSource(std::unique_ptr<ByteSource> database, std::unique_ptr<ByteSource> wal);

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  std::size_t read(std::uint64_t offset, std::span<std::uint8_t> into) override;
  /// Pages that the log changes.
  [[nodiscard]] std::size_t pages() const { return place_.size(); }

 private:
  void read_frames();

  std::unique_ptr<ByteSource> database_;
  std::unique_ptr<ByteSource> wal_;
  std::uint64_t size_ = 0;
  std::uint64_t page_size_ = 0;
  std::map<std::uint64_t, std::uint64_t> place_;  ///< offset in the WAL by page, from 0
};

}  // namespace pitwall::recording
