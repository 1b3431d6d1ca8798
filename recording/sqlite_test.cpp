// SPDX-License-Identifier: Apache-2.0
// rosbag2 databases as recorders and accidents leave them.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "recording/bag_reader.hpp"
#include "recording/byte_source.hpp"
#include "recording/sqlite_pages.hpp"
#include "recording/wal_source.hpp"
#include "tests/support/temp_folder.hpp"

namespace pitwall::recording {
namespace {

constexpr std::size_t kPage = 4096;

void run(const std::filesystem::path& path, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  char* why = nullptr;
  const int done = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &why);
  CHECK_MESSAGE(done == SQLITE_OK, (why == nullptr ? "" : why));
  sqlite3_close(database);
}

std::string schema() {
  return "PRAGMA page_size=4096; CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, "
         "serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL); "
         "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL, data BLOB NOT NULL); "
         "CREATE INDEX timestamp_idx ON messages(timestamp ASC); "
         "INSERT INTO topics VALUES(1, '/a', 'std_msgs/String', 'cdr', '- durability: 1'), (2, '/b', 'std_msgs/msg/String', 'cdr', ''); ";
}

/// `count` messages, 1 ns apart, of `size` bytes that differ from message to message.
std::string sqlite_rows(int count, int size) {
  return "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < " + std::to_string(count) +
         ") INSERT INTO messages SELECT k, 1 + k % 2, k, CAST(printf('%0" + std::to_string(size) + "d', k) AS BLOB) FROM n; ";
}

struct SeenRows {
  std::vector<std::int64_t> times;
  std::vector<std::string> data;
  std::vector<Topic> topics;
  std::string findings;
  bool damaged = false;
};

SeenRows read_rows(const std::filesystem::path& path) {
  auto reader = BagReader::open(path);
  REQUIRE_MESSAGE(reader.ok(), (reader.ok() ? "" : reader.error().message));
  SeenRows seen;
  while (const BagMessage* message = reader->next()) {
    seen.times.push_back(message->log_time.ns);
    seen.data.emplace_back(as_text(message->data));
  }
  seen.topics = reader->topics();
  seen.damaged = reader->damaged();
  for (const Finding& finding : reader->findings()) seen.findings += finding.text() + "\n";
  return seen;
}

/// That each message is one that was written: its data are its time in digits.
void check_none_invented(const SeenRows& seen) {
  for (std::size_t k = 0; k < seen.times.size(); ++k) CHECK(std::stoll(seen.data[k]) == seen.times[k]);
  for (std::size_t k = 1; k < seen.times.size(); ++k) CHECK(seen.times[k - 1] < seen.times[k]);
}

void zero_page(std::string& bytes, std::size_t page) {
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(page * kPage), kPage, '\0');
}

}  // namespace

TEST_CASE("a database reads in order of time whatever the order of its sqlite_rows, with or without an index") {
  const TempFolder temp("sqlite");
  const auto path = temp.path() / "odd name %3F#?.db3";
  run(path, schema() + "INSERT INTO messages VALUES(1, 1, 30, x'01'), (2, 2, 10, x'02'), (3, 1, 20, x'03'), (4, 2, 10, x'04');");
  for (const bool indexed : {true, false}) {
    if (!indexed) run(path, "DROP INDEX timestamp_idx");
    const SeenRows seen = read_rows(path);
    CHECK(seen.times == std::vector<std::int64_t>{10, 10, 20, 30});
    CHECK(seen.data == std::vector<std::string>{"\x02", "\x04", "\x03", "\x01"});
    CHECK(seen.findings.empty());
    CHECK(seen.topics[0].type == "std_msgs/msg/String");
    CHECK(seen.topics[0].latched);
    CHECK_FALSE(seen.topics[1].latched);
    CHECK(seen.topics[0].message_count == 2);
  }
}

TEST_CASE("the oldest tables, without QoS, read_rows; the newest bring definitions and hashes") {
  const TempFolder temp("sqlite");
  run(temp.path() / "old.db3",
      "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT); CREATE TABLE messages(id INTEGER "
      "PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB); INSERT INTO topics VALUES(1, '/a', 'a/B', 'cdr'); INSERT INTO "
      "messages "
      "VALUES(1, 1, 5, x'00');");
  CHECK(read_rows(temp.path() / "old.db3").times == std::vector<std::int64_t>{5});
  run(temp.path() / "new.db3",
      schema() +
          "ALTER TABLE topics ADD COLUMN type_description_hash TEXT; UPDATE topics SET type_description_hash = 'RIHS01_aa'; CREATE TABLE "
          "message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT, encoding TEXT, encoded_message_definition "
          "TEXT, type_description_hash TEXT); INSERT INTO message_definitions VALUES(1, 'std_msgs/msg/String', "
          "'ros2msg', 'string data', ''); " +
          sqlite_rows(3, 4));
  for (const bool damaged : {false, true}) {
    if (damaged) {
      std::string bytes = read_file(temp.path() / "new.db3").value();
      std::fill_n(bytes.begin(), 16, '\0');
      temp.write("new.db3", bytes);
    }
    const SeenRows seen = read_rows(temp.path() / "new.db3");
    CHECK(seen.damaged == damaged);
    CHECK(seen.times.size() == 3);
    REQUIRE(seen.topics.size() == 2);
    for (const Topic& topic : seen.topics) {
      CHECK(topic.schema == "string data");
      CHECK(topic.schema_encoding == "ros2msg");
      CHECK(topic.type_hash == "RIHS01_aa");
    }
  }
}

TEST_CASE("whichever page is zeroed, the messages of the others are recovered and none is invented") {
  for (const int size : {100, 9000}) {  // in the leaves; on overflow pages
    CAPTURE(size);
    const TempFolder temp("sqlite");
    const int count = size == 100 ? 1000 : 20;
    run(temp.path() / "bag.db3", schema() + sqlite_rows(count, size));
    const std::string whole = read_file(temp.path() / "bag.db3").value();
    const std::size_t in_a_page = size == 100 ? 36 : 5;
    for (std::size_t page = 0; page < whole.size() / kPage; ++page) {
      CAPTURE(page);
      std::string bytes = whole;
      zero_page(bytes, page);
      const SeenRows seen = read_rows(temp.write("bag.db3", bytes));
      // Zeros within a blob cannot be told from data: SQLite has no checksums.
      if (size == 100) check_none_invented(seen);
      CHECK(std::adjacent_find(seen.times.begin(), seen.times.end(), std::greater_equal<>()) == seen.times.end());
      CHECK(seen.times.size() + in_a_page >= static_cast<std::size_t>(count));
    }
  }
}

TEST_CASE("a row whose overflow pages lead on where they should end is not believed") {
  const TempFolder temp("sqlite");
  run(temp.path() / "bag.db3", schema() + sqlite_rows(20, 9000));
  std::string bytes = read_file(temp.path() / "bag.db3").value();
  bytes[0] = 'X';  // SQLite gives up, the pages are walked
  CHECK(read_rows(temp.write("bag.db3", bytes)).times.size() == 20);
  // An overflow page begins with the number of the next: 0 in the last one of a row.
  std::size_t last = 0;
  for (std::size_t page = 3; page < bytes.size() / kPage && last == 0; ++page) {
    const std::string start = bytes.substr(page * kPage, 5);
    if (start.substr(0, 4) == std::string(4, '\0') && start[4] == '0') last = page;
  }
  REQUIRE(last > 0);
  bytes[last * kPage + 3] = 2;
  const SeenRows seen = read_rows(temp.write("bag.db3", bytes));
  CHECK(seen.times.size() == 19);
  CHECK(seen.findings.find("1 messages are cut off") != std::string::npos);
  check_none_invented(seen);
}

TEST_CASE("of every length of a database the sqlite_rows that are all there are recovered") {
  const TempFolder temp("sqlite");
  run(temp.path() / "bag.db3", schema() + sqlite_rows(200, 1000));
  const std::string whole = read_file(temp.path() / "bag.db3").value();
  std::size_t most = 0;
  for (std::size_t size = 0; size <= whole.size(); size += 1000) {
    CAPTURE(size);
    const SeenRows seen = read_rows(temp.write("bag.db3", whole.substr(0, size)));
    check_none_invented(seen);
    CHECK(seen.damaged);
    CHECK(seen.times.size() >= most);
    most = seen.times.size();
  }
  CHECK(most >= 190);
}

TEST_CASE("rows that were deleted do not come back with the salvage") {
  const TempFolder temp("sqlite");
  run(temp.path() / "bag.db3", schema() + sqlite_rows(1000, 100) + "DELETE FROM messages WHERE id > 300;");
  std::string bytes = read_file(temp.path() / "bag.db3").value();
  std::fill_n(bytes.begin(), 16, '\0');
  const SeenRows seen = read_rows(temp.write("bag.db3", bytes));
  CHECK(seen.damaged);
  CHECK(seen.times.size() == 300);
}

TEST_CASE("messages of topics that the table lacks are kept without a name") {
  const TempFolder temp("sqlite");
  run(temp.path() / "bag.db3", schema() + sqlite_rows(10, 4) + "DELETE FROM topics WHERE id = 2;");
  const SeenRows seen = read_rows(temp.path() / "bag.db3");
  CHECK(seen.times.size() == 10);
  CHECK(seen.damaged);
  CHECK(seen.topics[1].name == "(topic 2, its name is lost)");
}

TEST_CASE("a database that is no recording, or whose tables are views, is no recording") {
  const TempFolder temp("sqlite");
  run(temp.path() / "other.db3", "CREATE TABLE t(x); INSERT INTO t VALUES(1);");
  const SeenRows other = read_rows(temp.path() / "other.db3");
  CHECK(other.times.empty());
  CHECK(other.findings.find("it has no tables `topics` and `messages`") != std::string::npos);
  run(temp.path() / "view.db3",
      "CREATE TABLE topics(id, name, type, serialization_format); CREATE VIEW messages AS WITH RECURSIVE n(id) AS "
      "(SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, 1 AS topic_id, id AS timestamp, x'00' AS data FROM n;");
  CHECK(read_rows(temp.path() / "view.db3").times.empty());
}

TEST_CASE("a WAL whose messages are not in the database yet is read_rows, also where the database is damaged") {
  const TempFolder temp("sqlite");
  const auto path = temp.path() / "bag.db3";
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  const std::string sql = "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; " + schema() + sqlite_rows(50, 100);
  REQUIRE(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  const std::string main = read_file(path).value();
  const std::string wal = read_file(path.string() + "-wal").value();
  sqlite3_close(database);
  const TempFolder left("sqlite_left");
  left.write("bag.db3", main);
  left.write("bag.db3-wal", wal);
  const SeenRows seen = read_rows(left.path() / "bag.db3");
  CHECK(seen.times.size() == 50);
  CHECK_FALSE(seen.damaged);
  check_none_invented(seen);
  // The first page, wherever it lies, loses its magic: SQLite gives up, the pages are walked.
  std::string torn = wal;
  for (std::size_t at = torn.find("SQLite format 3"); at != std::string::npos; at = torn.find("SQLite format 3", at)) torn[at] = 'X';
  left.write("bag.db3-wal", torn);
  std::string broken = main;
  broken[0] = 'X';
  left.write("bag.db3", broken);
  const SeenRows salvaged = read_rows(left.path() / "bag.db3");
  CHECK(salvaged.damaged);
  check_none_invented(salvaged);
  // A log cut within its last frame: what was committed before it counts.
  left.write("bag.db3", main);
  left.write("bag.db3-wal", wal.substr(0, wal.size() - 1));
  check_none_invented(read_rows(left.path() / "bag.db3"));
}

TEST_CASE("the pages of a WAL lie over those of the database, up to the last commit whose checksums hold") {
  const TempFolder temp("sqlite");
  const auto path = temp.path() / "bag.db3";
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  const auto sql = [&](const std::string& text) { REQUIRE(sqlite3_exec(database, text.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK); };
  sql(schema() + sqlite_rows(10, 100));
  sql("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; INSERT INTO messages SELECT id + 10, topic_id, timestamp + 10, data FROM "
      "messages;");
  const std::size_t after_first = read_file(path.string() + "-wal").value().size();
  sql("INSERT INTO messages SELECT id + 20, topic_id, timestamp + 20, data FROM messages;");
  const std::string main = read_file(path).value();
  std::string wal = read_file(path.string() + "-wal").value();
  sqlite3_close(database);
  const auto messages = [&] {
    const auto source = [](const std::string& bytes) { return std::make_unique<MemorySource>(as_bytes(bytes)); };
    WalSource both(source(main), source(wal));
    PageWalker walker(both);
    walker.walk();
    return walker.rows().size();
  };
  CHECK(messages() == 40);
  wal[after_first + 100] = static_cast<char>(wal[after_first + 100] ^ 1);  // in the second commit
  CHECK(messages() == 20);
  wal[50] = static_cast<char>(wal[50] ^ 1);  // in the first
  CHECK(messages() == 10);
}

TEST_CASE("a WAL whose checksums hold may claim any number of pages: nothing is sized by it") {
  constexpr std::size_t kSmallPage = 512;
  std::string wal(32 + 24 + kSmallPage, '\0');
  const auto put = [&](std::size_t at, std::uint32_t value) {
    for (std::size_t k = 0; k < 4; ++k) wal[at + k] = static_cast<char>(value >> (24 - 8 * k));
  };
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  const auto add = [&](std::size_t from, std::size_t count) {
    for (std::size_t at = from; at < from + count; at += 8) {
      a += load_be<std::uint32_t>(as_bytes(wal).data() + at) + b;
      b += load_be<std::uint32_t>(as_bytes(wal).data() + at + 4) + a;
    }
  };
  put(0, 0x377F0683);
  put(4, 3007000);
  put(8, kSmallPage);
  add(0, 24);
  put(24, a);
  put(28, b);
  put(32, 0xFFFFFFFF);  // the page's number
  put(36, 0xFFFFFFFF);  // pages after the commit
  add(32, 8);
  add(56, kSmallPage);
  put(48, a);
  put(52, b);
  const std::string main(2 * kSmallPage, '\0');
  WalSource both(std::make_unique<MemorySource>(as_bytes(main)), std::make_unique<MemorySource>(as_bytes(wal)));
  REQUIRE(both.pages() == 1);
  CHECK(both.size() < 1'000'000 * kSmallPage);
  PageWalker walker(both);
  walker.walk();
  CHECK(walker.rows().empty());
}

TEST_CASE("a row's bytes count once, however many pointers lead to them") {
  const TempFolder temp("sqlite");
  run(temp.path() / "bag.db3", schema() + sqlite_rows(3, 10));
  std::string bytes = read_file(temp.path() / "bag.db3").value();
  for (std::size_t at = kPage; at < bytes.size(); at += kPage) {
    if (bytes[at] != 0x0D || bytes[at + 4] != 2) continue;  // the leaf of the two topics
    for (std::size_t k = 1; k < 400; ++k) std::copy_n(&bytes[at + 8], 2, &bytes[at + 8 + 2 * k]);
    bytes[at + 3] = 1;
    bytes[at + 4] = static_cast<char>(400 - 256);
  }
  MemorySource source(as_bytes(bytes));
  PageWalker walker(source);
  walker.walk();
  CHECK(walker.topics().size() == 1);
  CHECK(walker.rows().size() == 3);
}

TEST_CASE("rows that share their overflow pages cost no more than four times the file") {
  constexpr std::size_t kSmallPage = 512;
  constexpr std::size_t kPages = 64;
  constexpr std::size_t kChain = 58;
  constexpr std::size_t kCells = 8;
  constexpr std::size_t kLocal = 39;  // what SQLite keeps in the leaf of a payload of this size
  constexpr std::size_t kPayload = kLocal + kChain * (kSmallPage - 4);
  std::string bytes(kPages * kSmallPage, '\0');
  const auto put = [&](std::size_t at, std::initializer_list<std::size_t> values) {
    for (const std::size_t value : values) bytes[at++] = static_cast<char>(value);
  };
  const auto varint = [](std::size_t value, std::size_t k) { return (value >> (7 * k) & 0x7FU) | (k > 0 ? 0x80U : 0U); };
  const std::size_t leaf = kSmallPage;  // the second page
  put(leaf, {0x0D, 0, 0, 0, kCells});
  for (std::size_t k = 0; k < kCells; ++k) {
    const std::size_t at = 40 + 52 * k;
    put(leaf + 8 + 2 * k, {at >> 8U, at & 0xFFU});
    constexpr std::size_t kHeader = 7;
    const std::size_t blob = 12 + 2 * (kPayload - kHeader - 2);
    put(leaf + at, {varint(kPayload, 2), varint(kPayload, 1), varint(kPayload, 0), k + 1, kHeader, 0, 1, 1, varint(blob, 2),
                    varint(blob, 1), varint(blob, 0), 1, k});
    put(leaf + at + 4 + kLocal, {0, 0, 0, 3});
  }
  for (std::size_t k = 0; k + 1 < kChain; ++k) put((2 + k) * kSmallPage, {0, 0, 0, 4 + k});
  MemorySource source(as_bytes(bytes));
  PageWalker walker(source);
  walker.walk();
  CHECK(walker.rows().size() == 4 * kPages / kChain);
  CHECK(walker.rows_cut() == kCells - 4 * kPages / kChain);
}

}  // namespace pitwall::recording
