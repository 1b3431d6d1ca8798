// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/text.hpp"
#include "tests/support/png.hpp"
#include "tests/support/temp_folder.hpp"
#include "tracks/image.hpp"
#include "tracks/map.hpp"

namespace pitwall::tracks {
namespace {

struct YamlSpec {
  std::string image = "m.pgm";
  std::string resolution = "0.05";
  std::string origin = "[0, 0, 0]";
  std::string negate = "0";
  std::string occupied = "0.65";
  std::string free = "0.196";
  std::string more;
};

std::string yaml_text(const YamlSpec& spec) {
  return "image: " + spec.image + "\nresolution: " + spec.resolution + "\norigin: " + spec.origin + "\nnegate: " + spec.negate +
         "\noccupied_thresh: " + spec.occupied + "\nfree_thresh: " + spec.free + "\n" + spec.more;
}

class MapFolder : public TempFolder {
 public:
  MapFolder() : TempFolder("map_loader_test") {}

  LoadedMap load(const std::string& picture, const YamlSpec& spec = {}) const {
    write(spec.image, picture);
    auto map = load_map(write("m.yaml", yaml_text(spec)));
    REQUIRE_MESSAGE(map.ok(), (map.ok() ? "" : map.error().message));
    return *std::move(map);
  }
  std::string error(const YamlSpec& spec) const {
    const auto map = load_map(write("m.yaml", yaml_text(spec)));
    return map.ok() ? "" : map.error().message;
  }
  std::vector<std::int8_t> values(const std::vector<std::uint8_t>& grey, const YamlSpec& spec = {}) const {
    return values_of(load(encode_pgm(static_cast<int>(grey.size()), 1, grey), spec).map);
  }
  static std::vector<std::int8_t> values_of(const OccupancyMap& map) {
    std::vector<std::int8_t> all;
    for (int j = 0; j < map.height(); ++j) {
      for (int i = 0; i < map.width(); ++i) all.push_back(map.value(i, j));
    }
    return all;
  }
};

// An L whose foot points to the right: only one of the eight orientations of a square shows it like this.
const std::vector<std::vector<int>> kLetter{{0, 254, 254, 254}, {0, 254, 254, 254}, {0, 0, 205, 254}};

TEST_CASE("the top row of the picture is the farthest row of the map") {
  const MapFolder folder;
  std::vector<std::uint8_t> grey;
  for (const auto& row : kLetter) grey.insert(grey.end(), row.begin(), row.end());
  const OccupancyMap map = folder.load(encode_pgm(4, 3, grey)).map;
  CHECK(map.width() == 4);
  CHECK(map.height() == 3);
  CHECK(MapFolder::values_of(map) == std::vector<std::int8_t>{100, 100, -1, 0, 100, 0, 0, 0, 100, 0, 0, 0});
  // The foot of the letter: low y, second column.
  const Vec2 foot = map.to_map({1.5, 0.5});
  CHECK(foot.x == doctest::Approx(0.075));
  CHECK(foot.y == doctest::Approx(0.025));
}

TEST_CASE("the same picture gives the same map in every colour type") {
  const MapFolder folder;
  const std::vector<std::int8_t> expected{100, 100, -1, 0, 100, 0, 0, 0, 100, 0, 0, 0};
  struct Type {
    int depth;
    int colour_type;
    int channels;
    bool alpha;
  };
  for (const Type& type :
       {Type{8, PNG_COLOR_TYPE_GRAY, 1, false}, Type{16, PNG_COLOR_TYPE_GRAY, 1, false}, Type{8, PNG_COLOR_TYPE_GRAY_ALPHA, 1, true},
        Type{16, PNG_COLOR_TYPE_GRAY_ALPHA, 1, true}, Type{8, PNG_COLOR_TYPE_RGB, 3, false}, Type{16, PNG_COLOR_TYPE_RGB, 3, false},
        Type{8, PNG_COLOR_TYPE_RGB_ALPHA, 3, true}, Type{16, PNG_COLOR_TYPE_RGB_ALPHA, 3, true},
        Type{8, PNG_COLOR_TYPE_PALETTE, 1, false}}) {
    for (const bool interlaced : {false, true}) {
      PngSpec spec{4, 3, type.depth, type.colour_type, interlaced, {}, {}, -1};
      if (type.colour_type == PNG_COLOR_TYPE_PALETTE) {
        for (int k = 0; k < 256; ++k)
          spec.palette.push_back({static_cast<png_byte>(k), static_cast<png_byte>(k), static_cast<png_byte>(k)});
      }
      std::vector<std::vector<png_byte>> rows;
      for (const auto& letters : kLetter) {
        std::vector<png_byte> row;
        for (const int grey : letters) {
          for (int k = 0; k < type.channels * type.depth / 8; ++k) row.push_back(static_cast<png_byte>(grey));
          for (int k = 0; k < (type.alpha ? type.depth / 8 : 0); ++k) row.push_back(255);
        }
        rows.push_back(row);
      }
      YamlSpec yaml;
      yaml.image = "m.png";
      CAPTURE(type.depth);
      CAPTURE(type.colour_type);
      CHECK(MapFolder::values_of(folder.load(make_png(spec, rows), yaml).map) == expected);
    }
  }
}

TEST_CASE("a 1-bit picture is walls and floor") {
  const MapFolder folder;
  YamlSpec yaml;
  yaml.image = "m.png";
  const PngSpec spec{4, 1, 1, PNG_COLOR_TYPE_GRAY, false, {}, {}, -1};
  CHECK(MapFolder::values_of(folder.load(make_png(spec, {{0b01100000}}), yaml).map) == std::vector<std::int8_t>{100, 0, 0, 100});
}

TEST_CASE("both thresholds are read from the yaml, and are strict") {
  const MapFolder folder;
  // 0.4 and 0.6 are exactly 102/255 and 153/255.
  YamlSpec spec;
  spec.occupied = "0.6";
  spec.free = "0.4";
  CHECK(folder.values({101, 102, 103, 152, 153, 154}, spec) == std::vector<std::int8_t>{100, -1, -1, -1, -1, 0});
  spec.occupied = "0.45";
  spec.free = "0.196";
  CHECK(folder.values({0, 100, 140, 141, 204, 205, 206, 255}, spec) == std::vector<std::int8_t>{100, 100, 100, -1, -1, -1, 0, 0});
  spec.occupied = "0.65";
  // What a fixed threshold of 128 calls free: grey 100 is 0.61 occupied, so unknown at 0.65 and occupied at 0.6.
  CHECK(folder.values({100}, spec) == std::vector<std::int8_t>{-1});
  spec.occupied = "0.6";
  CHECK(folder.values({100}, spec) == std::vector<std::int8_t>{100});
}

TEST_CASE("negate gives the map of the inverted picture") {
  const MapFolder folder;
  std::vector<std::uint8_t> grey;
  std::vector<std::uint8_t> inverted;
  for (int k = 0; k < 256; ++k) {
    grey.push_back(static_cast<std::uint8_t>(k));
    inverted.push_back(static_cast<std::uint8_t>(255 - k));
  }
  for (const char* mode : {"trinary", "scale"}) {
    YamlSpec plain;
    plain.more = std::string("mode: ") + mode + "\n";
    YamlSpec negated = plain;
    negated.negate = "1";
    CHECK(folder.values(inverted, negated) == folder.values(grey, plain));
    CHECK(folder.values(grey, negated) != folder.values(grey, plain));
  }
  YamlSpec negated;
  negated.negate = "1";
  CHECK(folder.values({255, 0}, negated) == std::vector<std::int8_t>{100, 0});
  negated.negate = "true";
  CHECK(folder.values({255, 0}, negated) == std::vector<std::int8_t>{100, 0});
}

TEST_CASE("scale keeps what lies between the thresholds, raw the grey itself") {
  const MapFolder folder;
  YamlSpec spec;
  spec.more = "mode: scale\n";
  spec.free = "0.2";
  spec.occupied = "0.8";
  // Occupancies 1, 0.8, 0.6, 0.5, 0.4, 0.2, 0: linear from 0.2 -> 0 to 0.8 -> 100.
  CHECK(folder.values({0, 51, 102, 127, 153, 204, 255}, spec) == std::vector<std::int8_t>{100, 100, 67, 50, 33, 0, 0});
  spec.more = "mode: raw\n";
  CHECK(folder.values({0, 1, 50, 100, 101, 205, 255}, spec) == std::vector<std::int8_t>{0, 1, 50, 100, -1, -1, -1});
  spec.negate = "1";
  CHECK(folder.values({0, 1, 50, 100, 101, 205, 255}, spec) == std::vector<std::int8_t>{0, 1, 50, 100, -1, -1, -1});
}

TEST_CASE("a pixel that is not opaque is unknown, except in raw") {
  const MapFolder folder;
  YamlSpec spec;
  spec.image = "m.png";
  const PngSpec png{4, 1, 8, PNG_COLOR_TYPE_GRAY_ALPHA, false, {}, {}, -1};
  const std::string picture = make_png(png, {{254, 255, 254, 254, 0, 0, 60, 0}});
  CHECK(MapFolder::values_of(folder.load(picture, spec).map) == std::vector<std::int8_t>{0, -1, -1, -1});
  spec.more = "mode: scale\n";
  CHECK(MapFolder::values_of(folder.load(picture, spec).map) == std::vector<std::int8_t>{0, -1, -1, -1});
  spec.more = "mode: raw\n";
  CHECK(MapFolder::values_of(folder.load(picture, spec).map) == std::vector<std::int8_t>{-1, -1, 0, 60});
}

TEST_CASE("a warning says when grey 205 becomes free, and only then") {
  const MapFolder folder;
  const std::string with_unknown = encode_pgm(3, 1, {0, 205, 254});
  const std::string without = encode_pgm(3, 1, {0, 204, 254});
  YamlSpec spec;
  spec.free = "0.25";
  const LoadedMap loaded = folder.load(with_unknown, spec);
  REQUIRE(loaded.warnings.size() == 1);
  CHECK(contains(loaded.warnings[0], "m.yaml"));
  CHECK(contains(loaded.warnings[0], "free_thresh = 0.25"));
  CHECK(contains(loaded.warnings[0], "205"));
  CHECK(contains(loaded.warnings[0], "1 cells"));
  CHECK(loaded.map.value(1, 0) == 0);
  CHECK(folder.load(without, spec).warnings.empty());
  spec.free = "0.196";
  CHECK(folder.load(with_unknown, spec).warnings.empty());
  CHECK(folder.load(with_unknown, spec).map.value(1, 0) == OccupancyMap::kUnknown);
  spec.free = "0.25";
  spec.negate = "1";
  CHECK(folder.load(with_unknown, spec).warnings.empty());
}

TEST_CASE("the origin turns the map, and the picture is found beside the yaml") {
  const MapFolder folder;
  YamlSpec spec;
  spec.image = "pictures/m.pgm";
  spec.origin = "[1.0, 2.0, 1.5707963267948966]";
  spec.resolution = "0.5";
  const OccupancyMap map = folder.load(encode_pgm(3, 1, {254, 254, 0}), spec).map;
  CHECK(map.blocked(2, 0));
  // Column 2 lies 1 .. 1.5 m along the grid's x axis, which is the map's y axis.
  const Vec2 cell = map.to_grid({0.75, 3.25});
  CHECK(cell.x == doctest::Approx(2.5));
  CHECK(cell.y == doctest::Approx(0.5));
  spec.image = (folder.path() / "absolute.pgm").string();
  CHECK(folder.load(encode_pgm(1, 1, {0}), spec).map.blocked(0, 0));
}

TEST_CASE("keys of other tools are tolerated, a missing mode is trinary") {
  const MapFolder folder;
  YamlSpec spec;
  spec.more = "author: someone\ncost_translation_table: {a: [1, 2]}\n";
  CHECK(folder.values({0, 205, 254}, spec) == std::vector<std::int8_t>{100, -1, 0});
  spec.more = "mode: Trinary\n";
  CHECK(folder.values({0, 205, 254}, spec) == std::vector<std::int8_t>{100, -1, 0});
}

TEST_CASE("a bad yaml is refused with file, key and value") {
  const MapFolder folder;
  folder.write("m.pgm", encode_pgm(1, 1, {0}));
  const auto check = [&folder](const YamlSpec& spec, const std::string& line, const std::vector<std::string>& parts) {
    const std::string message = folder.error(spec);
    CAPTURE(message);
    CHECK(contains(message, "m.yaml" + line));
    for (const std::string& part : parts) CHECK(contains(message, part));
  };
  for (const char* bad : {"0", "-0.05", ".nan", ".inf", "1e-9", "1e9", "abc", "[1]", ""}) {
    YamlSpec spec;
    spec.resolution = bad;
    check(spec, ":2", {"resolution", "0.0001 .. 100"});
  }
  for (const char* bad : {"[0, 0]", "[0, 0, 0, 0]", "5", "[0, .nan, 0]", "[0, 0, .inf]", "[0, x, 0]", "{x: 0}"}) {
    YamlSpec spec;
    spec.origin = bad;
    check(spec, ":3", {"origin", "three finite numbers"});
  }
  YamlSpec spec;
  spec.negate = "2";
  check(spec, ":4", {"negate = 2", "0 or 1"});
  spec = {};
  spec.occupied = "1.5";
  check(spec, ":5", {"occupied_thresh = 1.5", "0 .. 1"});
  spec = {};
  spec.free = "-0.1";
  check(spec, ":6", {"free_thresh = -0.1", "0 .. 1"});
  spec = {};
  spec.free = "0.7";
  check(spec, ":6", {"free_thresh = 0.7", "occupied_thresh = 0.65"});
  spec = {};
  spec.more = "mode: trinery\n";
  check(spec, ":7", {"mode", "trinery", "trinary"});
  spec = {};
  spec.more = "resolution: 0.05\n";
  check(spec, ":7", {"resolution"});
  spec = {};
  spec.image = "absent.pgm";
  check(spec, ":1", {"image = absent.pgm", "cannot read"});
  spec.image = "''";
  check(spec, ":1", {"image"});
}

TEST_CASE("each missing key is named") {
  const MapFolder folder;
  folder.write("m.pgm", encode_pgm(1, 1, {0}));
  const std::string whole = yaml_text({});
  for (const char* key : {"image", "resolution", "origin", "negate", "occupied_thresh", "free_thresh"}) {
    std::string text = whole;
    const std::size_t at = text.find(std::string(key) + ":");
    text.erase(at, text.find('\n', at) + 1 - at);
    const auto map = load_map(folder.write("m.yaml", text));
    REQUIRE_FALSE(map.ok());
    CHECK(contains(map.error().message, "'" + std::string(key) + "' is missing"));
    CHECK(contains(map.error().message, "m.yaml"));
  }
  CHECK_FALSE(load_map(folder.path() / "none.yaml").ok());
  CHECK_FALSE(load_map(folder.write("list.yaml", "- 1\n")).ok());
  CHECK_FALSE(load_map(folder.write("empty.yaml", "")).ok());
}

TEST_CASE("a damaged picture is refused with yaml, key and reason") {
  const MapFolder folder;
  folder.write("m.pgm", "P5 4 4 255\nab");
  const std::string message = folder.error({});
  CHECK(contains(message, "m.yaml:1: image = m.pgm"));
  CHECK(contains(message, "cut off"));
}

TEST_CASE("a saved map is read back to the bit") {
  const MapFolder folder;
  for (const std::vector<std::int8_t>& values :
       {std::vector<std::int8_t>{0, 100, -1, 100, 0, 0}, std::vector<std::int8_t>{0, 1, 50, 99, 100, -1}}) {
    auto map = OccupancyMap::make(3, 2, 0.05000000074505806, {-7.748979949951172, 1.0 / 3.0, 3.14}, values);
    REQUIRE(map.ok());
    const std::filesystem::path file = folder.path() / "saved" / "some_map.yaml";
    REQUIRE(save_map(*map, file).ok());
    const auto loaded = load_map(file);
    REQUIRE(loaded.ok());
    CHECK(loaded->warnings.empty());
    CHECK(loaded->map.content_hash() == map->content_hash());
    CHECK(MapFolder::values_of(loaded->map) == values);
    CHECK(loaded->map.origin() == map->origin());
    CHECK(loaded->map.resolution_m() == map->resolution_m());
  }
}

}  // namespace
}  // namespace pitwall::tracks
