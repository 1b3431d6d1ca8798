// SPDX-License-Identifier: Apache-2.0
// The bytes of a line in which a decoder looks for frames: what begins no frame costs one byte, so that a good frame inside of a bad
// one is found, and what was lost is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "drivers/bytes.hpp"

namespace pitwall::drivers {

class FrameBuffer {
 public:
  /// Only here are bytes moved: what rest() and take() gave stays where it is until then.
  void push(Bytes bytes) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ = 0;
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
  /// Forgets the bytes; the counts stay.
  void clear() {
    buffer_.clear();
    at_ = 0;
    in_sync_ = true;
  }

  /// What is still to be looked at.
  [[nodiscard]] Bytes rest() const { return Bytes(buffer_).subspan(at_); }
  [[nodiscard]] bool empty() const { return at_ == buffer_.size(); }
  /// No byte was dropped since the last frame.
  [[nodiscard]] bool in_sync() const { return in_sync_; }

  /// No frame begins here.
  void drop_byte() {
    ++at_;
    ++dropped_bytes_;
    resyncs_ += in_sync_ ? 1 : 0;
    in_sync_ = false;
  }
  /// A frame begins here, and its checksum is wrong.
  void drop_bad_sum() {
    ++bad_sums_;
    drop_byte();
  }
  /// So many bytes belong to what is coming: a frame's announcement.
  void skip(std::size_t count) { at_ += count; }
  /// A frame of so many bytes.
  Bytes take(std::size_t count) {
    const Bytes frame = rest().first(count);
    at_ += count;
    in_sync_ = true;
    return frame;
  }

  [[nodiscard]] std::uint64_t bad_sums() const { return bad_sums_; }
  [[nodiscard]] std::uint64_t dropped_bytes() const { return dropped_bytes_; }
  /// How often good bytes were followed by such as begin no frame.
  [[nodiscard]] std::uint64_t resyncs() const { return resyncs_; }

 private:
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0;
  bool in_sync_ = true;
  std::uint64_t bad_sums_ = 0;
  std::uint64_t dropped_bytes_ = 0;
  std::uint64_t resyncs_ = 0;
};

}  // namespace pitwall::drivers
