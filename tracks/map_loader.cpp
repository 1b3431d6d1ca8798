// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/files.hpp"
#include "core/text.hpp"
#include "tracks/image.hpp"
#include "tracks/map.hpp"
#include "tracks/map_yaml.hpp"

namespace pitwall::tracks {
namespace {

constexpr std::int8_t kFree = 0;
constexpr std::int8_t kOccupied = 100;
// What map_saver writes for an unknown cell.
constexpr std::uint32_t kUnknownGrey = 205;

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

bool is_unknown_grey(const Image& image, std::size_t pixel) {
  return std::uint64_t{image.light[pixel]} * 255 == std::uint64_t{image.full} * kUnknownGrey;
}

std::int8_t cell_value(const MapYaml& yaml, const Image& image, std::size_t pixel, UnknownGrey grey) {
  if (yaml.mode == MapMode::kRaw) return raw_value(image.light[pixel], image.full);
  if (!image.is_opaque(pixel)) return OccupancyMap::kUnknown;
  if (grey == UnknownGrey::kUnknown && yaml.mode == MapMode::kTrinary && is_unknown_grey(image, pixel)) return OccupancyMap::kUnknown;
  const double occupied = occupancy(yaml, image.light[pixel], image.full);
  return yaml.mode == MapMode::kTrinary ? trinary_value(yaml, occupied) : scale_value(yaml, occupied);
}

/// Tools write 205 for "unknown"; where the thresholds make it free, cars and rays go through what was never seen.
std::optional<std::string> unknown_grey_warning(const MapYaml& yaml, const Image& image, const std::string& file, UnknownGrey grey) {
  if (yaml.mode != MapMode::kTrinary || occupancy(yaml, kUnknownGrey, 255) >= yaml.free_thresh) return std::nullopt;
  std::size_t count = 0;
  for (std::size_t i = 0; i < image.light.size(); ++i) {
    if (is_unknown_grey(image, i) && image.is_opaque(i)) ++count;
  }
  if (count == 0) return std::nullopt;
  return file + ": free_thresh = " + format_exact(yaml.free_thresh) + " makes grey 205, which map tools write for unknown, free (" +
         std::to_string(count) + " cells); " + (grey == UnknownGrey::kUnknown ? "taken as unknown" : "0.196 keeps it unknown");
}

}  // namespace

Result<LoadedMap> load_map(const std::filesystem::path& yaml_file, UnknownGrey grey) {
  const Result<Node> root = load_yaml(yaml_file);
  if (!root) return root.error();
  const Result<MapYaml> yaml = read_map_yaml(*root, yaml_file.string());
  if (!yaml) return yaml.error();
  const Result<Image> image = load_image(yaml_file.parent_path() / yaml->image);
  if (!image) return Error{yaml->image_where + ": " + image.error().message};

  const auto width = static_cast<std::size_t>(image->width);
  const auto height = static_cast<std::size_t>(image->height);
  std::vector<std::int8_t> values(width * height);
  for (std::size_t row = 0; row < height; ++row) {
    // Row 0 of a picture is its top, row 0 of a map its bottom.
    std::int8_t* to = &values[(height - 1 - row) * width];
    for (std::size_t column = 0; column < width; ++column) to[column] = cell_value(*yaml, *image, row * width + column, grey);
  }
  Result<OccupancyMap> map = OccupancyMap::make(image->width, image->height, yaml->resolution_m, yaml->origin, std::move(values));
  if (!map) return Error{yaml_file.string() + ": " + map.error().message};
  LoadedMap loaded{*std::move(map), {}};
  if (auto warning = unknown_grey_warning(*yaml, *image, yaml_file.string(), grey)) loaded.warnings.push_back(*std::move(warning));
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
