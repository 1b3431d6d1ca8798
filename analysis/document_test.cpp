// SPDX-License-Identifier: Apache-2.0
#include "analysis/document.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

using namespace pitwall::analysis;

TEST_CASE("people and programs read the same numbers; what is not known is a dash and null") {
  Document document;
  document.title = "Title";
  document.warnings = {"careful"};
  Section section{"hold", "Hold 1", {"note"}, {{"lag_s", "lag [s]", number(0.12345, 3)}}, {}, {"a.svg"}};
  Table table{"rows",
              "Rows",
              "how to read",
              {{"name", "name"}, {"value", "value [m]"}, {"n", "n"}, {"sure", "sure"}},
              {{text("x"), number(1.5), count(7), flag(true)},
               {text("longer"), number(NAN), nothing(), flag(false)},
               {text("far"), number(INFINITY), count(0), flag(true)}}};
  section.tables.push_back(table);
  section.tables.push_back({"empty", "Empty", "", {{"a", "a"}}, {}});
  document.sections.push_back(section);

  const std::string markdown = to_markdown(document);
  CHECK(markdown.find("# Title\n") == 0);
  CHECK(markdown.find("**warning**: careful") != std::string::npos);
  CHECK(markdown.find("- lag [s]: 0.123\n") != std::string::npos);
  CHECK(markdown.find("**Rows** - how to read\n\n| name   | value [m] | n   | sure |\n|--------|-----------|-----|------|\n"
                      "| x      | 1.500     | 7   | yes  |\n| longer | -         | -   | no   |\n| far    | none      | 0   | yes  |\n") !=
        std::string::npos);
  CHECK(markdown.find("**Empty**\n\nnone\n") != std::string::npos);
  CHECK(markdown.find("![Hold 1](a.svg)") != std::string::npos);

  const auto json = nlohmann::json::parse(to_json(document));
  CHECK(json["sections"][0]["lag_s"] == 0.12345);
  CHECK(json["sections"][0]["rows"][0]["n"] == 7);
  CHECK(json["sections"][0]["rows"][0]["sure"] == true);
  CHECK(json["sections"][0]["rows"][1]["value"].is_null());
  CHECK(json["sections"][0]["rows"][1]["n"].is_null());
  CHECK(json["sections"][0]["rows"][2]["value"].is_null());
  CHECK(json["sections"][0]["empty"].empty());
  CHECK(json["sections"][0]["pictures"][0] == "a.svg");
  CHECK(json["warnings"][0] == "careful");
}
