// SPDX-License-Identifier: Apache-2.0
#include "calibration/table.hpp"

#include <doctest/doctest.h>

namespace pitwall::calibration {
namespace {

Entry entry(std::string name, std::string value, Provenance provenance) {
  Entry made;
  made.name = std::move(name);
  made.value = Node(std::move(value));
  made.unit = "m";
  made.provenance = provenance;
  made.source = "here";
  return made;
}

CarProfile mixed() {
  CarProfile car;
  car.id = "mixed";
  car.entries = {entry("c", "0.36", Provenance::kMeasured), entry("z", "5.039011703", Provenance::kStock),
                 entry("b", "1", Provenance::kDerived),     entry("a", "2", Provenance::kSpec),
                 entry("k", "abc", Provenance::kEstimated), entry("y", "-0.26337041", Provenance::kStock)};
  return car;
}

}  // namespace

TEST_CASE("the least trusted values come first, by name within a provenance") {
  std::string order;
  for (const Entry& e : least_trusted_first(mixed())) order += e.name;
  CHECK(order == "yzkabc");
}

TEST_CASE("values have five significant digits and lists their brackets") {
  CHECK(value_text(entry("x", "5.039011703", Provenance::kStock)) == "5.039");
  CHECK(value_text(entry("x", "-0.26337041", Provenance::kStock)) == "-0.26337");
  CHECK(value_text(entry("x", "192.168.0.10", Provenance::kStock)) == "192.168.0.10");
  Entry list = entry("x", "", Provenance::kStock);
  list.value = Node::list({Node("01"), Node("2")});
  CHECK(value_text(list) == "[01, 2]");
}

TEST_CASE("the table heads each provenance and ends with the count that is STOCK") {
  const std::string table = to_table(mixed());
  std::size_t at = 0;
  for (const char* heading : {"STOCK (2)", "ESTIMATED (1)", "SPEC (1)", "DERIVED (1)", "MEASURED (1)"}) {
    const std::size_t found = table.find(heading);
    CAPTURE(heading);
    REQUIRE(found != std::string::npos);
    CHECK(found > at);
    at = found;
  }
  CHECK(table.find("  c  0.36      m  here\n") != std::string::npos);
  const std::string last = "\n2 of 6 values are STOCK\n";
  CHECK(table.substr(table.size() - last.size()) == last);
}

}  // namespace pitwall::calibration
