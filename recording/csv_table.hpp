// SPDX-License-Identifier: Apache-2.0
// Logs as tables of numbers: comma-separated text (RFC 4180 without quoting, which no log of numbers needs), with comments that begin
// with '#' and one line of column names.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace pitwall::recording {

struct CsvTable {
  std::string name;                  ///< of the file, for messages
  std::vector<std::string> columns;  ///< the first may be empty: a row number
  std::vector<double> values;        ///< rows() x columns.size(), row after row; NaN where a cell is no number
  std::size_t left_out = 0;          ///< lines with another number of cells than there are columns
  std::size_t first_left_out = 0;    ///< line number of the first of them

  [[nodiscard]] std::size_t rows() const { return columns.empty() ? 0 : values.size() / columns.size(); }
  [[nodiscard]] std::optional<std::size_t> column(std::string_view column_name) const;
  [[nodiscard]] bool has(std::string_view column_name) const { return column(column_name).has_value(); }
  [[nodiscard]] double at(std::size_t row, std::size_t column_index) const { return values[row * columns.size() + column_index]; }
  /// A whole column; empty where there is none of that name.
  [[nodiscard]] std::vector<double> all(std::string_view column_name) const;
};

/// Errors: no line of names, a name twice, no line of numbers, more lines left out than read.
Result<CsvTable> parse_csv(std::string_view text, const std::string& name);

}  // namespace pitwall::recording
