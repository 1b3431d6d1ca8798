// SPDX-License-Identifier: Apache-2.0
// Fuzz target: bytes as an .npz file. What is read is written again and reads back the same.
#include <cstddef>
#include <cstdint>
#include <string>

#include "analysis/npz.hpp"
#include "core/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pitwall::analysis;
  const auto read = NpzReader::parse(std::string(reinterpret_cast<const char*>(data), size));
  if (!read) return 0;
  NpzWriter writer;
  for (const std::string& name : read->names()) {
    const std::vector<std::size_t> shape = read->shape(name);
    if (const auto text = read->text(name)) writer.add_text(name, *text);
    if (const auto floats = read->floats(name)) writer.add(name, *floats, shape);
    if (const auto whole = read->integers(name)) writer.add(name, *whole, shape);
    if (const auto doubles = read->doubles(name)) writer.add(name, *doubles, shape);
  }
  const auto written = writer.finish();
  PITWALL_CHECK(written.ok(), size);
  const auto again = NpzReader::parse(*written);
  PITWALL_CHECK(again.ok(), again.error().message);
  PITWALL_CHECK(again->names() == read->names(), size);
  return 0;
}
