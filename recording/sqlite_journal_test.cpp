// SPDX-License-Identifier: Apache-2.0
// Databases as a writer leaves them that is killed within a transaction (journal mode DELETE).
#include "recording/sqlite_journal.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "core/files.hpp"
#include "tests/support/bags.hpp"

namespace pitwall::recording {

namespace {

namespace fs = std::filesystem;

constexpr int kCommitted = 500;

/// `count` messages from id `first` on, 1 ns apart, of 300 bytes.
std::string rows(int first, int count) {
  return "WITH RECURSIVE n(k) AS (SELECT " + std::to_string(first) + " UNION ALL SELECT k + 1 FROM n WHERE k < " +
         std::to_string(first + count - 1) + ") INSERT INTO messages SELECT k, 1, k, CAST(printf('%0300d', k) AS BLOB) FROM n;";
}

/// Commits 500 messages. Within a transaction that is never finished then deletes every third and adds 500 more, in a cache of ten
/// pages, so that most of it is in the file already; and is killed.
[[noreturn]] void record_and_die(const fs::path& path) {
  sqlite3* database = nullptr;
  sqlite3_open(path.c_str(), &database);
  const std::string sql =
      "PRAGMA journal_mode=DELETE; PRAGMA synchronous=NORMAL; CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, "
      "serialization_format TEXT, offered_qos_profiles TEXT); CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp "
      "INTEGER, data BLOB); CREATE INDEX timestamp_idx ON messages(timestamp ASC); INSERT INTO topics VALUES(1, '/a', "
      "'std_msgs/msg/String', 'cdr', ''); " +
      rows(1, kCommitted) + "PRAGMA cache_size=10; BEGIN; DELETE FROM messages WHERE id % 3 = 0;" + rows(kCommitted + 1, 500);
  const int done = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
  ::kill(::getpid(), done == SQLITE_OK ? SIGKILL : SIGTERM);
  ::_exit(1);
}

/// The database with its hot journal.
fs::path killed_in_transaction(const TempFolder& folder) {
  const fs::path path = folder.path() / "bag.db3";
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) record_and_die(path);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WTERMSIG(status) == SIGKILL);
  REQUIRE(fs::file_size(path.string() + "-journal") > 0);
  return path;
}

/// How many messages there are, each checked to be one that was written.
int read_all(BagReader& reader) {
  int count = 0;
  while (const BagMessage* message = reader.next()) {
    CHECK(message->log_time.ns == ++count);
    CHECK(std::stoi(std::string(as_text(message->data))) == count);
  }
  return count;
}

bool mentions(const BagReader& reader, const std::string& words) {
  const auto& findings = reader.findings();
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& each) { return each.text().find(words) != std::string::npos; });
}

}  // namespace

TEST_CASE("a database whose writer was killed within a transaction reads as before it, says so, and is not touched") {
  const TempFolder folder("journal");
  const fs::path path = killed_in_transaction(folder);
  const std::string database = read_file(path).value();
  const std::string journal = read_file(path.string() + "-journal").value();
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  {
    BagReader reader = reader_at(path);
    CHECK(read_all(reader) == kCommitted);
    reader.rewind();
    CHECK(read_all(reader) == kCommitted);
    CHECK(reader.damaged());
    CHECK(mentions(reader, "a rollback journal lies beside it"));
  }
  fs::permissions(folder.path(), fs::perms::owner_all);
  CHECK(read_file(path).value() == database);
  CHECK(read_file(path.string() + "-journal").value() == journal);
  const auto count = std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator());
  CHECK(count == 2);
  // The journal does matter: what it would undo is in the file.
  fs::remove(path.string() + "-journal");
  int without = 0;
  BagReader reader = reader_at(path);
  while (reader.next() != nullptr) ++without;
  CHECK(without != kCommitted);
}

TEST_CASE("a journal that a finished transaction left is none, whether empty or with its header cleared") {
  const TempFolder folder("journal");
  const fs::path path = killed_in_transaction(folder);
  CHECK(has_hot_journal(path));
  std::string journal = read_file(path.string() + "-journal").value();
  std::fill_n(journal.begin(), 28, '\0');  // journal mode PERSIST
  folder.write("bag.db3-journal", journal);
  CHECK_FALSE(has_hot_journal(path));
  folder.write("bag.db3-journal", "");  // TRUNCATE
  CHECK_FALSE(has_hot_journal(path));
  fs::remove(path.string() + "-journal");
  CHECK_FALSE(has_hot_journal(path));
}

TEST_CASE("of a damaged hot journal, or a damaged database with one, what is left is read") {
  const TempFolder folder("journal");
  const fs::path path = killed_in_transaction(folder);
  const std::string database = read_file(path).value();
  const std::string journal = read_file(path.string() + "-journal").value();
  for (const std::size_t keep : {std::size_t{600}, journal.size() / 2, journal.size() - 10}) {
    CAPTURE(keep);
    folder.write("bag.db3-journal", journal.substr(0, keep));
    BagReader reader = reader_at(path);
    CHECK(reader.damaged());
    while (reader.next() != nullptr) continue;
  }
  folder.write("bag.db3-journal", journal);
  folder.write("bag.db3", database.substr(0, database.size() / 2));
  BagReader reader = reader_at(path);
  CHECK(reader.damaged());
  CHECK(mentions(reader, "rollback journal"));
  int count = 0;
  while (reader.next() != nullptr) ++count;
  CHECK(count > kCommitted / 3);
}

TEST_CASE("where the copy cannot be written, the error says which file and why, and leaves none behind") {
  const TempFolder folder("journal");
  const fs::path path = killed_in_transaction(folder);
  const Status status = roll_back_in_copy(path, folder.path() / "nowhere" / "copy.db3");
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().message.find("cannot be copied to") != std::string::npos);
  CHECK(status.error().message.find("No such file or directory") != std::string::npos);
}

}  // namespace pitwall::recording
