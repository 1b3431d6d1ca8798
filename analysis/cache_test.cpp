// SPDX-License-Identifier: Apache-2.0
#include "analysis/cache.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/temp_folder.hpp"

using namespace pitwall;
using namespace pitwall::analysis;

namespace {

namespace fs = std::filesystem;

CacheKey key_of(const fs::path& run, const std::string& parameters = "stride 2") {
  CacheKey key(1);
  REQUIRE(key.add_recording(run).ok());
  key.add("parameters", parameters);
  return key;
}

NpzWriter arrays() {
  NpzWriter writer;
  writer.add("x", std::vector<double>{1.0, 2.0});
  return writer;
}

}  // namespace

TEST_CASE("a cache is used while everything it was made from is the same, and says what changed") {
  const TempFolder folder("cache");
  const fs::path run = folder.path() / "run";
  const fs::path bag = folder.write("run/bag/a.mcap", std::string(3U << 20U, 'a'));
  folder.write("run/run.json", "{}");
  const fs::path file = run / "analysis" / "run.npz";
  CHECK(load_cache(file, key_of(run)).why == "there is none yet");
  REQUIRE(save_cache(file, key_of(run), arrays()).ok());

  const CachedArrays same = load_cache(file, key_of(run));
  REQUIRE(same.arrays.has_value());
  CHECK(same.arrays->doubles("x") == std::vector<double>{1.0, 2.0});
  // What tools write themselves does not count.
  folder.write("run/analysis/report.md", "text");
  CHECK(load_cache(file, key_of(run)).arrays.has_value());

  SUBCASE("other parameters") {
    CHECK(load_cache(file, key_of(run, "stride 3")).why == "it is stale: parameters was 'stride 2', is 'stride 3'");
  }
  SUBCASE("another format") {
    CacheKey key(2);
    REQUIRE(key.add_recording(run).ok());
    key.add("parameters", "stride 2");
    CHECK(load_cache(file, key).why.find("format was '1', is '2'") != std::string::npos);
  }
  SUBCASE("a byte of the bag, with its time put back") {
    const auto time = fs::last_write_time(bag);
    std::string bytes(3U << 20U, 'a');
    bytes[17] = 'b';
    folder.write("run/bag/a.mcap", bytes);
    fs::last_write_time(bag, time);
    CHECK(load_cache(file, key_of(run)).why.find("bag/a.mcap was") != std::string::npos);
  }
  SUBCASE("the time of the bag") {
    fs::last_write_time(bag, fs::last_write_time(bag) + std::chrono::seconds(1));
    CHECK(load_cache(file, key_of(run)).why.find("bag/a.mcap was") != std::string::npos);
  }
  SUBCASE("another file of the bag") {
    folder.write("run/bag/b.mcap", "b");
    CHECK(load_cache(file, key_of(run)).why == "it is stale: bag/b.mcap is new");
  }
  SUBCASE("a file that is gone") {
    fs::remove(run / "run.json");
    CHECK(load_cache(file, key_of(run)).why == "it is stale: something that it was made from is gone");
  }
  SUBCASE("a damaged cache is rebuilt, never fatal") {
    auto bytes = read_file(file);
    REQUIRE(bytes.ok());
    folder.write("run/analysis/run.npz", bytes->substr(0, bytes->size() / 2));
    CHECK(load_cache(file, key_of(run)).why.find("it is damaged") == 0);
  }
  SUBCASE("arrays of somebody else") {
    NpzWriter other = arrays();
    folder.write("run/analysis/run.npz", *other.finish());
    CHECK(load_cache(file, key_of(run)).why == "it does not say what it was made from");
  }
}

TEST_CASE("a recording of one file has a key too, and what is not there has none") {
  const TempFolder folder("cache_file");
  const fs::path bag = folder.write("a.db3", "abc");
  CHECK(key_of(bag).text().find("a.db3: 3 bytes") != std::string::npos);
  CacheKey key(1);
  CHECK_FALSE(key.add_recording(folder.path() / "nothing").ok());
}
