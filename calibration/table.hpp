// SPDX-License-Identifier: Apache-2.0
// A car profile as people read it: least trusted values first.
#pragma once

#include <string>
#include <vector>

#include "calibration/car_profile.hpp"

namespace pitwall::calibration {

/// The entries by provenance (STOCK, ESTIMATED, SPEC, DERIVED, MEASURED), by name within one.
std::vector<Entry> least_trusted_first(const CarProfile& profile);

/// An entry's value as text: numbers with 5 significant digits, lists in brackets.
std::string value_text(const Entry& entry);

/// The table: a heading per provenance, a line per entry with name, value, unit and source; the last line counts STOCK.
std::string to_table(const CarProfile& profile);

}  // namespace pitwall::calibration
