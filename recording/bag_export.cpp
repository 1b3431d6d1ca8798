// SPDX-License-Identifier: Apache-2.0
#include "recording/bag_export.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <system_error>

#include "recording/bag_decoder.hpp"
#include "ros_messages/dynamic.hpp"

namespace pitwall::recording {

namespace {

constexpr std::uint64_t kExportProgressEvery = 1024;
constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

void append_hex(Bytes bytes, std::string& out) {
  for (const std::uint8_t byte : bytes) (out += "0123456789abcdef"[byte >> 4U]) += "0123456789abcdef"[byte & 15U];
}

void note_broken(ExportCounts& counts, const Topic& topic, const std::string& why) {
  if (counts.broken++ == 0) counts.first_error = topic.name + ": " + why;
}

/// A file that is written beside its name and put there by finish().
class RowFile {
 public:
  RowFile(std::filesystem::path path, const std::vector<std::string>& columns) : path_(std::move(path)), part_(path_.string() + ".part") {
    file_.reset(std::fopen(part_.c_str(), "wb"));
    rows_ = "log_time_ns";
    for (const std::string& column : columns) rows_ += "," + ros_messages::csv_cell(column);
    rows_ += '\n';
  }
  ~RowFile() {
    std::error_code ignored;
    if (file_ != nullptr) std::filesystem::remove(part_, ignored);
  }
  RowFile(const RowFile&) = delete;
  RowFile& operator=(const RowFile&) = delete;

  std::string& rows() { return rows_; }
  Status flush(std::size_t from) {
    if (rows_.size() < from) return {};
    if (file_ == nullptr || std::fwrite(rows_.data(), 1, rows_.size(), file_.get()) != rows_.size())
      return Error{part_.string() + ": cannot be written"};
    rows_.clear();
    return {};
  }
  Status finish() {
    if (Status flushed = flush(0); !flushed) return flushed;
    std::error_code code;
    if (std::fclose(file_.release()) != 0) return Error{part_.string() + ": cannot be written"};
    std::filesystem::rename(part_, path_, code);
    if (code) return Error{path_.string() + ": cannot be written: " + code.message()};
    return {};
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::filesystem::path path_;
  std::filesystem::path part_;
  std::unique_ptr<std::FILE, Close> file_;
  std::string rows_;
};

/// "/drive/raw" to "drive_raw", what a file system may not like to '_', and never a name that is taken.
std::string file_name(const std::string& topic, std::set<std::string>& taken) {
  std::string name;
  for (const char c : topic) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    if (!name.empty() || plain) name += plain ? c : '_';
  }
  if (name.empty()) name = "topic";
  std::string unique = name.substr(0, 200);
  for (int i = 2; !taken.insert(unique).second; ++i) unique = name.substr(0, 200) + "_" + std::to_string(i);
  return unique + ".csv";
}

/// What is being written for one topic.
struct Table {
  CsvFile file;
  std::unique_ptr<RowFile> rows;
};

Result<std::vector<Table>> open_tables(const BagReader& reader, const BagDecoder& decoder, const std::filesystem::path& folder) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) return Error{folder.string() + ": cannot be made: " + code.message()};
  std::set<std::string> taken;
  std::vector<Table> tables;
  for (std::size_t i = 0; i < reader.topics().size(); ++i) {
    Table table;
    table.file.topic = reader.topics()[i].name;
    table.file.why_not = decoder.why_not(i);
    const ros_messages::Definition* definition = reader.wanted(i) ? decoder.definition(i) : nullptr;
    if (definition != nullptr) {
      const auto columns = ros_messages::csv_columns(*definition);
      if (columns) {
        table.file.path = folder / file_name(table.file.topic, taken);
        table.rows = std::make_unique<RowFile>(table.file.path, *columns);
        if (Status opened = table.rows->flush(0); !opened) return opened.error();
      } else {
        table.file.why_not = columns.error().message;
      }
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace

ExportCounts write_json_lines(BagReader& reader, std::uint64_t limit, const std::function<void(std::string_view)>& out,
                              const BagProgress& progress) {
  const BagDecoder decoder(reader.topics());
  ExportCounts counts;
  std::string line;
  while (counts.written < limit) {
    const BagMessage* message = reader.next();
    if (message == nullptr) break;
    const Topic& topic = reader.topics()[message->topic];
    line = "{\"log_time\":" + std::to_string(message->log_time.ns) + ",\"topic\":" + ros_messages::json_string(topic.name) +
           ",\"type\":" + ros_messages::json_string(topic.type) + ",\"message\":";
    std::string why = decoder.why_not(message->topic);
    if (const ros_messages::Definition* definition = decoder.definition(message->topic)) {
      const Status appended = ros_messages::append_json(*definition, as_text(message->data), line);
      if (!appended) note_broken(counts, topic, why = appended.error().message);
    } else {
      ++counts.opaque;
    }
    if (!why.empty()) {
      line += "null,\"error\":" + ros_messages::json_string(why) + ",\"bytes\":\"";
      append_hex(message->data, line);
      line += '"';
    }
    line += "}\n";
    out(line);
    ++counts.written;
    if (progress && counts.written % kExportProgressEvery == 0 && !progress(counts.written, std::min(limit, reader.message_count()))) {
      counts.complete = false;
      break;
    }
  }
  return counts;
}

Result<std::vector<CsvFile>> export_csv(BagReader& reader, const std::filesystem::path& folder, ExportCounts& counts,
                                        const BagProgress& progress) {
  const BagDecoder decoder(reader.topics());
  Result<std::vector<Table>> tables = open_tables(reader, decoder, folder);
  if (!tables) return tables.error();
  std::uint64_t seen = 0;
  while (const BagMessage* message = reader.next()) {
    Table& table = (*tables)[message->topic];
    const Topic& topic = reader.topics()[message->topic];
    if (table.rows == nullptr) {
      ++counts.opaque;
    } else {
      std::string& rows = table.rows->rows();
      const std::size_t before = rows.size();
      rows += std::to_string(message->log_time.ns);
      const std::size_t cells = rows.size();
      rows += ',';
      const Status appended = ros_messages::append_csv(*decoder.definition(message->topic), as_text(message->data), rows);
      if (appended) {
        if (rows.size() == cells + 1 && decoder.definition(message->topic)->root().fields.empty()) rows.resize(cells);
        rows += '\n';
        ++table.file.rows;
        ++counts.written;
      } else {
        rows.resize(before);
        note_broken(counts, topic, appended.error().message);
      }
      if (Status flushed = table.rows->flush(kBufferBytes); !flushed) return flushed.error();
    }
    if (progress && ++seen % kExportProgressEvery == 0 && !progress(seen, reader.message_count())) {
      counts.complete = false;
      break;
    }
  }
  std::vector<CsvFile> files;
  for (std::size_t i = 0; i < tables->size(); ++i) {
    Table& table = (*tables)[i];
    if (table.rows != nullptr) {
      if (Status finished = table.rows->finish(); !finished) return finished.error();
    }
    if (reader.wanted(i)) files.push_back(table.file);
  }
  return files;
}

}  // namespace pitwall::recording
