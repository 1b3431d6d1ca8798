// SPDX-License-Identifier: Apache-2.0
// MCAP files that no recorder should have left behind, and what is read from them.
#include <doctest/doctest.h>
#include <lz4frame.h>

#include <algorithm>
#include <string>
#include <vector>

#include "recording/compression.hpp"
#include "recording/mcap_stream.hpp"
#include "recording/mcap_writer.hpp"
#include "recording/storage.hpp"

namespace pitwall::recording {
namespace {

using namespace mcap;

struct SeenRecords {
  std::vector<std::int64_t> times;
  std::vector<std::string> data;
  std::vector<std::string> topics;
  Findings findings;

  [[nodiscard]] std::string text() const {
    std::string lines;
    for (const Finding& finding : findings.all()) lines += finding.text() + "\n";
    return lines;
  }
  [[nodiscard]] bool says(const std::string& words) const { return text().find(words) != std::string::npos; }
};

SeenRecords read(Bytes file) {
  SeenRecords seen;
  const auto storage = open_mcap(std::make_unique<MemorySource>(file), "file", seen.findings);
  Selection all;
  all.topics.assign(storage->topics().size(), true);
  storage->select(all);
  while (const BagMessage* message = storage->next()) {
    seen.times.push_back(message->log_time.ns);
    seen.data.emplace_back(as_text(message->data));
    seen.topics.push_back(storage->topics()[message->topic].name);
  }
  return seen;
}

Message message_at(std::uint64_t time, std::string_view data, std::uint16_t channel = 1) {
  Message message;
  message.channel_id = channel;
  message.log_time = message.publish_time = time;
  message.data = BytesToEnd(as_bytes(data).data(), data.size());
  return message;
}

/// A file under construction; chunks end where flush() says.
struct File {
  explicit File(const WriterOptions& options = {}) : writer(sink, options) {
    REQUIRE(writer.open({"ros2", "test"}).ok());
    Schema schema;
    schema.id = 1;
    schema.name = "std_msgs/String";
    schema.encoding = "ros2msg";
    REQUIRE(writer.add_schema(schema).ok());
    Channel channel;
    channel.id = 1;
    channel.schema_id = 1;
    channel.topic = "/a";
    channel.message_encoding = "cdr";
    REQUIRE(writer.add_channel(channel).ok());
  }
  void put(std::uint64_t time, std::string_view data = "data") { REQUIRE(writer.write(message_at(time, data)).ok()); }
  void flush() { REQUIRE(writer.flush().ok()); }
  Buffer close() {
    REQUIRE(writer.close().ok());
    return sink.bytes();
  }
  MemorySink sink;
  Writer writer;
};

WriterOptions recorder() {
  WriterOptions options;
  options.definitions_in_chunks = false;
  return options;
}

/// Three chunks of two messages each.
Buffer three_chunks(const WriterOptions& options = recorder()) {
  File file(options);
  for (std::uint64_t k = 0; k < 6; ++k) {
    file.put(10 * (k + 1), "message " + std::to_string(k));
    if (k % 2 == 1) file.flush();
  }
  return file.close();
}

std::size_t find(const Buffer& in, std::string_view what) { return as_text(in).find(what); }

}  // namespace

TEST_CASE("old type names are completed") {
  Findings findings;
  const Buffer bytes = three_chunks();
  const auto storage = open_mcap(std::make_unique<MemorySource>(bytes), "file", findings);
  CHECK(storage->topics().at(0).type == "std_msgs/msg/String");
}

TEST_CASE("a chunk with a wrong checksum is left out, with its place; the others are read") {
  Buffer bytes = three_chunks();
  bytes[find(bytes, "message 2")] ^= 1;
  const SeenRecords by_index = read(bytes);
  CHECK(by_index.times == std::vector<std::int64_t>{10, 20, 50, 60});
  CHECK(by_index.says("the checksum of a chunk is wrong; left out the chunk"));
  bytes.resize(bytes.size() - 1);  // no end magic: front to back
  const SeenRecords streamed = read(bytes);
  CHECK(streamed.times == by_index.times);
  CHECK(streamed.says("the checksum of a chunk is wrong"));
}

TEST_CASE("chunks in lz4 and zstd read like plain ones") {
  for (const char* compression : {"", "lz4", "zstd"}) {
    CAPTURE(compression);
    Buffer records;
    compose(records, message_at(5, std::string(1000, 'x')));
    Buffer packed = records;
    if (std::string_view(compression) == "lz4") {
      packed.resize(LZ4F_compressFrameBound(records.size(), nullptr));
      packed.resize(LZ4F_compressFrame(packed.data(), packed.size(), records.data(), records.size(), nullptr));
    } else if (std::string_view(compression) == "zstd") {
      compress_zstd(records, 1, packed);
    }
    Chunk chunk;
    chunk.uncompressed_size = records.size();
    chunk.uncompressed_crc = crc32(records);
    chunk.compression = compression;
    chunk.records = Bytes64(packed.data(), packed.size());
    File file;
    Buffer bytes = file.sink.bytes();
    Channel channel;
    channel.id = 1;
    channel.topic = "/a";
    compose(bytes, channel);
    compose(bytes, chunk);
    const SeenRecords seen = read(bytes);
    REQUIRE(seen.data.size() == 1);
    CHECK(seen.data[0] == std::string(1000, 'x'));
    // What the claimed size says is not believed, nor allocated.
    chunk.uncompressed_size = std::uint64_t{1} << 62;
    bytes.resize(bytes.size() - 9);
    Buffer lying = file.sink.bytes();
    compose(lying, channel);
    compose(lying, chunk);
    CHECK(read(lying).data.empty());
    CHECK(read(lying).says("bytes, not the 4611686018427387904 it claims"));
  }
}

TEST_CASE("messages come in order of time, equal times in order of the file, whatever the chunks and the index") {
  for (const bool indexed : {true, false}) {
    for (const bool chunked : {true, false}) {
      WriterOptions options;
      options.chunked = chunked;
      options.chunk_index = indexed;
      File file(options);
      const std::vector<std::uint64_t> times = {50, 10, 30, 30, 20, 60, 30, 5, 70, 30};
      for (std::size_t k = 0; k < times.size(); ++k) {
        file.put(times[k], std::to_string(k));
        if (k % 3 == 2 && chunked) file.flush();
      }
      const SeenRecords seen = read(file.close());
      CHECK(seen.times == std::vector<std::int64_t>{5, 10, 20, 30, 30, 30, 30, 50, 60, 70});
      CHECK(seen.data == std::vector<std::string>{"7", "1", "4", "2", "3", "6", "9", "0", "5", "8"});
      CHECK_FALSE(seen.findings.damaged());
    }
  }
}

TEST_CASE("unknown records are stepped over, in chunks and outside") {
  File file;
  Buffer bytes = file.sink.bytes();
  Channel channel;
  channel.id = 1;
  channel.topic = "/a";
  const auto put_unknown = [](Buffer& out, std::uint8_t op) {
    out.push_back(op);
    append_le(out, std::uint64_t{3});
    append(out, as_bytes("xyz"));
  };
  put_unknown(bytes, 0x80);
  compose(bytes, channel);
  Buffer records;
  put_unknown(records, 0x10);
  compose(records, message_at(1, "in chunk"));
  put_unknown(records, 0xFF);
  compose(records, message_at(2, "in chunk"));
  Chunk chunk;
  chunk.uncompressed_size = records.size();
  chunk.records = Bytes64(records.data(), records.size());
  compose(bytes, chunk);
  put_unknown(bytes, 0x42);
  compose(bytes, message_at(3, "outside"));
  const SeenRecords seen = read(bytes);
  CHECK(seen.times == std::vector<std::int64_t>{1, 2, 3});
}

TEST_CASE("after a stretch of rubbish the messages go on") {
  WriterOptions options;
  options.chunked = false;
  File file(options);
  for (std::uint64_t k = 0; k < 20; ++k) file.put(k, "message number " + std::to_string(k) + "...");
  const Buffer whole = file.close();
  for (const std::uint8_t rubbish : {std::uint8_t{0}, std::uint8_t{0xFF}, std::uint8_t{1}}) {
    Buffer bytes = whole;
    const std::size_t from = find(bytes, "message number 5");
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), 60, rubbish);
    const SeenRecords seen = read(bytes);
    CHECK(seen.findings.damaged());
    CHECK(std::count(seen.times.begin(), seen.times.end(), 4) == 1);
    for (std::int64_t time = 8; time < 20; ++time) CHECK(std::count(seen.times.begin(), seen.times.end(), time) == 1);
  }
}

TEST_CASE("zeros that may have begun inside the last message take it along, and nothing else") {
  WriterOptions options;
  options.chunked = false;
  File file(options);
  file.put(1, "whole message");
  const std::size_t end_of_first = file.sink.bytes().size();
  file.put(2, "cut message");
  Buffer bytes = file.sink.bytes();
  std::fill(bytes.end() - 4, bytes.end(), std::uint8_t{0});
  bytes.resize(bytes.size() + 100);
  CHECK(read(bytes).times == std::vector<std::int64_t>{1});
  bytes.resize(end_of_first);
  bytes.resize(bytes.size() + 100);
  CHECK(read(bytes).times == std::vector<std::int64_t>{1});
}

TEST_CASE("in a chunk that is cut off, too, zeros that may have begun inside the last message take it along") {
  WriterOptions options = recorder();
  options.chunk_bytes = std::size_t{1} << 20;
  File file(options);
  file.put(1, "whole message");
  file.put(2, "cut message");
  file.put(3, std::string(300, 'x'));
  file.flush();
  Buffer bytes = file.sink.bytes();
  const std::size_t cut = find(bytes, "cut message");
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(cut) + 5, bytes.end(), std::uint8_t{0});
  bytes.resize(cut + 200);
  CHECK(read(bytes).times == std::vector<std::int64_t>{1});
  // A last byte that is no zero is the message's own.
  bytes[cut + 10] = 'e';
  CHECK(read(bytes).times == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("messages whose definition went with another chunk are kept without a name") {
  Buffer bytes = three_chunks({});  // definitions in the first chunk
  bytes[find(bytes, "message 0")] ^= 1;
  bytes.resize(find(bytes, "message 5") + 9);  // and the summary is not there to help
  const SeenRecords seen = read(bytes);
  CHECK(seen.times == std::vector<std::int64_t>{30, 40, 50, 60});
  CHECK(seen.topics[0] == "(channel 1, its name is lost)");
  CHECK(seen.says("no record defines channel 1"));
}

TEST_CASE("a channel defined twice in two ways, a chunk in a chunk, a message without channel are said and survived") {
  File file;
  Buffer bytes = file.sink.bytes();
  Channel channel;
  channel.id = 1;
  channel.topic = "/a";
  compose(bytes, channel);
  channel.topic = "/b";
  compose(bytes, channel);
  compose(bytes, message_at(1, "x", 7));
  Buffer inner;
  compose(inner, message_at(2, "y"));
  Chunk chunk;
  chunk.uncompressed_size = inner.size();
  chunk.records = Bytes64(inner.data(), inner.size());
  Buffer records;
  compose(records, chunk);
  compose(records, message_at(3, "z"));
  chunk.uncompressed_size = records.size();
  chunk.records = Bytes64(records.data(), records.size());
  compose(bytes, chunk);
  const SeenRecords seen = read(bytes);
  CHECK(seen.data == std::vector<std::string>{"z"});
  CHECK(seen.topics == std::vector<std::string>{"/a"});
  CHECK(seen.says("channel 1 is defined twice, as '/a' and as '/b'"));
  CHECK(seen.says("a record of a chunk makes no sense (opcode 6)"));
  CHECK(seen.says("1 messages belong to channels that are not in the file"));
}

TEST_CASE("of every prefix of a file the whole messages are read, in order, and no other") {
  for (const bool chunked : {true, false}) {
    WriterOptions options = recorder();
    options.chunked = chunked;
    const Buffer whole = three_chunks(options);
    const SeenRecords all = read(whole);
    REQUIRE(all.data.size() == 6);
    std::size_t most = 0;
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const SeenRecords seen = read(Bytes(whole).first(size));
      CHECK(seen.data.size() >= most);
      most = std::max(most, seen.data.size());
      REQUIRE(seen.data.size() <= 6);
      CHECK(std::equal(seen.data.begin(), seen.data.end(), all.data.begin()));
      CHECK(seen.findings.damaged());
    }
    CHECK(most == 6);
  }
}

TEST_CASE("whichever byte of a checksummed file changes, no message is invented and at most a chunk is lost") {
  for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
    WriterOptions options = recorder();
    options.compression = compression;
    const Buffer whole = three_chunks(options);
    const std::vector<std::string> all = read(whole).data;
    for (std::size_t at = 0; at < whole.size(); ++at) {
      CAPTURE(at);
      Buffer bytes = whole;
      bytes[at] ^= 0x10;
      const SeenRecords seen = read(bytes);
      CHECK(seen.data.size() >= 4);
      for (const std::string& data : seen.data) CHECK(std::find(all.begin(), all.end(), data) != all.end());
    }
  }
}

TEST_CASE("selections: topics and times, ends included") {
  Findings findings;
  const Buffer bytes = three_chunks();
  const auto storage = open_mcap(std::make_unique<MemorySource>(bytes), "file", findings);
  Selection some;
  some.topics = {true};
  some.start_ns = 20;
  some.end_ns = 50;
  for (int again = 0; again < 2; ++again) {
    storage->select(some);
    std::vector<std::int64_t> times;
    while (const BagMessage* message = storage->next()) times.push_back(message->log_time.ns);
    CHECK(times == std::vector<std::int64_t>{20, 30, 40, 50});
  }
  some.topics = {false};
  storage->select(some);
  CHECK(storage->next() == nullptr);
}

}  // namespace pitwall::recording
