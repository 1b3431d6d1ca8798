// SPDX-License-Identifier: Apache-2.0
// A rosbag2 database as a Storage: by SQLite where the file is sound, by its pages where it is not. Nothing is ever
// written beside the file: without a WAL it is opened as immutable, with one by a VFS without locks, whose index of the
// WAL lies in memory.
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <system_error>

#include "recording/byte_source.hpp"
#include "recording/sqlite_pages.hpp"
#include "recording/storage.hpp"
#include "recording/wal_source.hpp"

namespace pitwall::recording {
namespace {

/// Whether a definition stored for `defined` is that of `type`: service events are stored under the name of their service.
bool is_defined_by(const std::string& type, const std::string& defined) { return type == defined || type == defined + "_Event"; }

using Database = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;
using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

/// The path as part of a URI.
std::string uri_path(const std::string& path) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      out += '%';
      out += kHex[static_cast<unsigned char>(c) >> 4U];
      out += kHex[static_cast<unsigned char>(c) & 15U];
    } else {
      out += c;
    }
  }
  return out;
}

std::string text_of(sqlite3_stmt* row, int column) {
  const auto* text = sqlite3_column_text(row, column);
  return text == nullptr ? std::string()
                         : std::string(reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_column_bytes(row, column)));
}

/// Topics by the ids that rows of messages name.
class TopicIds {
 public:
  explicit TopicIds(std::vector<Topic>& topics) : topics_(topics) {}

  void add(std::int64_t id, Topic topic) {
    topic.type = normalised_type(topic.type);
    topic.latched = is_transient_local(topic.qos) || topic.name == "/tf_static";
    if (index_.emplace(id, topics_.size()).second) topics_.push_back(std::move(topic));
  }
  /// The topic of that id; one without name and type where the table lacks it, which `missing` then counts.
  std::size_t of(std::int64_t id) {
    const auto found = index_.find(id);
    if (found != index_.end()) return found->second;
    ++missing_;
    Topic topic;
    topic.name = "(topic " + std::to_string(id) + ", its name is lost)";
    index_.emplace(id, topics_.size());
    topics_.push_back(std::move(topic));
    return topics_.size() - 1;
  }
  [[nodiscard]] std::size_t missing() const { return missing_; }

 private:
  std::vector<Topic>& topics_;
  std::map<std::int64_t, std::size_t> index_;
  std::size_t missing_ = 0;
};

class SqliteStorage final : public Storage {
 public:
  SqliteStorage(std::string path, std::string name, Findings& findings)
      : path_(std::move(path)), name_(std::move(name)), findings_(findings), ids_(topics_) {}

  /// Reads all but the data; the error says why SQLite cannot.
  Status load();
  void select(const Selection& selection) override;
  const BagMessage* next() override;

 private:
  Status open();
  Status check_header();
  Status read_topics();
  Status read_definitions();
  void read_metadata();
  Status read_rows();
  Statement prepare(const std::string& sql);
  bool has_column(const std::string& table, const std::string& column);
  [[nodiscard]] Error error() const { return Error{sqlite3_errmsg(database_.get())}; }
  sqlite3_stmt* step();
  void lost_row(std::int64_t id);

  std::string path_;
  std::string name_;
  Findings& findings_;
  TopicIds ids_;
  Database database_{nullptr, &sqlite3_close};
  bool in_order_ = true;  ///< times do not decrease from row to row
  Selection selection_;
  Statement order_{nullptr, &sqlite3_finalize};  ///< ids by time; null where the rows are in order
  Statement rows_{nullptr, &sqlite3_finalize};
  std::int64_t last_id_ = INT64_MIN;
  bool begin_ = true;  ///< the statement has to be started after last_id_
  BagMessage message_;
};

Statement SqliteStorage::prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &statement, nullptr);
  return {statement, &sqlite3_finalize};
}

bool SqliteStorage::has_column(const std::string& table, const std::string& column) {
  const Statement columns = prepare("SELECT 1 FROM pragma_table_info('" + table + "') WHERE name = '" + column + "'");
  return columns && sqlite3_step(columns.get()) == SQLITE_ROW;
}

/// What SQLite itself does not mind: a file that is shorter than its header says.
Status SqliteStorage::check_header() {
  auto source = open_source(path_);
  if (!source) return source.error();
  std::array<std::uint8_t, 100> header{};
  if ((*source)->read(0, header) < header.size()) return Error{"the file is shorter than a header"};
  const std::uint64_t page_size = load_be<std::uint16_t>(&header[16]) == 1 ? 65536 : load_be<std::uint16_t>(&header[16]);
  const auto pages = load_be<std::uint32_t>(&header[28]);
  const bool counted = load_be<std::uint32_t>(&header[24]) == load_be<std::uint32_t>(&header[92]);
  std::error_code ignored;
  const bool wal = std::filesystem::exists(path_ + "-wal", ignored) && std::filesystem::file_size(path_ + "-wal", ignored) > 0;
  if (counted && !wal && pages * page_size > (*source)->size()) {
    return Error{"the file has " + std::to_string((*source)->size()) + " of the " + std::to_string(pages * page_size) +
                 " bytes its header says"};
  }
  return {};
}

Status SqliteStorage::open() {
  std::error_code ignored;
  const bool wal = std::filesystem::exists(path_ + "-wal", ignored) && std::filesystem::file_size(path_ + "-wal", ignored) > 0;
  const std::string uri =
      "file:" + uri_path(std::filesystem::absolute(path_, ignored).string()) + (wal ? "?mode=ro" : "?mode=ro&immutable=1");
  sqlite3* raw = nullptr;
  const int opened =
      sqlite3_open_v2(uri.c_str(), &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, wal ? "unix-none" : nullptr);
  database_.reset(raw);
  if (opened != SQLITE_OK) return error();
  sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  if (sqlite3_exec(raw, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0;", nullptr, nullptr, nullptr) !=
      SQLITE_OK) {
    return error();
  }
  const Statement tables =
      prepare("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name IN ('topics', 'messages')");
  if (!tables || sqlite3_step(tables.get()) != SQLITE_ROW) return error();
  if (sqlite3_column_int(tables.get(), 0) != 2) return Error{"it has no tables `topics` and `messages`"};
  return {};
}

Status SqliteStorage::read_topics() {
  const std::string qos = has_column("topics", "offered_qos_profiles") ? "offered_qos_profiles" : "''";
  const std::string hash = has_column("topics", "type_description_hash") ? "type_description_hash" : "''";
  const Statement rows = prepare("SELECT id, name, type, serialization_format, " + qos + ", " + hash + " FROM topics ORDER BY id");
  if (!rows) return error();
  int stepped = SQLITE_DONE;
  while ((stepped = sqlite3_step(rows.get())) == SQLITE_ROW) {
    Topic topic;
    topic.name = text_of(rows.get(), 1);
    topic.type = text_of(rows.get(), 2);
    topic.encoding = text_of(rows.get(), 3);
    topic.qos = text_of(rows.get(), 4);
    topic.type_hash = text_of(rows.get(), 5);
    ids_.add(sqlite3_column_int64(rows.get(), 0), std::move(topic));
  }
  return stepped == SQLITE_DONE ? Status() : Status(error());
}

Status SqliteStorage::read_definitions() {
  if (!has_column("message_definitions", "encoded_message_definition")) return {};
  const Statement rows = prepare("SELECT topic_type, encoding, encoded_message_definition FROM message_definitions");
  if (!rows) return error();
  int stepped = SQLITE_DONE;
  while ((stepped = sqlite3_step(rows.get())) == SQLITE_ROW) {
    const std::string type = normalised_type(text_of(rows.get(), 0));
    for (Topic& topic : topics_) {
      if (!is_defined_by(topic.type, type)) continue;
      topic.schema_encoding = text_of(rows.get(), 1);
      topic.schema = text_of(rows.get(), 2);
    }
  }
  return stepped == SQLITE_DONE ? Status() : Status(error());
}

void SqliteStorage::read_metadata() {
  if (!has_column("metadata", "metadata")) return;
  const Statement row = prepare("SELECT metadata FROM metadata ORDER BY id DESC LIMIT 1");
  if (row && sqlite3_step(row.get()) == SQLITE_ROW) metadata_text_ = text_of(row.get(), 0);
}

/// Visits every row but not its data: counts, times, and whether the tree is sound.
Status SqliteStorage::read_rows() {
  const Statement rows = prepare("SELECT id, topic_id, timestamp FROM messages NOT INDEXED ORDER BY id");
  if (!rows) return error();
  std::int64_t last_ns = INT64_MIN;
  std::int64_t last_id = INT64_MIN;
  int stepped = SQLITE_DONE;
  while ((stepped = sqlite3_step(rows.get())) == SQLITE_ROW) {
    const std::int64_t id = sqlite3_column_int64(rows.get(), 0);
    const std::int64_t time_ns = sqlite3_column_int64(rows.get(), 2);
    if (id <= last_id && last_id != INT64_MIN) return Error{"row ids do not rise"};
    count(ids_.of(sqlite3_column_int64(rows.get(), 1)), time_ns);
    in_order_ = in_order_ && time_ns >= last_ns;
    last_ns = time_ns;
    last_id = id;
  }
  return stepped == SQLITE_DONE ? Status() : Status(error());
}

Status SqliteStorage::load() {
  Status status = check_header();
  if (status) status = open();
  if (status) status = read_topics();
  if (status) status = read_definitions();
  if (status) status = read_rows();
  if (!status) return status;
  read_metadata();
  if (ids_.missing() > 0) {
    findings_.add({Severity::kDamage, name_, 0,
                   "messages name " + std::to_string(ids_.missing()) + " topics that the table of topics lacks",
                   "kept them without name and type"});
  }
  return {};
}

void SqliteStorage::select(const Selection& selection) {
  selection_ = selection;
  last_id_ = INT64_MIN;
  begin_ = true;
  order_.reset();
  rows_.reset();
  if (in_order_) {
    rows_ = prepare("SELECT id, topic_id, timestamp, data FROM messages NOT INDEXED WHERE id > ?1 ORDER BY id");
    return;
  }
  order_ = prepare("SELECT id FROM messages NOT INDEXED ORDER BY timestamp, id");
  rows_ = prepare("SELECT id, topic_id, timestamp, data FROM messages WHERE id = ?1");
}

void SqliteStorage::lost_row(std::int64_t id) {
  findings_.add({Severity::kDamage, name_, 0, "the row after id " + std::to_string(id) + " cannot be read: " + error().message,
                 "went on with the next"});
}

/// The next row, or null at the end; rows that SQLite cannot read are stepped over.
sqlite3_stmt* SqliteStorage::step() {
  sqlite3_stmt* rows = rows_.get();
  if (rows == nullptr) return nullptr;
  if (order_) {
    while (sqlite3_step(order_.get()) == SQLITE_ROW) {
      const std::int64_t id = sqlite3_column_int64(order_.get(), 0);
      sqlite3_reset(rows);
      sqlite3_bind_int64(rows, 1, id);
      if (sqlite3_step(rows) == SQLITE_ROW) return rows;
      lost_row(id - 1);
    }
    return nullptr;
  }
  constexpr int kMostInARow = 1000;
  for (int failed = 0; failed < kMostInARow; ++failed) {
    if (begin_) {
      sqlite3_reset(rows);
      sqlite3_bind_int64(rows, 1, last_id_);
      begin_ = false;
    }
    const int stepped = sqlite3_step(rows);
    if (stepped == SQLITE_DONE) return nullptr;
    if (stepped == SQLITE_ROW) {
      last_id_ = sqlite3_column_int64(rows, 0);
      return rows;
    }
    lost_row(last_id_);
    last_id_ = std::max<std::int64_t>(last_id_, 0) + 1;
    begin_ = true;
  }
  return nullptr;
}

const BagMessage* SqliteStorage::next() {
  while (sqlite3_stmt* row = step()) {
    const std::int64_t time_ns = sqlite3_column_int64(row, 2);
    const std::size_t topic = ids_.of(sqlite3_column_int64(row, 1));
    if (topic >= selection_.topics.size() || !selection_.topics[topic] || !selection_.holds(time_ns)) continue;
    const void* data = sqlite3_column_blob(row, 3);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(row, 3));
    if (size > 0 && data == nullptr) {
      lost_row(sqlite3_column_int64(row, 0) - 1);
      continue;
    }
    message_.topic = topic;
    message_.log_time = message_.publish_time = {time_ns};
    message_.data = Bytes(static_cast<const std::uint8_t*>(data), size);
    return &message_;
  }
  return nullptr;
}

/// What the pages of a damaged file still hold.
class SalvagedStorage final : public Storage {
 public:
  SalvagedStorage(std::unique_ptr<ByteSource> source, std::string name, Findings& findings, const std::string& why)
      : source_(std::move(source)), name_(std::move(name)), findings_(findings), ids_(topics_), walker_(*source_) {
    walker_.walk();
    for (const SalvagedTopic& row : walker_.topics()) {
      Topic topic;
      const auto column = [&](std::size_t k) { return k < row.columns.size() ? row.columns[k] : std::string(); };
      topic.name = column(0);
      topic.type = column(1);
      topic.encoding = column(2);
      topic.qos = column(3);
      topic.type_hash = column(4);
      ids_.add(row.id, std::move(topic));
    }
    for (const SalvagedDefinition& definition : walker_.definitions()) {
      for (Topic& topic : topics_) {
        if (is_defined_by(topic.type, normalised_type(definition.type)))
          topic.schema_encoding = definition.encoding, topic.schema = definition.text;
      }
    }
    for (const SalvagedRow& row : walker_.rows()) count(ids_.of(row.topic_id), row.timestamp_ns);
    std::string kept = std::to_string(walker_.rows().size()) + " messages from its " + std::to_string(walker_.pages()) + " pages";
    if (walker_.rows_cut() > 0) kept += "; " + std::to_string(walker_.rows_cut()) + " messages are cut off";
    if (ids_.missing() > 0) kept += "; the names of " + std::to_string(ids_.missing()) + " topics are lost";
    findings_.add({Severity::kDamage, name_, 0, "the database is damaged: " + why, "recovered " + kept});
  }

  void select(const Selection& selection) override {
    selection_ = selection;
    next_ = 0;
  }

  const BagMessage* next() override {
    while (next_ < walker_.rows().size()) {
      const SalvagedRow& row = walker_.rows()[next_++];
      const std::size_t topic = ids_.of(row.topic_id);
      if (!selection_.topics[topic] || !selection_.holds(row.timestamp_ns)) continue;
      if (!walker_.read_data(row, data_)) continue;
      message_.topic = topic;
      message_.log_time = message_.publish_time = {row.timestamp_ns};
      message_.data = data_;
      return &message_;
    }
    return nullptr;
  }

 private:
  std::unique_ptr<ByteSource> source_;
  std::string name_;
  Findings& findings_;
  TopicIds ids_;
  PageWalker walker_;
  Selection selection_;
  std::size_t next_ = 0;
  Buffer data_;
  BagMessage message_;
};

/// A file in which there is nothing to find.
class NoStorage final : public Storage {
 public:
  void select(const Selection& /*selection*/) override {}
  const BagMessage* next() override { return nullptr; }
};

}  // namespace

std::unique_ptr<Storage> open_sqlite(const std::string& path, std::string name, Findings& findings) {
  auto source = open_source(path);
  if (!source || (*source)->size() == 0) {
    findings.add({Severity::kDamage, name, 0, source ? "the file is empty (0 bytes)" : source.error().message, ""});
    return std::make_unique<NoStorage>();
  }
  auto storage = std::make_unique<SqliteStorage>(path, name, findings);
  const Status loaded = storage->load();
  if (loaded) return storage;
  storage.reset();
  auto wal = open_source(path + "-wal");
  if (wal) *source = std::make_unique<WalSource>(std::move(*source), std::move(*wal));
  return std::make_unique<SalvagedStorage>(std::move(*source), std::move(name), findings, loaded.error().message);
}

}  // namespace pitwall::recording
