// SPDX-License-Identifier: Apache-2.0
#include "analysis/document.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace pitwall::analysis {

namespace {

using Json = nlohmann::ordered_json;

std::string shown(const Cell& cell) {
  switch (cell.kind) {
    case Cell::Kind::kNumber: {
      if (std::isinf(cell.number)) return cell.number > 0.0 ? "none" : "-";
      if (std::isnan(cell.number)) return "-";
      char digits[64];
      std::snprintf(digits, sizeof digits, "%.*f", cell.digits, cell.number);
      return digits;
    }
    case Cell::Kind::kText:
      return cell.text;
    case Cell::Kind::kFlag:
      return cell.flag ? "yes" : "no";
    case Cell::Kind::kNone:
      break;
  }
  return "-";
}

Json json_of(const Cell& cell) {
  switch (cell.kind) {
    case Cell::Kind::kNumber:
      if (!std::isfinite(cell.number)) return nullptr;
      if (cell.digits == 0 && cell.number == std::floor(cell.number)) return static_cast<std::int64_t>(cell.number);
      return cell.number;
    case Cell::Kind::kText:
      return cell.text;
    case Cell::Kind::kFlag:
      return cell.flag;
    case Cell::Kind::kNone:
      break;
  }
  return nullptr;
}

void add(std::string& out, const Table& table) {
  out += "**" + table.title + "**";
  out += table.how_to_read.empty() ? "\n\n" : " - " + table.how_to_read + "\n\n";
  if (table.rows.empty()) {
    out += "none\n\n";
    return;
  }
  // Cells of a column are of one width, so that the text is as readable as what is rendered from it.
  std::vector<std::vector<std::string>> lines(1 + table.rows.size());
  for (const Column& column : table.columns) lines[0].push_back(column.title);
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    for (const Cell& cell : table.rows[r]) lines[r + 1].push_back(shown(cell));
  }
  std::vector<std::size_t> width(table.columns.size(), 3);
  for (const auto& line : lines) {
    for (std::size_t c = 0; c < line.size(); ++c) width[c] = std::max(width[c], line[c].size());
  }
  for (std::size_t r = 0; r < lines.size(); ++r) {
    out += "|";
    for (std::size_t c = 0; c < lines[r].size(); ++c) out += " " + lines[r][c] + std::string(width[c] - lines[r][c].size(), ' ') + " |";
    out += "\n";
    if (r > 0) continue;
    out += "|";
    for (const std::size_t each : width) out += std::string(each + 2, '-') + "|";
    out += "\n";
  }
  out += "\n";
}

}  // namespace

Cell number(double value, int digits) {
  Cell cell;
  cell.kind = Cell::Kind::kNumber;
  cell.number = value;
  cell.digits = digits;
  return cell;
}
Cell count(std::size_t value) { return number(static_cast<double>(value), 0); }
Cell text(std::string value) {
  Cell cell;
  cell.kind = Cell::Kind::kText;
  cell.text = std::move(value);
  return cell;
}
Cell flag(bool value) {
  Cell cell;
  cell.kind = Cell::Kind::kFlag;
  cell.flag = value;
  return cell;
}
Cell nothing() { return {}; }

std::string to_markdown(const Document& document) {
  std::string out = "# " + document.title + "\n\n";
  for (const std::string& warning : document.warnings) out += "- **warning**: " + warning + "\n";
  if (!document.warnings.empty()) out += "\n";
  for (const Section& section : document.sections) {
    out += "## " + section.title + "\n\n";
    for (const std::string& note : section.notes) out += "- " + note + "\n";
    if (!section.notes.empty()) out += "\n";
    for (const Fact& fact : section.facts) out += "- " + fact.title + ": " + shown(fact.value) + "\n";
    if (!section.facts.empty()) out += "\n";
    for (const Table& table : section.tables) add(out, table);
    for (const std::string& picture : section.pictures) out += "![" + section.title + "](" + picture + ")\n\n";
  }
  return out;
}

std::string to_json(const Document& document) {
  Json json;
  json["title"] = document.title;
  json["warnings"] = document.warnings;
  json["sections"] = Json::array();
  for (const Section& section : document.sections) {
    Json each;
    each["key"] = section.key;
    each["title"] = section.title;
    each["notes"] = section.notes;
    for (const Fact& fact : section.facts) each[fact.key] = json_of(fact.value);
    for (const Table& table : section.tables) {
      Json rows = Json::array();
      for (const auto& row : table.rows) {
        Json line;
        for (std::size_t c = 0; c < row.size(); ++c) line[table.columns[c].key] = json_of(row[c]);
        rows.push_back(std::move(line));
      }
      each[table.key] = std::move(rows);
    }
    if (!section.pictures.empty()) each["pictures"] = section.pictures;
    json["sections"].push_back(std::move(each));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pitwall::analysis
