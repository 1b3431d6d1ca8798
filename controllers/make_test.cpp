// SPDX-License-Identifier: Apache-2.0
#include "controllers/make.hpp"

#include <doctest/doctest.h>

#include "tests/support/toy_world.hpp"

using namespace pitwall;

namespace {

std::string refusal(const std::string& name, const std::string& yaml) {
  const auto node = parse_yaml(yaml, "test.yaml");
  REQUIRE(node.ok());
  const auto made = controllers::make(name, *node, toy::car(), nullptr);
  return made.ok() ? "" : made.error().message;
}

}  // namespace

TEST_CASE("gap_follow is made from its name, with defaults or with some parameters") {
  const auto plain = controllers::make("gap_follow", Node{}, toy::car(), nullptr);
  REQUIRE(plain.ok());
  CHECK((*plain)->name() == "gap_follow");
  CHECK(refusal("gap_follow", "max_speed_mps: 1.9\nttc_path_margin_m: 0.07\nenable_deadman: false\n") == "");
}

TEST_CASE("an unknown controller is refused with the nearest name and the known ones") {
  const std::string message = refusal("gap_folow", "{}");
  CHECK(message.find("gap_folow") != std::string::npos);
  CHECK(message.find("did you mean 'gap_follow'") != std::string::npos);
  CHECK_FALSE(controllers::describe("nobody").ok());
}

TEST_CASE("unknown keys, values out of range and impossible combinations are refused") {
  const std::string key = refusal("gap_follow", "max_speed_mps: 1.9\nmax_sped_mps: 1.9\n");
  CHECK(key.find("max_sped_mps") != std::string::npos);
  CHECK(key.find("test.yaml:2") != std::string::npos);
  CHECK(refusal("gap_follow", "max_speed_mps: 40\n").find("max_speed_mps") != std::string::npos);
  CHECK(refusal("gap_follow", "max_speed_mps: fast\n").find("max_speed_mps") != std::string::npos);
  CHECK(refusal("gap_follow", "min_speed_mps: 2.6\n").find("must not be above max_speed_mps") != std::string::npos);
}

TEST_CASE("every controller has a description of parameters with unique names") {
  for (const std::string& name : controllers::names()) {
    const auto rows = controllers::describe(name);
    REQUIRE(rows.ok());
    CHECK(rows->size() > 10);
    for (std::size_t i = 0; i < rows->size(); ++i) {
      CHECK_FALSE((*rows)[i].doc.empty());
      for (std::size_t k = 0; k < i; ++k) CHECK((*rows)[i].name != (*rows)[k].name);
    }
  }
}
