// SPDX-License-Identifier: Apache-2.0
#include "recording/metadata.hpp"

#include <doctest/doctest.h>

#include <string>

namespace pitwall::recording {
namespace {

std::string message_of(const std::string& text) {
  const auto parsed = parse_metadata(text, "metadata.yaml");
  return parsed ? std::string() : parsed.error().message;
}

}  // namespace

TEST_CASE("version 1: no compression, no QoS, no files") {
  const auto read = parse_metadata(
      "rosbag2_bagfile_information:\n  version: 1\n  storage_identifier: sqlite3\n  relative_file_paths: [bag_0.db3]\n  duration: "
      "{nanoseconds: 5}\n"
      "  starting_time: {nanoseconds_since_epoch: 7}\n  message_count: 3\n  topics_with_message_count:\n    - topic_metadata: {name: /a, "
      "type: "
      "std_msgs/String, serialization_format: cdr}\n      message_count: 3\n",
      "metadata.yaml");
  REQUIRE(read.ok());
  CHECK(read->version == 1);
  CHECK(read->paths == std::vector<std::string>{"bag_0.db3"});
  CHECK(read->duration.ns == 5);
  CHECK(read->start.ns == 7);
  REQUIRE(read->topics.size() == 1);
  CHECK(read->topics[0].type == "std_msgs/msg/String");
  CHECK(read->topics[0].message_count == 3);
}

TEST_CASE("QoS as numbers in a string (4 to 8) and as a list with words (9) mean the same") {
  for (const char* qos : {R"("- history: 3\n  durability: 1")", "[{history: unknown, durability: transient_local}]"}) {
    const auto read =
        parse_metadata(std::string("rosbag2_bagfile_information:\n  topics_with_message_count:\n    - topic_metadata:\n        name: "
                                   "/map\n        offered_qos_profiles: ") +
                           qos + "\n      message_count: 0\n",
                       "metadata.yaml");
    REQUIRE(read.ok());
    CHECK(read->topics.at(0).latched);
  }
}

TEST_CASE("what is written is read back, also awkward names; a second writing is the same text") {
  BagMetadata metadata;
  metadata.storage = "mcap";
  metadata.start = {1'000};
  metadata.duration = {2'000};
  metadata.message_count = 4;
  Topic topic;
  topic.name = "/a \"quoted\" \\ name\n";
  topic.type = "std_msgs/msg/String";
  topic.type_hash = "RIHS01_ff";
  topic.message_count = 4;
  metadata.topics = {topic};
  metadata.topics.push_back(topic);
  metadata.topics[1].latched = true;
  metadata.paths = {"bag_0.mcap", "bag_1.mcap"};
  metadata.files = {{"bag_0.mcap", {1'000}, {500}, 1}, {"bag_1.mcap", {1'500}, {1'500}, 3}};
  metadata.custom_data = {{"dropped:/a", "17"}};
  metadata.ros_distro = "jazzy";
  for (const int version : {9, 5}) {
    metadata.version = version;
    const std::string text = compose_metadata(metadata);
    const auto read = parse_metadata(text, "metadata.yaml");
    REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.error().message));
    CHECK(read->version == version);
    CHECK(read->topics.at(0).name == topic.name);
    CHECK_FALSE(read->topics.at(0).latched);
    CHECK(read->topics.at(1).latched);
    CHECK(read->files.size() == 2);
    CHECK(read->files.at(1).start.ns == 1'500);
    CHECK(read->files.at(1).message_count == 3);
    CHECK(read->paths == metadata.paths);
    CHECK(read->custom_data.size() == (version == 9 ? 1 : 0));
    CHECK(compose_metadata(*read) == text);
  }
}

TEST_CASE("QoS converts both ways, whatever the keys' order; what is no list becomes the default") {
  const std::string words =
      "- history: keep_last\n  depth: 5\n  reliability: best_effort\n  durability: volatile\n  deadline:\n    sec: 1\n    nsec: 2\n";
  const std::string numbers = "- history: 1\n  depth: 5\n  reliability: 2\n  durability: 2\n  deadline:\n    sec: 1\n    nsec: 2\n";
  CHECK(qos_in_words(numbers, false) == words);
  CHECK(qos_in_numbers(words, false) == numbers);
  CHECK(qos_in_words(words, false) == words);
  CHECK(qos_in_words("", true).find("durability: transient_local") != std::string::npos);
  CHECK(qos_in_words("", false).find("durability: volatile") != std::string::npos);
  CHECK(qos_in_words("{broken", true) == qos_in_words("", true));
}

TEST_CASE("QoS with any odd word for a key, a value or a unit is written so that it reads again") {  // found by metadata_fuzz: "sec: -"
  constexpr std::string_view kSigns = "-._~1aN:#?";
  std::vector<std::string> words = {"null", "NULL", "~", "true", ".inf", "-.inf", "---", "...", "-1", "1e3", "<<", "=", "-0x1"};
  for (const char a : kSigns) {
    words.emplace_back(1, a);
    for (const char b : kSigns) {
      words.push_back({a, b});
      for (const char c : kSigns) words.push_back({a, b, c});
    }
  }
  int kept = 0;
  for (const std::string& word : words) {
    CAPTURE(word);
    for (const std::string& qos : {"- history: \"" + word + "\"\n", "- \"" + word + "\": 1\n", "- deadline:\n    sec: \"" + word + "\"\n",
                                   "- deadline:\n    \"" + word + "\": 1\n"}) {
      BagMetadata metadata;
      metadata.topics.emplace_back();
      metadata.topics[0].qos = qos;
      const std::string text = compose_metadata(metadata);
      const auto read = parse_metadata(text, "metadata.yaml");
      REQUIRE_MESSAGE(read.ok(), read.error().message);
      CHECK(compose_metadata(*read) == text);
      kept += text.find(word) != std::string::npos && text.find("lifespan") == std::string::npos ? 1 : 0;
    }
  }
  CHECK(kept > 500);  // plain words are not lost to the default
}

TEST_CASE("metadata that is none names line and key") {
  CHECK(message_of("other: 1\n") == "metadata.yaml: has no rosbag2_bagfile_information");
  CHECK(message_of("rosbag2_bagfile_information:\n  version: nine\n") == "metadata.yaml:2: version must be a whole number");
  CHECK(message_of("rosbag2_bagfile_information:\n  version: 4\n  message_count: -1\n") ==
        "metadata.yaml:3: message_count must be a count of 0 or more");
  CHECK(message_of("rosbag2_bagfile_information:\n  topics_with_message_count: 3\n").find("must be a list") != std::string::npos);
  CHECK_FALSE(message_of(": : :").empty());
}

}  // namespace pitwall::recording
