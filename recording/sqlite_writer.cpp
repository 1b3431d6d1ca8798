// SPDX-License-Identifier: Apache-2.0
#include "recording/sqlite_writer.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <set>
#include <system_error>

#include "core/check.hpp"
#include "core/files.hpp"
#include "recording/metadata.hpp"

namespace pitwall::recording {

namespace {

constexpr std::uint64_t kRowsPerTransaction = 10'000;

constexpr const char* kTables =
    "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;"
    "CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT NULL);"
    "CREATE TABLE metadata(id INTEGER PRIMARY KEY, metadata_version INTEGER NOT NULL, metadata TEXT NOT NULL);"
    "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, serialization_format TEXT NOT NULL,"
    " offered_qos_profiles TEXT NOT NULL, type_description_hash TEXT NOT NULL);"
    "CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT NOT NULL, encoding TEXT NOT NULL,"
    " encoded_message_definition TEXT NOT NULL, type_description_hash TEXT NOT NULL);"
    "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL, data BLOB NOT NULL);"
    "CREATE INDEX timestamp_idx ON messages (timestamp ASC);";

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using WriterDatabase = std::unique_ptr<sqlite3, CloseDatabase>;
using WriterStatement = std::unique_ptr<sqlite3_stmt, Finalize>;

}  // namespace

struct SqliteWriter::State {
  std::filesystem::path folder;
  std::filesystem::path file;
  BagMetadata metadata;
  WriterDatabase database;
  WriterStatement insert;
  std::set<std::string> defined;
  std::uint64_t pending = 0;
  bool closed = false;

  [[nodiscard]] Error error() const { return Error{file.string() + ": cannot be written: " + sqlite3_errmsg(database.get())}; }
  Status run(const std::string& sql) {
    if (sqlite3_exec(database.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return error();
    return {};
  }
  /// One row of texts (numbers are converted by the columns).
  Status add_row(const std::string& sql, const std::vector<std::string>& values) {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(database.get(), sql.c_str(), -1, &raw, nullptr) != SQLITE_OK) return error();
    const WriterStatement statement(raw);
    for (std::size_t i = 0; i < values.size(); ++i) {
      sqlite3_bind_text(raw, static_cast<int>(i) + 1, values[i].data(), static_cast<int>(values[i].size()), SQLITE_STATIC);
    }
    if (sqlite3_step(raw) != SQLITE_DONE) return error();
    return {};
  }
};

SqliteWriter::SqliteWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
SqliteWriter::SqliteWriter(SqliteWriter&&) noexcept = default;
SqliteWriter& SqliteWriter::operator=(SqliteWriter&&) noexcept = default;
SqliteWriter::~SqliteWriter() {
  if (state_ != nullptr) (void)close();
}

Result<SqliteWriter> SqliteWriter::create(const std::filesystem::path& folder, const std::string& ros_distro) {
  std::error_code code;
  if (std::filesystem::exists(folder, code) && !std::filesystem::is_empty(folder, code)) {
    return Error{folder.string() + ": is there already and is not an empty folder"};
  }
  std::filesystem::create_directories(folder, code);
  if (code) return Error{folder.string() + ": cannot be made: " + code.message()};
  auto state = std::make_unique<State>();
  state->folder = folder;
  const std::filesystem::path whole = std::filesystem::absolute(folder).lexically_normal();
  const std::string name = (whole.has_filename() ? whole : whole.parent_path()).filename().string() + "_0.db3";
  state->file = folder / name;
  state->metadata.storage = "sqlite3";
  state->metadata.version = ros_distro == "humble" ? 5 : BagMetadata::kNewest;
  state->metadata.ros_distro = ros_distro;
  state->metadata.paths = {name};
  state->metadata.files = {{name, {}, {}, 0}};
  sqlite3* raw = nullptr;
  const int opened = sqlite3_open_v2(state->file.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  state->database.reset(raw);
  if (opened != SQLITE_OK) return state->error();
  for (const std::string& sql : {std::string(kTables), std::string("BEGIN")}) {
    if (Status done = state->run(sql); !done) return done.error();
  }
  if (Status done = state->add_row("INSERT INTO schema VALUES (4, ?)", {ros_distro}); !done) return done.error();
  sqlite3_stmt* insert = nullptr;
  if (sqlite3_prepare_v2(raw, "INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)", -1, &insert, nullptr) != SQLITE_OK) {
    return state->error();
  }
  state->insert.reset(insert);
  return SqliteWriter(std::move(state));
}

Result<std::size_t> SqliteWriter::add_topic(const Topic& topic) {
  std::vector<Topic>& topics = state_->metadata.topics;
  const auto same = std::find_if(topics.begin(), topics.end(), [&](const Topic& each) { return each.name == topic.name; });
  if (same != topics.end()) return static_cast<std::size_t>(same - topics.begin());
  Topic added = topic;
  added.message_count = 0;
  added.qos =
      state_->metadata.version < BagMetadata::kNewest ? qos_in_numbers(topic.qos, topic.latched) : qos_in_words(topic.qos, topic.latched);
  const Status row = state_->add_row(
      "INSERT INTO topics (name, type, serialization_format, offered_qos_profiles, type_description_hash) VALUES (?, ?, ?, ?, ?)",
      {added.name, added.type, added.encoding, added.qos, added.type_hash});
  if (!row) return row.error();
  if (!topic.schema_encoding.empty() && state_->defined.insert(topic.type).second) {
    const Status defined = state_->add_row(
        "INSERT INTO message_definitions (topic_type, encoding, encoded_message_definition, type_description_hash) VALUES (?, ?, ?, ?)",
        {topic.type, topic.schema_encoding, topic.schema, topic.type_hash});
    if (!defined) return defined.error();
  }
  topics.push_back(std::move(added));
  return topics.size() - 1;
}

Status SqliteWriter::write(std::size_t topic, Time log_time, Bytes data) {
  PITWALL_CHECK(topic < state_->metadata.topics.size() && !state_->closed, topic);
  sqlite3_stmt* insert = state_->insert.get();
  sqlite3_bind_int64(insert, 1, static_cast<sqlite3_int64>(topic) + 1);
  sqlite3_bind_int64(insert, 2, log_time.ns);
  sqlite3_bind_blob64(insert, 3, data.empty() ? static_cast<const void*>("") : data.data(), data.size(), SQLITE_STATIC);
  const bool stepped = sqlite3_step(insert) == SQLITE_DONE;
  if (sqlite3_reset(insert) != SQLITE_OK || !stepped) return state_->error();
  BagMetadata& metadata = state_->metadata;
  const Time end = metadata.message_count == 0 ? log_time : std::max(log_time, metadata.start + metadata.duration);
  metadata.start = metadata.message_count == 0 ? log_time : std::min(log_time, metadata.start);
  metadata.duration = end - metadata.start;
  ++metadata.message_count;
  ++metadata.topics[topic].message_count;
  if (++state_->pending < kRowsPerTransaction) return {};
  state_->pending = 0;
  return state_->run("COMMIT; BEGIN");
}

Status SqliteWriter::close() {
  if (state_->closed) return {};
  state_->closed = true;
  BagMetadata& metadata = state_->metadata;
  metadata.files = {{metadata.paths[0], metadata.start, metadata.duration, metadata.message_count}};
  const std::string text = compose_metadata(metadata);
  const Status row =
      state_->add_row("INSERT INTO metadata (metadata_version, metadata) VALUES (?, ?)", {std::to_string(metadata.version), text});
  if (!row) return row;
  if (Status committed = state_->run("COMMIT"); !committed) return committed;
  state_->insert.reset();
  state_->database.reset();
  return write_file(state_->folder / "metadata.yaml", text);
}

}  // namespace pitwall::recording
