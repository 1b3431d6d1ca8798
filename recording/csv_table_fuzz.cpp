// SPDX-License-Identifier: Apache-2.0
// Any text is a table or an error, and every cell of a table can be read.
#include <cstdint>
#include <string_view>

#include "core/check.hpp"
#include "recording/csv_table.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pitwall::recording;
  const auto table = parse_csv({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!table) return 0;
  PITWALL_CHECK(table->rows() > 0 && table->values.size() == table->rows() * table->columns.size(), "fuzz");
  for (const std::string& name : table->columns) PITWALL_CHECK(table->all(name).size() == table->rows(), name);
  return 0;
}
