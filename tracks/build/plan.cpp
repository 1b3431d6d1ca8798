// SPDX-License-Identifier: Apache-2.0
#include "tracks/build/plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "core/math.hpp"
#include "core/rng.hpp"
#include "core/text.hpp"
#include "tracks/build/generator.hpp"

namespace pitwall::tracks::build {
namespace {

constexpr std::array<std::string_view, 3> kShapeNames{"rounded_rectangle", "hall", "spline"};
constexpr double kFarthest = 1000.0;
constexpr double kMinWidth = 0.5;
constexpr double kMaxWidth = 20.0;

struct PlanFile {
  TrackPlan plan;
  Node points;

  void fields(FieldVisitor& f) {
    f.text("name", plan.name, "of the track and its files");
    f.text("group", plan.group, "that the track belongs to");
    f.text("source", plan.source, "where the shape comes from");
    f.enumeration("shape", plan.shape, kShapeNames, "how the centre line follows");
    f.nested("rectangle", plan.rectangle);
    f.subtree("points", points, "control points [x, y] or [x, y, width], in m");
    f.number("width_m", plan.width_m, {"m", kMinWidth, kMaxWidth, "full width of the track"});
    f.number("spacing_m", plan.spacing_m, {"m", 0.01, 1.0, "between the points of the centre line"});
    f.number("resolution_m", plan.resolution_m, {"m", 0.005, 1.0, "of a cell of the map"});
    f.number("margin_m", plan.margin_m, {"m", 0.0, 100.0, "of wall around the track"});
    f.number("min_radius_m", plan.min_radius_m, {"m", 0.1, kFarthest, "least radius of the centre line"});
    f.number("min_wall_m", plan.min_wall_m, {"m", 0.0, kFarthest, "least wall between parts of the track"});
  }
};

Result<ControlPoint> read_point(const Node& node, double width_m) {
  const auto wrong = [&node](const std::string& what) { return Error{node.where() + ": points: " + what}; };
  if (!node.is_list() || node.items.size() < 2 || node.items.size() > 3) return wrong("each must be [x, y] or [x, y, width]");
  std::array<double, 3> values{0.0, 0.0, width_m};
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const Node& item = node.items[i];
    const std::optional<double> value = item.is_scalar() ? parse_double(item.scalar) : std::nullopt;
    if (!value || !(std::abs(*value) <= kFarthest)) return wrong("'" + item.scalar + "' must be a number, at most 1000 m from the origin");
    values[i] = *value;
  }
  if (values[2] < kMinWidth || values[2] > kMaxWidth) return wrong("width " + format_exact(values[2]) + ": must be 0.5 .. 20 m");
  return ControlPoint{{values[0], values[1]}, values[2]};
}

Status read_points(const Node& node, const std::string& file, TrackPlan& plan) {
  if (!node.is_list() || node.items.size() < 4) return Error{file + ": key 'points' must list at least 4 control points"};
  for (const Node& item : node.items) {
    const Result<ControlPoint> point = read_point(item, plan.width_m);
    if (!point) return point.error();
    plan.points.push_back(*point);
  }
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    const std::size_t next = (i + 1) % plan.points.size();
    if (distance(plan.points[i].position, plan.points[next].position) < 0.1) {
      return Error{node.items[next].where() + ": points: nearer than 0.1 m to the one before it"};
    }
  }
  return {};
}

bool is_file_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

}  // namespace

void RoundedRectangle::fields(FieldVisitor& f) {
  f.number("half_x_m", half_x_m, {"m", 0.5, kFarthest, "half the length of the centre line's box"});
  f.number("half_y_m", half_y_m, {"m", 0.5, kFarthest, "half the width of the centre line's box"});
  f.number("radius_m", radius_m, {"m", 0.1, kFarthest, "of the centre line in the corners"});
}

Result<TrackPlan> read_plan(const Node& root, const std::string& file) {
  PlanFile read;
  const Status loaded = load_fields(root, "track", read);
  if (!loaded) return loaded.error();
  TrackPlan& plan = read.plan;
  if (!is_file_name(plan.name)) return Error{file + ": name = '" + plan.name + "': must be letters, digits, _ and -"};
  if (plan.shape == Shape::kSpline) {
    const Status points = read_points(read.points, file, plan);
    if (!points) return points.error();
  } else if (plan.rectangle.radius_m > std::min(plan.rectangle.half_x_m, plan.rectangle.half_y_m)) {
    return Error{file + ": rectangle.radius_m = " + format_exact(plan.rectangle.radius_m) + ": must not be above half_x_m = " +
                 format_exact(plan.rectangle.half_x_m) + " or half_y_m = " + format_exact(plan.rectangle.half_y_m)};
  }
  return std::move(plan);
}

Result<TrackPlan> load_plan(const std::filesystem::path& file) {
  const Result<Node> root = load_yaml(file);
  if (!root) return root.error();
  return read_plan(*root, file.string());
}

std::string plan_yaml(const TrackPlan& plan) {
  PlanFile written{plan, Node::list()};
  for (const ControlPoint& point : plan.points) {
    Node item = Node::list({Node(format_exact(point.position.x)), Node(format_exact(point.position.y))});
    if (point.width_m != plan.width_m) item.items.emplace_back(format_exact(point.width_m));
    written.points.items.push_back(std::move(item));
  }
  return to_yaml(save_fields(written));
}

TrackPlan random_plan(std::uint64_t seed) {
  const Rng rng(seed, "tracks/random");
  TrackPlan plan;
  plan.name = "random_" + std::to_string(seed);
  plan.group = "random";
  plan.source = "drawn at random, seed " + std::to_string(seed);
  for (std::uint64_t attempt = 0;; ++attempt) {
    const auto draw = [&rng, attempt](std::uint32_t lane, double low, double high) {
      return low + (high - low) * rng.uniform(attempt, lane);
    };
    const int count = static_cast<int>(draw(0, 9.0, 16.0));
    const double size = draw(1, 10.0, 22.0);
    // The later the attempt, the rounder, so that every seed ends in a track.
    const double dent = 0.65 / (1.0 + 0.05 * static_cast<double>(attempt));
    plan.points.clear();
    for (int k = 0; k < count; ++k) {
      const auto lane = static_cast<std::uint32_t>(2 + 2 * k);
      const double angle = 2.0 * math::kPi * (k + draw(lane, -0.3, 0.3)) / count;
      const Vec2 p = size * draw(lane + 1, 1.0 - dent, 1.0) * unit_vector(angle);
      plan.points.push_back({{std::round(p.x * 100.0) / 100.0, std::round(p.y * 100.0) / 100.0}, plan.width_m});
    }
    if (check_shape(plan, centre_line(plan))) return plan;
  }
}

}  // namespace pitwall::tracks::build
