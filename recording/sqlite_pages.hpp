// SPDX-License-Identifier: Apache-2.0
// Rows out of a damaged rosbag2 database, without SQLite: every page of the file that is a leaf of a table is looked at by
// itself (https://www.sqlite.org/fileformat2.html), so neither header nor inner pages are needed. A row belongs to
// `messages` or `topics` by the types of its columns; nothing else in a rosbag2 database looks like either.
#pragma once

#include <string>
#include <vector>

#include "recording/byte_source.hpp"

namespace pitwall::recording {

/// A row of `messages`, and where it lies.
struct SalvagedRow {
  std::int64_t id = 0;
  std::int64_t topic_id = 0;
  std::int64_t timestamp_ns = 0;
  std::uint32_t page = 0;  ///< from 1
  std::uint32_t cell = 0;  ///< offset in the page
};

/// A row of `topics`.
struct SalvagedTopic {
  std::int64_t id = 0;
  std::vector<std::string> columns;  ///< name, type, serialization format, QoS, hash: as many as there are
};

/// A row of `message_definitions`.
struct SalvagedDefinition {
  std::string type;
  std::string encoding;
  std::string text;
};

class PageWalker {
 public:
  /// `source` must outlive it.
  explicit PageWalker(ByteSource& source);

  /// Looks at every page. Rows come out by (timestamp, id).
  void walk();
  [[nodiscard]] const std::vector<SalvagedRow>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<SalvagedTopic>& topics() const { return topics_; }
  [[nodiscard]] const std::vector<SalvagedDefinition>& definitions() const { return definitions_; }
  /// Message rows whose data are no longer all in the file.
  [[nodiscard]] std::uint64_t rows_cut() const { return cut_; }
  [[nodiscard]] std::uint64_t pages() const { return page_count_; }
  /// The data of a row; false where the file changed under us.
  bool read_data(const SalvagedRow& row, Buffer& into);

 private:
  struct Column {
    std::uint64_t type = 0;
    std::uint64_t at = 0;  ///< in the payload
    std::uint64_t size = 0;
  };
  struct Cell {
    std::int64_t row_id = 0;
    std::uint64_t size = 0;    ///< of the payload
    std::size_t local_at = 0;  ///< in the page
    std::size_t local_size = 0;
    std::uint32_t overflow = 0;  ///< first overflow page, or 0
    std::vector<Column> columns;
  };

  void find_page_size();
  [[nodiscard]] std::size_t leaves_with_page_size(std::size_t page_size);
  void mark_free_pages();
  bool read_page(std::uint32_t page, Buffer& into);
  bool parse_cell(const Buffer& page, std::size_t at, Cell& cell) const;
  bool parse_columns(Bytes header, Cell& cell) const;
  bool read_payload(const Buffer& page, const Cell& cell, std::uint64_t from, std::uint64_t count, Buffer* into);
  bool take_page(std::uint32_t number);
  void take_cell(std::uint32_t number, std::size_t at, const Cell& cell);
  [[nodiscard]] std::int64_t integer(const Buffer& page, const Cell& cell, const Column& column) const;
  bool texts(const Cell& cell, std::vector<std::string>& into);

  ByteSource& source_;
  std::size_t page_size_ = 0;
  std::size_t usable_ = 0;  ///< page size less what is reserved at the end of each
  std::uint64_t page_count_ = 0;
  std::vector<bool> free_;
  Buffer page_;
  Buffer overflow_;
  std::vector<SalvagedRow> rows_;
  std::vector<SalvagedTopic> topics_;
  std::vector<SalvagedDefinition> definitions_;
  std::uint64_t cut_ = 0;
  std::uint64_t overflow_left_ = 0;       ///< overflow pages that rows may still be followed through
  std::uint64_t text_left_ = 64U << 20U;  ///< bytes of topics and definitions still believed; real recordings have less than 1 MiB
};

}  // namespace pitwall::recording
