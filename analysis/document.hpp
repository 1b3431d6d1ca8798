// SPDX-License-Identifier: Apache-2.0
// A report as data: sections of notes, facts and tables, written once and rendered as Markdown for people and as JSON for programs, so
// that every number of the one is in the other.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace pitwall::analysis {

/// One value of a report. A number that is not finite is "-" for people and null for programs.
struct Cell {
  enum class Kind { kNone, kNumber, kText, kFlag };
  Kind kind = Kind::kNone;
  double number = NAN;
  int digits = 3;
  std::string text;
  bool flag = false;
};
/// `digits` behind the point, as people read it; programs get the number itself.
Cell number(double value, int digits = 3);
Cell count(std::size_t value);
Cell text(std::string value);
/// "yes" or "no".
Cell flag(bool value);
Cell nothing();

struct Column {
  std::string key;    ///< "clear_m", in JSON
  std::string title;  ///< "clear way [m]"
};

struct Table {
  std::string key;
  std::string title;
  std::string how_to_read;  ///< one line
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

struct Fact {
  std::string key;
  std::string title;
  Cell value;
};

struct Section {
  std::string key;
  std::string title;
  std::vector<std::string> notes;  ///< what is to be known before the numbers
  std::vector<Fact> facts;
  std::vector<Table> tables;
  std::vector<std::string> pictures;  ///< files, relative to the report
};

struct Document {
  std::string title;
  std::vector<std::string> warnings;
  std::vector<Section> sections;
};

std::string to_markdown(const Document& document);
/// {"title", "warnings", "sections": [{"key", "title", "notes", facts by key, tables by key as lists of rows by column key, "pictures"}]}.
std::string to_json(const Document& document);

}  // namespace pitwall::analysis
