// SPDX-License-Identifier: Apache-2.0
#include "recording/csv_table.hpp"

#include <algorithm>
#include <cmath>

#include "core/text.hpp"

namespace pitwall::recording {

namespace {

Status read_names(std::string_view line, std::size_t number, CsvTable& table) {
  bool named = false;
  for (const std::string_view cell : split(line, ',')) {
    if (!cell.empty() && table.has(cell)) {
      return Error{table.name + ":" + std::to_string(number) + ": column '" + std::string(cell) + "' twice"};
    }
    named = named || (!cell.empty() && !parse_double(cell));
    table.columns.emplace_back(cell);
  }
  if (!named) return Error{table.name + ":" + std::to_string(number) + ": no column names before the first numbers"};
  return {};
}

}  // namespace

std::optional<std::size_t> CsvTable::column(std::string_view column_name) const {
  const auto found = std::find(columns.begin(), columns.end(), column_name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

std::vector<double> CsvTable::all(std::string_view column_name) const {
  std::vector<double> values_of;
  const auto index = column(column_name);
  for (std::size_t row = 0; index && row < rows(); ++row) values_of.push_back(at(row, *index));
  return values_of;
}

Result<CsvTable> parse_csv(std::string_view text, const std::string& name) {
  CsvTable table;
  table.name = name;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trim(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    ++number;
    if (line.empty() || line.front() == '#') continue;
    if (table.columns.empty()) {
      if (const Status read = read_names(line, number, table); !read) return read.error();
      continue;
    }
    const std::vector<std::string_view> cells = split(line, ',');
    if (cells.size() != table.columns.size()) {
      if (table.left_out++ == 0) table.first_left_out = number;
      continue;
    }
    for (const std::string_view cell : cells) table.values.push_back(parse_double(cell).value_or(NAN));
  }
  if (table.columns.empty()) return Error{name + ": there is no table in it"};
  if (table.rows() == 0) return Error{name + ": there are no rows below the column names"};
  if (table.left_out > table.rows()) {
    return Error{name + ":" + std::to_string(table.first_left_out) +
                 ": most lines have another number of cells than there are column names"};
  }
  return table;
}

}  // namespace pitwall::recording
