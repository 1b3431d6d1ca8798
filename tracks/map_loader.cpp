// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "core/files.hpp"
#include "core/node.hpp"
#include "core/text.hpp"
#include "tracks/image.hpp"
#include "tracks/map.hpp"

namespace pitwall::tracks {
namespace {

enum class Mode { kTrinary, kScale, kRaw };
const std::array<std::string, 3> kModeNames{"trinary", "scale", "raw"};

constexpr std::int8_t kFree = 0;
constexpr std::int8_t kOccupied = 100;
// What map_saver writes for an unknown cell.
constexpr std::uint32_t kUnknownGrey = 205;

struct MapYaml {
  std::filesystem::path image;
  std::string image_where;
  double resolution_m = 0.0;
  Pose2 origin;
  bool negate = false;
  Mode mode = Mode::kTrinary;
  double occupied_thresh = 0.0;
  double free_thresh = 0.0;
};

Error wrong(const Node& node, std::string_view key, std::string_view allowed) {
  std::string shown = node.scalar;
  if (node.is_list()) shown = "a list of " + std::to_string(node.items.size());
  if (node.is_map()) shown = "a map";
  if (node.is_null()) shown = "(nothing)";
  return Error{node.where() + ": " + std::string(key) + " = " + shown + ": " + std::string(allowed)};
}

Result<const Node*> require(const Node& root, std::string_view key, const std::string& file) {
  const Node* node = root.find(key);
  if (node != nullptr) return node;
  return Error{file + ": key '" + std::string(key) +
               "' is missing (a map yaml has image, resolution, origin, negate, occupied_thresh, free_thresh)"};
}

/// A number in [min, max].
Result<double> read_number(const Node& root, std::string_view key, const std::string& file, double min, double max,
                           std::string_view allowed) {
  const Result<const Node*> node = require(root, key, file);
  if (!node) return node.error();
  const std::optional<double> value = (*node)->is_scalar() ? parse_double((*node)->scalar) : std::nullopt;
  if (!value || !(*value >= min && *value <= max)) return wrong(**node, key, allowed);
  return *value;
}

Result<Pose2> read_origin(const Node& root, const std::string& file) {
  const Result<const Node*> node = require(root, "origin", file);
  if (!node) return node.error();
  constexpr std::string_view kAllowed = "must be three finite numbers [x, y, yaw] in m, m, rad";
  if (!(*node)->is_list() || (*node)->items.size() != 3) return wrong(**node, "origin", kAllowed);
  std::array<double, 3> values{};
  for (std::size_t i = 0; i < 3; ++i) {
    const Node& item = (*node)->items[i];
    const std::optional<double> value = item.is_scalar() ? parse_double(item.scalar) : std::nullopt;
    if (!value || !std::isfinite(*value)) return wrong(item, "origin[" + std::to_string(i) + "]", kAllowed);
    values[i] = *value;
  }
  return Pose2{values[0], values[1], values[2]};
}

Result<bool> read_negate(const Node& root, const std::string& file) {
  const Result<const Node*> node = require(root, "negate", file);
  if (!node) return node.error();
  const std::string& text = (*node)->scalar;
  if ((*node)->is_scalar() && (text == "0" || text == "false" || text == "False" || text == "no")) return false;
  if ((*node)->is_scalar() && (text == "1" || text == "true" || text == "True" || text == "yes")) return true;
  return wrong(**node, "negate", "must be 0 or 1");
}

Result<Mode> read_mode(const Node& root) {
  const Node* node = root.find("mode");
  if (node == nullptr) return Mode::kTrinary;
  if (!node->is_scalar()) return wrong(*node, "mode", "must be trinary, scale or raw");
  std::string name = node->scalar;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const auto found = std::find(kModeNames.begin(), kModeNames.end(), name);
  if (found == kModeNames.end()) return Error{node->where() + ": " + unknown_name("mode", node->scalar, kModeNames)};
  return static_cast<Mode>(found - kModeNames.begin());
}

Result<MapYaml> read_map_yaml(const std::filesystem::path& yaml_file) {
  const Result<Node> root = load_yaml(yaml_file);
  if (!root) return root.error();
  const std::string file = yaml_file.string();
  if (!root->is_map()) return Error{file + ": a map yaml must be a map of keys (image, resolution, origin, ...)"};

  MapYaml yaml;
  const Result<const Node*> image = require(*root, "image", file);
  if (!image) return image.error();
  if (!(*image)->is_scalar() || (*image)->scalar.empty()) return wrong(**image, "image", "must name a picture file");
  yaml.image = yaml_file.parent_path() / (*image)->scalar;
  yaml.image_where = (*image)->where() + ": image = " + (*image)->scalar;
  const Result<double> resolution = read_number(*root, "resolution", file, 1e-4, 100.0, "must be 0.0001 .. 100 m per cell");
  if (!resolution) return resolution.error();
  yaml.resolution_m = *resolution;
  const Result<Pose2> origin = read_origin(*root, file);
  if (!origin) return origin.error();
  yaml.origin = *origin;
  const Result<bool> negate = read_negate(*root, file);
  if (!negate) return negate.error();
  yaml.negate = *negate;
  const Result<Mode> mode = read_mode(*root);
  if (!mode) return mode.error();
  yaml.mode = *mode;
  const Result<double> occupied = read_number(*root, "occupied_thresh", file, 0.0, 1.0, "must be 0 .. 1");
  if (!occupied) return occupied.error();
  yaml.occupied_thresh = *occupied;
  const Result<double> free = read_number(*root, "free_thresh", file, 0.0, 1.0, "must be 0 .. 1");
  if (!free) return free.error();
  yaml.free_thresh = *free;
  if (yaml.free_thresh > yaml.occupied_thresh) {
    return wrong(*root->find("free_thresh"), "free_thresh", "must not be above occupied_thresh = " + format_exact(yaml.occupied_thresh));
  }
  return yaml;
}

/// How occupied a pixel is, 0 .. 1: dark is occupied, unless negated.
double occupancy(const MapYaml& yaml, std::uint32_t light, std::uint32_t full) {
  return static_cast<double>(yaml.negate ? light : full - light) / static_cast<double>(full);
}

std::int8_t trinary_value(const MapYaml& yaml, double occupied) {
  if (occupied > yaml.occupied_thresh) return kOccupied;
  if (occupied < yaml.free_thresh) return kFree;
  return OccupancyMap::kUnknown;
}

std::int8_t scale_value(const MapYaml& yaml, double occupied) {
  if (occupied > yaml.occupied_thresh) return kOccupied;
  if (occupied < yaml.free_thresh) return kFree;
  const double span = yaml.occupied_thresh - yaml.free_thresh;
  if (span <= 0.0) return kOccupied;
  return static_cast<std::int8_t>(std::lround(100.0 * (occupied - yaml.free_thresh) / span));
}

/// map_server takes the lightness itself, whatever negate says.
std::int8_t raw_value(std::uint32_t light, std::uint32_t full) {
  const std::uint64_t value = (std::uint64_t{light} * 510 + full) / (std::uint64_t{full} * 2);
  return value <= 100 ? static_cast<std::int8_t>(value) : OccupancyMap::kUnknown;
}

std::int8_t cell_value(const MapYaml& yaml, const Image& image, std::size_t pixel) {
  if (yaml.mode == Mode::kRaw) return raw_value(image.light[pixel], image.full);
  if (!image.is_opaque(pixel)) return OccupancyMap::kUnknown;
  const double occupied = occupancy(yaml, image.light[pixel], image.full);
  return yaml.mode == Mode::kTrinary ? trinary_value(yaml, occupied) : scale_value(yaml, occupied);
}

/// Tools write 205 for "unknown"; where the thresholds make it free, cars and rays go through what was never seen.
std::optional<std::string> unknown_grey_warning(const MapYaml& yaml, const Image& image, const std::string& file) {
  if (yaml.mode != Mode::kTrinary || occupancy(yaml, kUnknownGrey, 255) >= yaml.free_thresh) return std::nullopt;
  std::size_t count = 0;
  for (std::size_t i = 0; i < image.light.size(); ++i) {
    if (std::uint64_t{image.light[i]} * 255 == std::uint64_t{image.full} * kUnknownGrey && image.is_opaque(i)) ++count;
  }
  if (count == 0) return std::nullopt;
  return file + ": free_thresh = " + format_exact(yaml.free_thresh) + " makes grey 205, which map tools write for unknown, free (" +
         std::to_string(count) + " cells); 0.196 keeps it unknown";
}

}  // namespace

Result<LoadedMap> load_map(const std::filesystem::path& yaml_file) {
  const Result<MapYaml> yaml = read_map_yaml(yaml_file);
  if (!yaml) return yaml.error();
  const Result<Image> image = load_image(yaml->image);
  if (!image) return Error{yaml->image_where + ": " + image.error().message};

  const auto width = static_cast<std::size_t>(image->width);
  const auto height = static_cast<std::size_t>(image->height);
  std::vector<std::int8_t> values(width * height);
  for (std::size_t row = 0; row < height; ++row) {
    // Row 0 of a picture is its top, row 0 of a map its bottom.
    std::int8_t* to = &values[(height - 1 - row) * width];
    for (std::size_t column = 0; column < width; ++column) to[column] = cell_value(*yaml, *image, row * width + column);
  }
  Result<OccupancyMap> map = OccupancyMap::make(image->width, image->height, yaml->resolution_m, yaml->origin, std::move(values));
  if (!map) return Error{yaml_file.string() + ": " + map.error().message};
  LoadedMap loaded{*std::move(map), {}};
  if (auto warning = unknown_grey_warning(*yaml, *image, yaml_file.string())) loaded.warnings.push_back(*std::move(warning));
  return loaded;
}

Status save_map(const OccupancyMap& map, const std::filesystem::path& yaml_file) {
  bool trinary = true;
  for (int j = 0; j < map.height(); ++j) {
    for (int i = 0; i < map.width(); ++i) {
      const std::int8_t value = map.value(i, j);
      trinary = trinary && (value == kFree || value == kOccupied || value == OccupancyMap::kUnknown);
    }
  }
  std::vector<std::uint8_t> grey;
  grey.reserve(map.blocked_cells().size());
  for (int j = map.height() - 1; j >= 0; --j) {
    for (int i = 0; i < map.width(); ++i) {
      const std::int8_t value = map.value(i, j);
      if (trinary) {
        grey.push_back(value == kFree ? 254 : value == kOccupied ? 0 : kUnknownGrey);
      } else {
        grey.push_back(value == OccupancyMap::kUnknown ? 255 : static_cast<std::uint8_t>(value));
      }
    }
  }
  const std::string image = yaml_file.stem().string() + ".pgm";
  Status written = write_file(yaml_file.parent_path() / image, encode_pgm(map.width(), map.height(), grey));
  if (!written) return written;
  const Pose2& origin = map.origin();
  std::string text = "image: " + image + "\nmode: " + (trinary ? "trinary" : "raw") + "\nresolution: " + format_exact(map.resolution_m()) +
                     "\norigin: [" + format_exact(origin.x) + ", " + format_exact(origin.y) + ", " + format_exact(origin.yaw) +
                     "]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\n";
  return write_file(yaml_file, text);
}

}  // namespace pitwall::tracks
