// SPDX-License-Identifier: Apache-2.0
// Real recordings of many distributions, whole and damaged.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "core/hash.hpp"
#include "recording/bag_reader.hpp"
#include "recording/metadata.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/test_data.hpp"

namespace pitwall::recording {
namespace {

namespace fs = std::filesystem;

struct Read {
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t messages = 0;
  bool in_order = true;
};

Read read_all(BagReader& reader) {
  Read all;
  std::int64_t last = INT64_MIN;
  while (const BagMessage* message = reader.next()) {
    ++all.counts[reader.topics()[message->topic].name];
    ++all.messages;
    all.in_order = all.in_order && message->log_time.ns >= last;
    last = message->log_time.ns;
  }
  return all;
}

/// One hash a message, of its time, topic, type and data.
std::vector<std::uint64_t> message_hashes(BagReader& reader) {
  std::vector<std::uint64_t> hashes;
  while (const BagMessage* message = reader.next()) {
    Hash hash;
    hash.add(message->log_time.ns);
    hash.add(std::string_view(reader.topics()[message->topic].name));
    hash.add(std::string_view(reader.topics()[message->topic].type));
    hash.add(as_text(message->data));
    hashes.push_back(hash.value());
  }
  return hashes;
}

using Counts = std::map<std::string, std::uint64_t>;

/// Messages of each topic as the Statistics record of an MCAP file states them, taken from its bytes by the format's description.
void add_statistics(const fs::path& file, Counts& counts) {
  const std::string text = read_file(file).value();
  const Bytes bytes = as_bytes(text);
  std::map<std::uint16_t, std::string> topics;
  for (std::size_t at = load_le<std::uint64_t>(&bytes[bytes.size() - 28]); at + 9 < bytes.size();) {
    const std::uint8_t opcode = bytes[at];
    const std::uint8_t* body = &bytes[at + 9];
    if (opcode == 4) topics[load_le<std::uint16_t>(body)] = std::string(as_text({body + 8, load_le<std::uint32_t>(body + 4)}));
    for (std::uint32_t k = 0; opcode == 11 && k < load_le<std::uint32_t>(body + 42) / 10; ++k) {
      const std::uint8_t* entry = body + 46 + 10 * k;
      counts[topics.at(load_le<std::uint16_t>(entry))] += load_le<std::uint64_t>(entry + 2);
    }
    at += 9 + load_le<std::uint64_t>(&bytes[at + 1]);
  }
}

/// The same as the tables of a database hold them.
void add_table_counts(const fs::path& file, Counts& counts) {
  sqlite3* database = nullptr;
  const std::string uri = "file:" + file.string() + "?immutable=1";
  REQUIRE(sqlite3_open_v2(uri.c_str(), &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr) == SQLITE_OK);
  const auto take = [](void* into, int /*columns*/, char** values, char** /*names*/) {
    (*static_cast<Counts*>(into))[values[0]] += std::stoull(values[1]);
    return 0;
  };
  const char* sql = "SELECT name, (SELECT count(*) FROM messages WHERE topic_id = topics.id) FROM topics";
  CHECK(sqlite3_exec(database, sql, take, &counts, nullptr) == SQLITE_OK);
  sqlite3_close(database);
}

std::string findings_of(const BagReader& reader) {
  std::string lines;
  for (const Finding& finding : reader.findings()) lines += finding.text() + "\n";
  return lines;
}

}  // namespace

TEST_CASE("every public recording reads with the counts that its metadata state") {
  const auto root = test_data("bags");
  if (!root) return;
  int with_metadata = 0;
  for (const auto& entry : fs::directory_iterator(*root)) {
    if (!fs::exists(entry.path() / "metadata.yaml")) continue;
    ++with_metadata;
    CAPTURE(entry.path().string());
    auto reader = BagReader::open(entry.path());
    REQUIRE(reader.ok());
    const auto claimed = parse_metadata(read_file(entry.path() / "metadata.yaml").value(), "metadata.yaml");
    REQUIRE(claimed.ok());
    const Read all = read_all(*reader);
    CHECK_MESSAGE(!reader->damaged(), findings_of(*reader));
    CHECK(all.messages == claimed->message_count);
    CHECK(reader->message_count() == claimed->message_count);
    CHECK(all.in_order);
    for (const Topic& topic : claimed->topics) {
      CAPTURE(topic.name);
      const auto found = all.counts.find(topic.name);
      CHECK((found == all.counts.end() ? 0 : found->second) == topic.message_count);
    }
  }
  CHECK(with_metadata == 20);
}

TEST_CASE("recordings without metadata read with the counts of their tables and statistics") {
  const auto root = test_data("bags");
  if (!root) return;
  const std::vector<std::pair<std::string, std::uint64_t>> files = {{"evo_nav2_turtlebot/nav2_turtlebot.mcap", 8197},
                                                                    {"reductstore_demo/demo.mcap", 3513},
                                                                    {"rosbag2_bags/only_services.mcap", 12},
                                                                    {"rosbag2_bags/only_topics.mcap", 7},
                                                                    {"rosbag2_bags/topics_and_services.db3", 13},
                                                                    {"rosbag2_bags/topics_and_services.mcap", 13},
                                                                    {"rosbag2_mcap_reindex_test_bags/multiple_files", 3177},
                                                                    {"rosbag2_sqlite3_reindex_test_bags/multiple_files", 3177}};
  for (const auto& [name, count] : files) {
    CAPTURE(name);
    auto reader = BagReader::open(*root / name);
    REQUIRE(reader.ok());
    const Read all = read_all(*reader);
    CHECK_MESSAGE(!reader->damaged(), findings_of(*reader));
    CHECK(all.messages == count);
    CHECK(reader->message_count() == count);
    CHECK(all.in_order);
    Counts stated;
    for (const std::string& file : reader->files()) file.ends_with(".mcap") ? add_statistics(file, stated) : add_table_counts(file, stated);
    std::erase_if(stated, [](const auto& each) { return each.second == 0; });
    CHECK(all.counts == stated);
  }
}

TEST_CASE("a folder with several recordings and no metadata is refused, with their names") {
  const auto root = test_data("bags");
  if (!root) return;
  const auto reader = BagReader::open(*root / "rosbag2_bags");
  REQUIRE_FALSE(reader.ok());
  CHECK(reader.error().message.find("only_services.mcap") != std::string::npos);
}

TEST_CASE("messages that are not CDR are counted and refused by their encoding; metadata and table that disagree are reported") {
  const auto root = test_data("bags");
  if (!root) return;
  auto mcap = BagReader::open(*root / "rosbag2_mcap_wrong_rmw_test");
  REQUIRE(mcap.ok());
  CHECK(read_all(*mcap).messages == 7);
  for (const Topic& topic : mcap->topics()) CHECK(topic.encoding == "wrong_format");
  CHECK(findings_of(*mcap).find("its messages are 'wrong_format', not CDR") != std::string::npos);
  auto sqlite = BagReader::open(*root / "rosbag2_sqlite3_wrong_rmw_test");
  REQUIRE(sqlite.ok());
  CHECK(read_all(*sqlite).messages == 7);
  for (const Topic& topic : sqlite->topics()) CHECK(topic.encoding == "cdr");
  CHECK(findings_of(*sqlite).find("metadata says the messages are 'wrong_format', the file says 'cdr'") != std::string::npos);
}

TEST_CASE("every damaged recording ends in a verdict, with all that is left of it and nothing else") {
  const auto bags = test_data("bags");
  const auto root = test_data("bags_damaged");
  if (!root || !bags) return;
  struct Expected {
    const char* file;
    std::uint64_t messages;
    bool damaged;
    const char* verdict;
    fs::path whole;  ///< where the undamaged messages are
  };
  const fs::path lap = *bags / "wato_f1tenth_steady_lap";
  const fs::path tutorial = *bags / "beginner_tutorials_bag";
  const fs::path abitobot = *root / "mcap_no_footer_magic.mcap";
  const std::vector<Expected> all = {
      {"mcap_no_footer_magic.mcap", 6578, true, "the end magic is missing", abitobot},
      {"mcap_trunc_mid_chunk.mcap", 3968, true, "a chunk is cut off", abitobot},
      {"mcap_trunc_zstd_chunk.mcap", 5441, true, "a chunk is cut off", *bags / "evo_nav2_turtlebot" / "nav2_turtlebot.mcap"},
      {"mcap_huge_record_length.mcap", 6578, true, "the header record is damaged", abitobot},
      {"mcap_zero_tail.mcap", 3349, true, "a chunk is cut off", abitobot},
      {"mcap_empty.mcap", 0, true, "the file is empty (0 bytes)", abitobot},
      {"mcap_only_magic.mcap", 0, true, "the file ends without a footer", abitobot},
      {"db3_trunc_half.db3", 3149, true, "recovered 3149 messages from its 504 pages", lap},
      {"db3_zero_header.db3", 6355, true, "recovered 6355 messages", lap},
      {"db3_empty.db3", 0, true, "the file is empty (0 bytes)", lap},
      {"file_zstd", 205, false, "", tutorial},
      {"message_zstd", 205, false, "", tutorial},
      {"wal_pending", 255, false, "metadata says 105 messages, the files hold 155", {}},
  };
  for (const Expected& expected : all) {
    CAPTURE(expected.file);
    auto reader = BagReader::open(*root / expected.file);
    REQUIRE(reader.ok());
    CHECK(reader->message_count() == expected.messages);
    std::vector<std::uint64_t> left = message_hashes(*reader);
    CHECK(left.size() == expected.messages);
    CHECK(reader->damaged() == expected.damaged);
    CHECK_MESSAGE(findings_of(*reader).find(expected.verdict) != std::string::npos, findings_of(*reader));
    for (const Topic& topic : reader->topics()) CHECK_FALSE(topic.type.empty());
    if (expected.whole.empty()) continue;
    auto whole = BagReader::open(expected.whole);
    REQUIRE(whole.ok());
    std::vector<std::uint64_t> original = message_hashes(*whole);
    std::sort(left.begin(), left.end());
    std::sort(original.begin(), original.end());
    CHECK_MESSAGE(std::includes(original.begin(), original.end(), left.begin(), left.end()), "invented messages");
  }
}

TEST_CASE("reading a recording changes nothing beside it: no -shm, no checkpoint") {
  const auto root = test_data("bags_damaged/wal_pending");
  if (!root) return;
  const TempFolder temp("wal");
  fs::copy(*root, temp.path() / "bag");
  const auto look = [&] {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(temp.path() / "bag")) files[entry.path().filename()] = read_file(entry.path()).value();
    return files;
  };
  const auto before = look();
  {
    auto reader = BagReader::open(temp.path() / "bag");
    REQUIRE(reader.ok());
    CHECK(read_all(*reader).messages == 255);
    CHECK(look() == before);
  }
  CHECK(look() == before);
}

}  // namespace pitwall::recording
