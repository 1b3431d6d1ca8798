// SPDX-License-Identifier: Apache-2.0
#include "calibration/table.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace pitwall::calibration {
namespace {

std::string scalar_text(const std::string& text) {
  const auto number = parse_double(text);
  return number ? format_number(*number, 5) : text;
}

void append_padded(std::string& out, const std::string& text, std::size_t width) {
  out += text;
  out.append(text.size() < width ? width - text.size() : 0, ' ');
  out += "  ";
}

}  // namespace

std::vector<Entry> least_trusted_first(const CarProfile& profile) {
  std::vector<Entry> entries = profile.entries;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.provenance != b.provenance ? a.provenance < b.provenance : a.name < b.name; });
  return entries;
}

std::string value_text(const Entry& entry) {
  if (!entry.value.is_list()) return scalar_text(entry.value.scalar);
  std::vector<std::string> pieces;
  for (const Node& item : entry.value.items) pieces.push_back(item.scalar);
  return "[" + join(pieces) + "]";
}

std::string to_table(const CarProfile& profile) {
  const std::vector<Entry> entries = least_trusted_first(profile);
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  std::size_t unit_width = 0;
  for (const Entry& entry : entries) {
    name_width = std::max(name_width, entry.name.size());
    value_width = std::max(value_width, value_text(entry).size());
    unit_width = std::max(unit_width, entry.unit.size());
  }
  std::string out = "car " + profile.id + " (" + profile.file.string() + ")\n";
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    if (i == 0 || entries[i - 1].provenance != entry.provenance) {
      out += "\n" + std::string(to_string(entry.provenance)) + " (" + std::to_string(profile.count(entry.provenance)) + ")\n";
    }
    out += "  ";
    append_padded(out, entry.name, name_width);
    append_padded(out, value_text(entry), value_width);
    append_padded(out, entry.unit, unit_width);
    out += entry.source + "\n";
  }
  out += "\n" + std::to_string(profile.stock_count()) + " of " + std::to_string(entries.size()) + " values are STOCK\n";
  return out;
}

}  // namespace pitwall::calibration
