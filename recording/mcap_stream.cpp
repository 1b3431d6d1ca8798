// SPDX-License-Identifier: Apache-2.0
#include "recording/mcap_stream.hpp"

#include <algorithm>
#include <cstring>

#include "recording/compression.hpp"

namespace pitwall::recording::mcap {
namespace {

constexpr std::size_t kWindow = std::size_t{1} << 20;

/// Whether a body can be what its opcode says; nothing known speaks against private opcodes.
bool fits(Op op, Bytes body) {
  switch (op) {
    case Op::kHeader:
      return parse<Header>(body).has_value();
    case Op::kFooter:
      return body.size() == Footer::kSize;
    case Op::kSchema: {
      const auto schema = parse<Schema>(body);
      return schema && schema->id != 0;
    }
    case Op::kChannel:
      return parse<Channel>(body).has_value();
    case Op::kMessage:
      return body.size() >= Message::kHead;
    case Op::kChunk:
      return parse<Chunk>(body).has_value();
    case Op::kMessageIndex:
      return parse<MessageIndex>(body).has_value();
    case Op::kChunkIndex:
      return parse<ChunkIndex>(body).has_value();
    case Op::kAttachment:
      return parse<Attachment>(body).has_value();
    case Op::kAttachmentIndex:
      return parse<AttachmentIndex>(body).has_value();
    case Op::kStatistics:
      return parse<Statistics>(body).has_value();
    case Op::kMetadata:
      return parse<Metadata>(body).has_value();
    case Op::kMetadataIndex:
      return parse<MetadataIndex>(body).has_value();
    case Op::kSummaryOffset:
      return parse<SummaryOffset>(body).has_value();
    case Op::kDataEnd:
      return parse<DataEnd>(body).has_value();
    case Op::kInvalid:
      break;
  }
  return false;
}

}  // namespace

std::string RecordWalk::trouble() const {
  const std::size_t left = region_.size() - at_;
  if (left == 0) return "";
  if (region_[at_] == 0) return "opcode 0 where a record should begin";
  if (left < kRecordHead || load_le<std::uint64_t>(region_.data() + at_ + 1) > left - kRecordHead) return "a record is cut off";
  return "zeros follow a message that ends in a zero, which may be theirs";
}

OpenedChunk open_chunk(Bytes body, bool whole, Buffer& decoded) {
  Chunk chunk;
  std::uint64_t size = 0;
  Parser parser(body);
  parser("message_start_time", chunk.message_start_time);
  parser("message_end_time", chunk.message_end_time);
  parser("uncompressed_size", chunk.uncompressed_size);
  parser("uncompressed_crc", chunk.uncompressed_crc);
  parser("compression", chunk.compression);
  parser("records", size);
  OpenedChunk result;
  const Bytes stored = parser.rest();
  if (!parser.ok() || size > kMostBytes || (whole && size > stored.size())) {
    result.trouble = "the head of a chunk makes no sense";
    return result;
  }
  const Bytes records = stored.first(std::min(stored.size(), static_cast<std::size_t>(size)));
  Decoded verdict = records.size() < size ? Decoded::kCut : Decoded::kWhole;
  result.records = records;
  if (!chunk.compression.empty()) {
    // One byte more than claimed is enough to see that the claim is wrong.
    const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(kMostBytes, chunk.uncompressed_size));
    verdict = decompress(chunk.compression, records, most, decoded);
    result.records = decoded;
  }
  if (verdict == Decoded::kCut) {
    result.usable = true;
    result.trouble = "a chunk is cut off after " + std::to_string(records.size()) + " of its " + std::to_string(size) + " bytes";
  } else if (verdict == Decoded::kTooLong) {
    result.trouble = "a chunk decodes to more than the " + std::to_string(chunk.uncompressed_size) + " bytes it claims";
  } else if (verdict != Decoded::kWhole) {
    const bool known = chunk.compression == "zstd" || chunk.compression == "lz4";
    result.trouble =
        known ? "the " + chunk.compression + " data of a chunk is damaged" : "unknown compression '" + chunk.compression + "' of a chunk";
  } else if (result.records.size() != chunk.uncompressed_size) {
    result.trouble = "a chunk has " + std::to_string(result.records.size()) + " bytes, not the " + std::to_string(chunk.uncompressed_size) +
                     " it claims";
  } else if (chunk.uncompressed_crc != 0 && crc32(result.records) != chunk.uncompressed_crc) {
    result.trouble = "the checksum of a chunk is wrong";
  } else {
    result.usable = true;
    result.verified = chunk.uncompressed_crc != 0;
  }
  return result;
}

StreamReader::StreamReader(ByteSource& source, std::string file, Findings& findings, bool attachments)
    : source_(source), file_(std::move(file)), findings_(findings), attachments_(attachments), size_(source.size()) {
  read_magic();
}

void StreamReader::damage(std::uint64_t offset, std::string what, std::string kept) {
  findings_.add({Severity::kDamage, file_, offset, std::move(what), std::move(kept)});
}

void StreamReader::read_magic() {
  if (size_ == 0) {
    damage(0, "the file is empty (0 bytes)");
    done_ = true;
    return;
  }
  const auto start = bytes_at(0, std::min<std::uint64_t>(size_, kMagic.size()));
  if (!start || start->size() < kMagic.size() || !std::equal(kMagic.begin(), kMagic.end(), start->begin())) {
    damage(0, "the file does not begin as MCAP does");
    crc_holds_ = false;
  } else {
    crc_ = crc32(*start);
  }
  at_ = kMagic.size();
}

std::optional<Bytes> StreamReader::bytes_at(std::uint64_t offset, std::uint64_t count) {
  if (offset > size_ || count > size_ - offset) return std::nullopt;
  if (offset < window_at_ || offset + count > window_at_ + window_.size()) {
    window_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(std::max<std::uint64_t>(count, kWindow), size_ - offset)));
    window_.resize(source_.read(offset, window_));
    window_at_ = offset;
    if (window_.size() < count) return std::nullopt;
  }
  return Bytes(window_).subspan(static_cast<std::size_t>(offset - window_at_), static_cast<std::size_t>(count));
}

/// Checksums bytes without keeping them.
void StreamReader::step_over(std::uint64_t offset, std::uint64_t count) {
  while (crc_holds_ && count > 0) {
    const std::uint64_t piece = std::min<std::uint64_t>(count, kWindow);
    const auto bytes = bytes_at(offset, piece);
    if (!bytes) {
      crc_holds_ = false;
      return;
    }
    crc_ = crc32(*bytes, crc_);
    offset += piece;
    count -= piece;
  }
}

void StreamReader::check_data_end(Bytes body) {
  const auto end = parse<DataEnd>(body);
  if (end && crc_holds_ && end->data_section_crc != 0 && end->data_section_crc != crc_) {
    damage(0, "the checksum of the data section is wrong", "kept what the chunks' own checksums allow");
  }
}

bool StreamReader::next(StreamRecord& record) {
  for (;;) {
    if (in_chunk_) {
      if (next_in_chunk(record)) return true;
      continue;
    }
    if (done_) return false;
    const Found found = next_in_file(record);
    if (found == Found::kEnd) done_ = true;
    if (found == Found::kRecord) return true;
  }
}

StreamReader::Found StreamReader::next_in_file(StreamRecord& record) {
  const std::uint64_t left = size_ - std::min(at_, size_);
  const auto head = bytes_at(at_, std::min<std::uint64_t>(left, kRecordHead));
  if (left <= kMagic.size() || !head) {
    const bool magic = left == kMagic.size() && head && std::equal(kMagic.begin(), kMagic.end(), head->begin());
    if (!magic || !footer_seen_)
      damage(at_, footer_seen_ ? "the end magic is missing" : "the file ends without a footer", "kept all before");
    return Found::kEnd;
  }
  if (head->size() < kRecordHead) return Found::kEnd;
  const auto op = static_cast<Op>((*head)[0]);
  const auto length = load_le<std::uint64_t>(head->data() + 1);
  if (op == Op::kInvalid || length > left - kRecordHead) return cut_record(op, length);
  const std::uint64_t body_at = at_ + kRecordHead;
  if (length > kMostBytes || (op == Op::kAttachment && !attachments_)) {
    if (length > kMostBytes && op != Op::kAttachment) damage(at_, "a record of " + std::to_string(length) + " bytes is left out");
    step_over(at_, kRecordHead + length);
    at_ = body_at + length;
    return Found::kAgain;
  }
  const auto whole = bytes_at(at_, kRecordHead + length);
  if (!whole) {
    damage(at_, "the medium cannot read on", "kept all before");
    return Found::kEnd;
  }
  const Bytes body = whole->subspan(kRecordHead);
  if (static_cast<std::uint8_t>(op) <= kLastOp && !fits(op, body)) return cut_record(op, length);
  if (op == Op::kMessage && body.back() == 0 && at_ + whole->size() < size_) {
    // The rule of RecordWalk: zeros after a message may have begun inside it.
    std::uint8_t after = 0;
    if (source_.read(at_ + whole->size(), {&after, 1}) == 1 && after == 0) return cut_record(Op::kInvalid, length);
  }
  if (op == Op::kDataEnd) check_data_end(body);
  if (crc_holds_) crc_ = crc32(*whole, crc_);
  if (op == Op::kChunk) return enter_chunk(body, length);
  footer_seen_ = op == Op::kFooter;
  record = {op, body, at_, whole->size(), false, 0};
  at_ += whole->size();
  return Found::kRecord;
}

/// Whether the file ends within a chunk whose head and length agree.
bool StreamReader::is_start_of_chunk(std::uint64_t claimed) {
  constexpr std::uint64_t kEnough = 256;
  const std::uint64_t left = size_ - at_ - kRecordHead;
  if (claimed <= left || left > kMostBytes) return false;
  const auto head = bytes_at(at_ + kRecordHead, std::min(left, kEnough));
  if (!head) return false;
  Chunk chunk;
  std::uint64_t records = 0;
  const std::size_t before = head->size();
  Parser parser(*head);
  parser("message_start_time", chunk.message_start_time);
  parser("message_end_time", chunk.message_end_time);
  parser("uncompressed_size", chunk.uncompressed_size);
  parser("uncompressed_crc", chunk.uncompressed_crc);
  parser("compression", chunk.compression);
  parser("records", records);
  return parser.ok() && claimed - records == before - parser.rest().size();
}

/// A record that does not fit: the rest of a chunk that was being written, or damage to step over.
StreamReader::Found StreamReader::cut_record(Op op, std::uint64_t claimed) {
  crc_holds_ = false;
  if (op == Op::kChunk && is_start_of_chunk(claimed)) {
    const auto rest = bytes_at(at_ + kRecordHead, size_ - at_ - kRecordHead);
    if (rest && enter_chunk(*rest, claimed) == Found::kAgain) return Found::kAgain;
  }
  const std::uint64_t from = at_;
  const std::string what = op == Op::kInvalid ? "no record where one should begin" : "a record is cut off or its length is wrong";
  if (!find_next_record()) {
    damage(from, what, "kept all before; nothing readable in the " + std::to_string(size_ - from) + " bytes after");
    return Found::kEnd;
  }
  damage(from, what, "went on " + std::to_string(at_ - from) + " bytes later");
  return Found::kAgain;
}

StreamReader::Found StreamReader::enter_chunk(Bytes body, std::uint64_t claimed) {
  const bool whole = body.size() == claimed;
  const OpenedChunk chunk = open_chunk(body, whole, decoded_);
  if (!whole && !chunk.usable) return Found::kEnd;
  chunk_at_ = at_;
  chunk_length_ = kRecordHead + body.size();
  at_ += chunk_length_;
  if (!chunk.usable) {
    damage(chunk_at_, chunk.trouble, "left out the chunk, kept the others");
    return Found::kAgain;
  }
  chunk_is_whole_ = chunk.trouble.empty();
  if (!chunk_is_whole_) damage(chunk_at_, chunk.trouble, "kept the whole messages in it");
  walk_ = RecordWalk(chunk.records, chunk.verified);
  in_chunk_ = true;
  return Found::kAgain;
}

bool StreamReader::next_in_chunk(StreamRecord& record) {
  while (walk_.next(record.op, record.body)) {
    const bool known = static_cast<std::uint8_t>(record.op) <= kLastOp;
    if (known && (record.op == Op::kChunk || !fits(record.op, record.body))) {
      damage(chunk_at_, "a record of a chunk makes no sense (opcode " + std::to_string(static_cast<int>(record.op)) + ")",
             "kept the others");
      continue;
    }
    record.offset = chunk_at_;
    record.length = chunk_length_;
    record.in_chunk = true;
    record.end_in_chunk = walk_.end();
    return true;
  }
  in_chunk_ = false;
  const std::string trouble = walk_.trouble();
  if (!trouble.empty() && chunk_is_whole_) damage(chunk_at_, "in a chunk: " + trouble, "kept the records before");
  return false;
}

bool StreamReader::looks_like_records(std::uint64_t offset, int how_many) {
  for (int k = 0; k < how_many; ++k) {
    const std::uint64_t left = size_ - offset;
    if (left == 0 || (k > 0 && left <= kMagic.size())) return k > 0;
    if (left < kRecordHead) return false;
    std::array<std::uint8_t, kRecordHead> head{};
    if (source_.read(offset, head) < head.size()) return false;
    const auto length = load_le<std::uint64_t>(head.data() + 1);
    const auto op = static_cast<Op>(head[0]);
    if (head[0] == 0 || head[0] > kLastOp || length > left - kRecordHead || length > kMostBytes) return false;
    if (op == Op::kMessage || length > kWindow) {
      // What is large must be of a kind that can be, and is believed for what follows it.
      const bool large = op == Op::kMessage || op == Op::kChunk || op == Op::kAttachment || op == Op::kMessageIndex;
      if (length < Message::kHead || !large) return false;
    } else {
      probe_.resize(static_cast<std::size_t>(length));
      if (source_.read(offset + kRecordHead, probe_) < length || !fits(op, probe_)) return false;
    }
    offset += kRecordHead + length;
  }
  return true;
}

/// Moves on to the next place where three records follow each other, or one and the end.
bool StreamReader::find_next_record() {
  constexpr int kInARow = 3;
  // A record is at least 9 bytes; high bytes of its length are zero below 2^40 bytes, which sorts out nearly all places.
  for (std::uint64_t from = at_ + 1; from + kRecordHead <= size_;) {
    const std::uint64_t count = std::min<std::uint64_t>(kWindow, size_ - from);
    const auto bytes = bytes_at(from, count);
    if (!bytes) return false;
    const Bytes here = *bytes;
    for (std::size_t k = 0; k + kRecordHead <= here.size(); ++k) {
      if (here[k] == 0 || here[k] > kLastOp || here[k + 8] != 0 || here[k + 7] != 0 || here[k + 6] != 0) continue;
      if (!looks_like_records(from + k, kInARow)) continue;
      at_ = from + k;
      return true;
    }
    from += count - kRecordHead + 1;
  }
  return false;
}

}  // namespace pitwall::recording::mcap
