// SPDX-License-Identifier: Apache-2.0
#include "recording/bag_writer.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/files.hpp"
#include "recording/bag_reader.hpp"
#include "recording/byte_source.hpp"
#include "recording/mcap_summary.hpp"
#include "tests/support/temp_folder.hpp"

namespace pitwall::recording {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

Topic text_topic(const std::string& name, bool latched = false) {
  Topic made;
  made.name = name;
  made.type = latched ? "tf2_msgs/msg/TFMessage" : "std_msgs/msg/String";
  made.schema_encoding = "ros2msg";
  made.schema = "string data";
  made.type_hash = "RIHS01_00";
  made.latched = latched;
  return made;
}

std::string payload(int k) { return "message " + std::to_string(k); }

/// Messages every 10 ms on a text_topic of the writer.
void write_messages(BagWriter& writer, std::size_t to, int first, int count) {
  for (int k = first; k < first + count; ++k) {
    const Time at{std::int64_t{k} * 10'000'000};
    REQUIRE(writer.write(to, at, at, as_bytes(payload(k))).ok());
  }
}

}  // namespace

TEST_CASE("what is written is read back: order, bytes, times, sequence, topics, compressed or not") {
  for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
    const TempFolder temp("writer");
    WriteOptions options;
    options.compression = compression;
    auto writer = BagWriter::create(temp.path() / "run", options);
    REQUIRE(writer.ok());
    const std::size_t a = writer->add_topic(text_topic("/a")).value();
    write_messages(*writer, a, 0, 300);
    REQUIRE(writer->close().ok());
    REQUIRE(writer->close().ok());

    auto reader = BagReader::open(temp.path() / "run");
    REQUIRE(reader.ok());
    CHECK(reader->findings().empty());
    CHECK(reader->storage() == "mcap");
    REQUIRE(reader->topics().size() == 1);
    CHECK(reader->topics()[0].schema == "string data");
    CHECK(reader->topics()[0].type_hash == "RIHS01_00");
    CHECK(reader->topics()[0].qos.find("reliability: reliable") != std::string::npos);
    CHECK(reader->metadata()->version == 9);
    CHECK(reader->metadata()->message_count == 300);
    CHECK(reader->metadata()->duration.ns == 299 * 10'000'000LL);
    int k = 0;
    while (const BagMessage* message = reader->next()) {
      CHECK(message->log_time.ns == std::int64_t{k} * 10'000'000);
      CHECK(message->publish_time == message->log_time);
      CHECK(message->sequence == static_cast<std::uint32_t>(k + 1));
      CHECK(as_text(message->data) == payload(k));
      ++k;
    }
    CHECK(k == 300);
  }
}

TEST_CASE("a writer that is never closed loses at most the last second") {
  const TempFolder temp("writer");
  const auto folder = temp.path() / "run";
  auto writer = BagWriter::create(folder);
  REQUIRE(writer.ok());
  const std::size_t a = writer->add_topic(text_topic("/a")).value();
  write_messages(*writer, a, 0, 250);  // up to 2.49 s
  auto reader = BagReader::open(folder);
  REQUIRE(reader.ok());
  CHECK(reader->end()->ns > 2'490'000'000 - kSecond);
  CHECK(reader->message_count() == 200);
  CHECK(reader->damaged());
  // Silence: the runner's clock alone brings the rest to the file.
  REQUIRE(writer->advance({3'500'000'000}).ok());
  auto again = BagReader::open(folder);
  REQUIRE(again.ok());
  CHECK(again->message_count() == 250);
}

TEST_CASE("a MiB is flushed whatever the time") {
  const TempFolder temp("writer");
  WriteOptions options;
  options.compression = Compression::kNone;
  auto writer = BagWriter::create(temp.path() / "run", options);
  REQUIRE(writer.ok());
  const std::size_t a = writer->add_topic(text_topic("/a")).value();
  const std::string half(600'000, 'x');
  for (int k = 0; k < 3; ++k) REQUIRE(writer->write(a, {k}, {k}, as_bytes(half)).ok());
  CHECK(BagReader::open(temp.path() / "run")->message_count() == 2);
}

TEST_CASE("splits: each file stands alone, latched topics begin each, the bag reads as one") {
  const TempFolder temp("writer");
  WriteOptions options;
  options.split_after = {kSecond};
  auto writer = BagWriter::create(temp.path() / "run", options);
  REQUIRE(writer.ok());
  const std::size_t tf = writer->add_topic(text_topic("/tf_static", true)).value();
  const std::size_t a = writer->add_topic(text_topic("/a")).value();
  REQUIRE(writer->write(tf, {0}, {0}, as_bytes("laser")).ok());
  REQUIRE(writer->write(tf, {1}, {1}, as_bytes("imu")).ok());
  write_messages(*writer, a, 1, 299);
  REQUIRE(writer->close().ok());

  auto whole = BagReader::open(temp.path() / "run");
  REQUIRE(whole.ok());
  CHECK(whole->findings().empty());
  REQUIRE(whole->files().size() == 3);
  CHECK(whole->metadata()->files.size() == 3);
  CHECK(whole->message_count() == 299 + 3 * 2);
  for (const std::string& file : whole->files()) {
    auto split = BagReader::open(file);
    REQUIRE(split.ok());
    CHECK_FALSE(split->damaged());
    const BagMessage* first = split->next();
    REQUIRE(first != nullptr);
    CHECK(as_text(first->data) == "laser");
    CHECK(as_text(split->next()->data) == "imu");
  }
  std::int64_t last = 0;
  while (const BagMessage* message = whole->next()) {
    CHECK(message->log_time.ns >= last);
    last = message->log_time.ns;
  }
}

TEST_CASE("messages that were dropped are counted in the metadata and leave a gap in the sequence") {
  const TempFolder temp("writer");
  auto writer = BagWriter::create(temp.path() / "run");
  REQUIRE(writer.ok());
  const std::size_t a = writer->add_topic(text_topic("/a")).value();
  write_messages(*writer, a, 0, 1);
  writer->count_dropped(a, 3);
  write_messages(*writer, a, 1, 1);
  REQUIRE(writer->close().ok());
  auto reader = BagReader::open(temp.path() / "run");
  REQUIRE(reader.ok());
  CHECK(reader->next()->sequence == 1);
  CHECK(reader->next()->sequence == 5);
  CHECK(reader->metadata()->custom_data == std::vector<std::pair<std::string, std::string>>{{"dropped:/a", "3"}});
}

TEST_CASE("files are indexed, with checksums, profile ros2 and the metadata inside") {
  const TempFolder temp("writer");
  auto writer = BagWriter::create(temp.path() / "run");
  REQUIRE(writer.ok());
  const std::size_t a = writer->add_topic(text_topic("/a")).value();
  write_messages(*writer, a, 0, 300);
  REQUIRE(writer->close().ok());
  auto source = open_source(temp.path() / "run" / "run_0.mcap");
  REQUIRE(source.ok());
  const auto summary = mcap::read_summary(**source);
  REQUIRE(summary.ok());
  CHECK(mcap::check_index(*summary, **source).ok());
  CHECK(summary->chunks.size() == 3);
  CHECK(summary->chunks[0].compression == "zstd");
  CHECK(summary->metadata.size() == 2);  // at open and at close
  Buffer start(40);
  CHECK((*source)->read(0, start) == 40);
  CHECK(as_text(start).find("ros2") != std::string_view::npos);
}

TEST_CASE("for Humble: metadata version 5, QoS as numbers in a string") {
  const TempFolder temp("writer");
  WriteOptions options;
  options.ros_distro = "humble";
  auto writer = BagWriter::create(temp.path() / "run", options);
  REQUIRE(writer.ok());
  Topic words = text_topic("/a");
  words.qos = "- history: keep_last\n  depth: 5\n  reliability: best_effort\n  durability: transient_local\n";
  const std::size_t a = writer->add_topic(words).value();
  write_messages(*writer, a, 0, 1);
  REQUIRE(writer->close().ok());
  const std::string text = read_file(temp.path() / "run" / "metadata.yaml").value();
  CHECK(text.find("version: 5") != std::string::npos);
  CHECK(text.find(R"(offered_qos_profiles: "- history: 1\n  depth: 5\n  reliability: 2\n  durability: 1\n")") != std::string::npos);
  CHECK(text.find("ros_distro") == std::string::npos);
  CHECK(BagReader::open(temp.path() / "run")->topics()[0].latched);
}

TEST_CASE("a folder that holds something is not written into") {
  const TempFolder temp("writer");
  temp.write("run/old.mcap", "x");
  const auto writer = BagWriter::create(temp.path() / "run");
  REQUIRE_FALSE(writer.ok());
  CHECK(writer.error().message.find("not empty") != std::string::npos);
}

}  // namespace pitwall::recording
