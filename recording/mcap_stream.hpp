// SPDX-License-Identifier: Apache-2.0
// Reads an MCAP file from front to back, as far as there is anything to read: for files without an index, and for what
// was left by a power cut. Needs neither summary nor footer; after a damage it looks for the next place where records
// follow each other.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "recording/bag.hpp"
#include "recording/byte_source.hpp"
#include "recording/mcap_records.hpp"

namespace pitwall::recording::mcap {

/// No single record or chunk may decode to more than this.
inline constexpr std::size_t kMostBytes = std::size_t{1} << 30;

/// Steps through records that lie one after the other in memory.
class RecordWalk {
 public:
  /// `verified`: a checksum says that the bytes are as written.
  explicit RecordWalk(Bytes region = {}, bool verified = false) : region_(region), verified_(verified) {}

  /// The next whole record; false at the end, or where no record can be (trouble() says which).
  bool next(Op& op, Bytes& body) {
    const std::size_t left = region_.size() - at_;
    if (left < kRecordHead) return false;
    const std::uint8_t* head = region_.data() + at_;
    const auto length = load_le<std::uint64_t>(head + 1);
    if (head[0] == 0 || length > left - kRecordHead) return false;
    op = static_cast<Op>(head[0]);
    body = region_.subspan(at_ + kRecordHead, static_cast<std::size_t>(length));
    const std::size_t end = at_ + kRecordHead + body.size();
    if (!verified_ && op == Op::kMessage && end < region_.size() && region_[end] == 0 && !body.empty() && body.back() == 0) return false;
    last_ = at_;
    at_ = end;
    return true;
  }
  /// Where the record that next() gave begins, and where the one after it would.
  [[nodiscard]] std::size_t last() const { return last_; }
  [[nodiscard]] std::size_t end() const { return at_; }
  /// Why the walk ended before the end of the region; empty where it did not.
  [[nodiscard]] std::string trouble() const;

 private:
  Bytes region_;
  std::size_t at_ = 0;
  std::size_t last_ = 0;
  bool verified_ = false;
};

/// The records of a chunk, decoded.
struct OpenedChunk {
  Bytes records;
  bool verified = false;  ///< the checksum of the records is right
  bool usable = false;    ///< what there is of `records` is as written, or nothing says that it is not
  std::string trouble;    ///< empty where all is well
};
/// Decodes a chunk's body, of which `body` may be only the beginning (`whole` false). The records lie in `body` or in
/// `decoded`.
OpenedChunk open_chunk(Bytes body, bool whole, Buffer& decoded);

/// A record of the file, or of a chunk in it.
struct StreamRecord {
  Op op = Op::kInvalid;
  Bytes body;                ///< valid until the next call
  std::uint64_t offset = 0;  ///< of the record, or of the chunk it lies in
  std::uint64_t length = 0;  ///< of the record or chunk in the file, with its head
  bool in_chunk = false;     ///< `end_in_chunk` bytes of the decoded chunk are used up to the end of this record
  std::size_t end_in_chunk = 0;
};

class StreamReader {
 public:
  /// Reads `source` (which must outlive it); what is wrong goes to `findings` under the name `file`. Attachments are
  /// stepped over unless asked for.
  StreamReader(ByteSource& source, std::string file, Findings& findings, bool attachments = false);

  /// The next record in file order; those of a chunk instead of the chunk itself. False at the end of what can be read.
  bool next(StreamRecord& record);

 private:
  enum class Found : std::uint8_t { kRecord, kAgain, kEnd };

  void read_magic();
  Found next_in_file(StreamRecord& record);
  bool next_in_chunk(StreamRecord& record);
  Found enter_chunk(Bytes body, std::uint64_t claimed);
  [[nodiscard]] bool is_start_of_chunk(std::uint64_t claimed);
  Found cut_record(Op op, std::uint64_t claimed);
  bool find_next_record();
  [[nodiscard]] bool looks_like_records(std::uint64_t offset, int how_many);
  std::optional<Bytes> bytes_at(std::uint64_t offset, std::uint64_t count);
  void step_over(std::uint64_t offset, std::uint64_t count);
  void check_data_end(Bytes body);
  void damage(std::uint64_t offset, std::string what, std::string kept = "");

  ByteSource& source_;
  std::string file_;
  Findings& findings_;
  bool attachments_;
  std::uint64_t size_;
  std::uint64_t at_ = 0;
  Buffer window_;
  std::uint64_t window_at_ = 0;
  Buffer probe_;
  std::uint32_t crc_ = 0;
  bool crc_holds_ = true;  ///< every byte so far went into crc_
  bool footer_seen_ = false;
  bool done_ = false;
  Buffer decoded_;
  RecordWalk walk_;
  bool in_chunk_ = false;
  bool chunk_is_whole_ = true;
  std::uint64_t chunk_at_ = 0;
  std::uint64_t chunk_length_ = 0;
};

}  // namespace pitwall::recording::mcap
