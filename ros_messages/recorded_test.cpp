// SPDX-License-Identifier: Apache-2.0
// Against what others recorded: every message of every sqlite bag of the test data, read straight from its tables.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ros_messages/dynamic.hpp"
#include "ros_messages/known_types.hpp"
#include "ros_messages/test_rewritten.hpp"
#include "tests/support/test_data.hpp"

namespace pitwall::ros_messages {

namespace {

using Database = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;

Database open(const std::filesystem::path& file) {
  sqlite3* raw = nullptr;
  const std::string uri = "file:" + file.string() + "?immutable=1";
  REQUIRE(sqlite3_open_v2(uri.c_str(), &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr) == SQLITE_OK);
  return {raw, &sqlite3_close};
}

/// Every row of a query, each cell as bytes; none where a table or column is not there.
std::vector<std::vector<std::string>> query(const Database& database, const std::string& sql) {
  std::vector<std::vector<std::string>> rows;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) return rows;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    rows.emplace_back();
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      const auto* data = static_cast<const char*>(sqlite3_column_blob(statement, i));
      rows.back().emplace_back(data == nullptr ? "" : data, static_cast<std::size_t>(sqlite3_column_bytes(statement, i)));
    }
  }
  sqlite3_finalize(statement);
  return rows;
}

std::vector<std::filesystem::path> databases(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".db3") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Definitions of a bag by type, with the recorded hash.
std::map<std::string, std::pair<std::string, std::string>> definitions(const Database& database) {
  std::map<std::string, std::pair<std::string, std::string>> found;
  for (const auto& row : query(database, "SELECT topic_type, encoded_message_definition, type_description_hash FROM message_definitions")) {
    found[row[0]] = {row[1], row[2]};
  }
  return found;
}

std::string json(const Definition& definition, std::string_view message) {
  std::string out;
  CHECK(append_json(definition, message, out).ok());
  return out;
}

}  // namespace

TEST_CASE("hashes worked out from recorded definitions are the recorded hashes") {
  const auto folder = test_data("bags");
  if (!folder) return;
  int checked = 0;
  for (const auto& file : databases(*folder)) {
    for (const auto& [type, recorded] : definitions(open(file))) {
      if (recorded.second.size() != 71 || type.find("/srv/") != std::string::npos) continue;  // no hash, or that of a service
      const auto definition = parse_definition(type, recorded.first);
      REQUIRE_MESSAGE(definition.ok(), definition.error().message);
      if (type == "std_msgs/msg/Char") continue;  // the rosbags library takes a char for type 13, ROS 2 for a uint8
      CHECK_MESSAGE(type_hash(*definition) == recorded.second, type);
      const Definition* ours = known_definition(type);
      if (ours != nullptr) CHECK_MESSAGE(same_type(*ours, type, recorded.second, recorded.first).ok(), type);
      ++checked;
    }
  }
  CHECK(checked >= 99);
  MESSAGE(checked << " recorded definitions have the recorded hash");
}

TEST_CASE("every recorded message of a known type reads, and is written as it was recorded") {
  const auto folder = test_data("bags");
  if (!folder) return;
  std::map<std::string, int> read_of;
  std::size_t identical = 0;
  std::size_t total = 0;
  for (const auto& file : databases(*folder)) {
    const Database database = open(file);
    for (const auto& row : query(database, "SELECT t.type, m.data FROM messages m JOIN topics t ON m.topic_id = t.id")) {
      const Definition* definition = known_definition(row[0]);
      if (definition == nullptr) continue;
      const auto written = rewritten(row[0], row[1]);
      REQUIRE_MESSAGE(written.ok(), file.string() << ": " << written.error().message);
      // Some writers leave what they found in the padding, and pad the end.
      CHECK((row[1].size() >= written->size() && row[1].size() - written->size() <= 7));
      if (!row[1].starts_with(*written)) CHECK(json(*definition, row[1]) == json(*definition, *written));
      identical += row[1].starts_with(*written) ? 1 : 0;
      ++read_of[full_type_name(row[0])];
      ++total;
    }
  }
  CHECK(read_of["sensor_msgs/msg/LaserScan"] > 600);
  CHECK(read_of["nav_msgs/msg/Odometry"] > 4800);
  CHECK(read_of["tf2_msgs/msg/TFMessage"] > 600);
  CHECK(read_of["rcl_interfaces/msg/ParameterEvent"] == 7);
  CHECK(identical + 400 > total);
  MESSAGE(total << " messages of " << read_of.size() << " types, " << identical << " written byte for byte as recorded");
}

TEST_CASE("every recorded message reads by its definition alone, known or not") {
  const auto folder = test_data("bags");
  if (!folder) return;
  std::size_t total = 0;
  std::size_t unknown = 0;
  for (const auto& file : databases(*folder)) {
    const Database database = open(file);
    const auto recorded = definitions(database);
    for (const auto& topic : query(database, "SELECT id, type FROM topics")) {
      std::string text_of = topic[1];
      if (text_of.ends_with("_Event")) text_of.resize(text_of.size() - 6);  // a service event has the text of its service
      const auto at = recorded.find(text_of);
      const bool usable =
          at != recorded.end() && at->second.second != "hash1" && at->second.second != "hash2" && at->second.second != "hash3";
      const Definition* ours = known_definition(topic[1]);
      if (!usable && ours == nullptr) {  // one bag (of the wrong encoding, they say) has no definitions at all
        if (file.string().find("wrong_rmw_test") != std::string::npos) continue;
        CHECK_MESSAGE(query(database, "SELECT id FROM messages WHERE topic_id = " + topic[0]).empty(), topic[1]);
        continue;
      }
      const auto definition = usable ? parse_definition(topic[1], at->second.first) : Result<Definition>(*ours);
      REQUIRE_MESSAGE(definition.ok(), definition.error().message);
      for (const auto& row : query(database, "SELECT data FROM messages WHERE topic_id = " + topic[0])) {
        std::string out;
        const Status status = append_json(*definition, row[0], out);
        CHECK_MESSAGE(status.ok(), file.string() << ": " << status.error().message);
        CHECK(append_csv(*definition, row[0], out).ok());
        CHECK(first_stamp(*definition, row[0]).ok());
        ++total;
        unknown += ours == nullptr ? 1 : 0;
      }
    }
  }
  CHECK(unknown > 100);
  MESSAGE(total << " messages read by definition, " << unknown << " of them of types without a struct");
}

}  // namespace pitwall::ros_messages
