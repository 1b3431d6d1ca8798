// SPDX-License-Identifier: Apache-2.0
#include "recording/csv_table.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace pitwall;
using namespace pitwall::recording;

TEST_CASE("comments, an unnamed row number, blanks and a cut last line") {
  const auto table = parse_csv("# made by a car\n\n,s, V \r\n0,1,2.5\r\n1,2,fast\n2,3", "log.csv");
  REQUIRE_MESSAGE(table.ok(), table.error().message);
  CHECK(table->columns == std::vector<std::string>{"", "s", "V"});
  REQUIRE(table->rows() == 2);
  CHECK(table->all("V")[0] == 2.5);
  CHECK(std::isnan(table->at(1, 2)));
  CHECK(table->all("W").empty());
  CHECK(table->left_out == 1);
  CHECK(table->first_left_out == 6);
}

TEST_CASE("what is no table is refused with its file and line") {
  CHECK(parse_csv("", "a.csv").error().message == "a.csv: there is no table in it");
  CHECK(parse_csv("# only\n", "a.csv").error().message == "a.csv: there is no table in it");
  CHECK(parse_csv("#\n1,2\n3,4\n", "a.csv").error().message == "a.csv:2: no column names before the first numbers");
  CHECK(parse_csv("t,v\n", "a.csv").error().message == "a.csv: there are no rows below the column names");
  CHECK(parse_csv("t,t\n1,2\n", "a.csv").error().message == "a.csv:1: column 't' twice");
  CHECK(parse_csv("t,v\n1,2\n1\n1\n", "a.csv").error().message.starts_with("a.csv:3: most lines"));
}
