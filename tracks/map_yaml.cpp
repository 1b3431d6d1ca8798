// SPDX-License-Identifier: Apache-2.0
#include "tracks/map_yaml.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/text.hpp"

namespace pitwall::tracks {
namespace {

const std::array<std::string, 3> kModeNames{"trinary", "scale", "raw"};

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

Result<MapMode> read_mode(const Node& root) {
  const Node* node = root.find("mode");
  if (node == nullptr) return MapMode::kTrinary;
  if (!node->is_scalar()) return wrong(*node, "mode", "must be trinary, scale or raw");
  std::string name = node->scalar;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const auto found = std::find(kModeNames.begin(), kModeNames.end(), name);
  if (found == kModeNames.end()) return Error{node->where() + ": " + unknown_name("mode", node->scalar, kModeNames)};
  return static_cast<MapMode>(found - kModeNames.begin());
}

}  // namespace

Result<MapYaml> read_map_yaml(const Node& root, const std::string& file) {
  if (!root.is_map()) return Error{file + ": a map yaml must be a map of keys (image, resolution, origin, ...)"};

  MapYaml yaml;
  const Result<const Node*> image = require(root, "image", file);
  if (!image) return image.error();
  if (!(*image)->is_scalar() || (*image)->scalar.empty()) return wrong(**image, "image", "must name a picture file");
  yaml.image = (*image)->scalar;
  yaml.image_where = (*image)->where() + ": image = " + (*image)->scalar;
  const Result<double> resolution = read_number(root, "resolution", file, 1e-4, 100.0, "must be 0.0001 .. 100 m per cell");
  if (!resolution) return resolution.error();
  yaml.resolution_m = *resolution;
  const Result<Pose2> origin = read_origin(root, file);
  if (!origin) return origin.error();
  yaml.origin = *origin;
  const Result<bool> negate = read_negate(root, file);
  if (!negate) return negate.error();
  yaml.negate = *negate;
  const Result<MapMode> mode = read_mode(root);
  if (!mode) return mode.error();
  yaml.mode = *mode;
  const Result<double> occupied = read_number(root, "occupied_thresh", file, 0.0, 1.0, "must be 0 .. 1");
  if (!occupied) return occupied.error();
  yaml.occupied_thresh = *occupied;
  const Result<double> free = read_number(root, "free_thresh", file, 0.0, 1.0, "must be 0 .. 1");
  if (!free) return free.error();
  yaml.free_thresh = *free;
  if (yaml.free_thresh > yaml.occupied_thresh) {
    return wrong(*root.find("free_thresh"), "free_thresh", "must not be above occupied_thresh = " + format_exact(yaml.occupied_thresh));
  }
  return yaml;
}

}  // namespace pitwall::tracks
