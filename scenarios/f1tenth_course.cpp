// SPDX-License-Identifier: Apache-2.0
#include "scenarios/f1tenth_course.hpp"

#include <array>
#include <filesystem>
#include <string_view>

#include "controllers/law_line.hpp"
#include "controllers/line_room.hpp"
#include "core/files.hpp"
#include "core/node.hpp"
#include "core/text.hpp"
#include "plant/plant.hpp"
#include "plant/steady_turn.hpp"
#include "scenarios/f1tenth_law.hpp"
#include "tracks/speed_profile.hpp"
#include "tracks/track.hpp"

namespace pitwall::scenarios::f1tenth {
namespace {

Result<std::vector<std::vector<double>>> read_numbers(const std::filesystem::path& file, std::size_t columns) {
  const Result<std::string> text = read_file(file);
  if (!text) return text.error();
  std::vector<std::vector<double>> rows;
  int number = 0;
  for (const std::string_view line : split(*text, '\n')) {
    ++number;
    if (trim(line).empty() || trim(line).front() == '#') continue;
    std::vector<double> row;
    for (const std::string_view cell : split(line, ',')) {
      const auto value = parse_double(trim(cell));
      if (!value) return Error{file.string() + ":" + std::to_string(number) + ": '" + std::string(trim(cell)) + "' is not a number"};
      row.push_back(*value);
    }
    if (row.size() < columns)
      return Error{file.string() + ":" + std::to_string(number) + ": " + std::to_string(columns) + " columns needed"};
    rows.push_back(std::move(row));
  }
  if (rows.size() < 10) return Error{file.string() + ": fewer than 10 points"};
  return rows;
}

Result<std::vector<StartPose>> read_starts(const std::filesystem::path& file, const std::string& map) {
  const Result<std::string> text = read_file(file);
  if (!text) return text.error();
  std::vector<StartPose> starts;
  for (const std::string_view line : split(*text, '\n')) {
    const std::vector<std::string_view> cells = split(line, ',');
    if (cells.size() < 6 || trim(cells[0]) != map) continue;
    std::array<double, 4> v{};
    for (std::size_t i = 0; i < v.size(); ++i) {
      const auto value = parse_double(trim(cells[i + 2]));
      if (!value) return Error{file.string() + ": '" + std::string(cells[i + 2]) + "' is not a number"};
      v[i] = *value;
    }
    starts.push_back({{v[1], v[2], v[3]}, v[0]});
  }
  if (starts.empty()) return Error{file.string() + ": no start poses for map '" + map + "'"};
  return starts;
}

/// The benchmark's line as it is and without the scatter of its points, or the optimised one beside the map.
struct LinePair {
  tracks::Path as_given;
  tracks::Path smooth;
};

Result<LinePair> lines_of(const Course& course, const tracks::Track& track, LineChoice choice) {
  if (choice == LineChoice::kCenterline) return Error{"scenario f1tenth_laps: --raceline centerline: allowed: shipped, optimized"};
  if (choice == LineChoice::kOptimized) {
    if (track.optimized) return LinePair{track.optimized->path, track.optimized->path};
    return Error{course.map + ": --raceline optimized: no " + course.name +
                 "_raceline_optimized.csv beside the map (tools/make_benchmark_lines.sh makes it)"};
  }
  std::vector<Vec2> given = course.line.points;
  if (distance(given.front(), given.back()) < 1e-3) given.pop_back();
  Result<tracks::Path> as_given = tracks::Path::make(course.line.points, true);
  if (!as_given) return Error{course.map + ": its line: " + as_given.error().message};
  Result<tracks::Path> smooth = tracks::Path::make(without_scatter(std::move(given)), true);
  if (!smooth) return Error{course.map + ": its line: " + smooth.error().message};
  return LinePair{*std::move(as_given), *std::move(smooth)};
}

}  // namespace

Result<Course> load_course(const std::string& map) {
  std::filesystem::path yaml = map;
  if (yaml.extension() != ".yaml") yaml += ".yaml";
  const std::string name = yaml.stem().string();
  const std::filesystem::path folder = yaml.parent_path();
  const Result<Node> document = load_yaml(yaml);
  if (!document) return document.error();
  const auto scalar = [&](const Node* node) { return node != nullptr && node->is_scalar() ? parse_double(node->scalar) : std::nullopt; };
  const auto resolution = scalar(document->find("resolution"));
  const Node* origin = document->find("origin");
  const Node* picture = document->find("image");
  if (!resolution || *resolution <= 0.0 || origin == nullptr || !origin->is_list() || origin->items.size() != 3 || picture == nullptr) {
    return Error{yaml.string() + ": image, resolution above 0 and origin [x, y, yaw] needed"};
  }
  const auto x = scalar(&origin->items[0]);
  const auto y = scalar(&origin->items[1]);
  if (!x || !y) return Error{yaml.string() + ": origin must be numbers"};
  const Result<tracks::Image> image = tracks::load_image(folder / picture->scalar);
  if (!image) return image.error();
  const auto centre = read_numbers(folder / (name + "_centerline.csv"), 2);
  if (!centre) return centre.error();
  const auto line = read_numbers(folder / (name + "_raceline_mu90.csv"), 6);
  if (!line) return line.error();
  Result<std::vector<StartPose>> starts = read_starts(folder / "start_poses.csv", name);
  if (!starts) return starts.error();
  // The benchmark takes the first row of its files for a heading.
  std::vector<Vec2> points;
  for (std::size_t i = 1; i < centre->size(); ++i) points.push_back({(*centre)[i][0], (*centre)[i][1]});
  RacingLine racing;
  for (std::size_t i = 1; i < line->size(); ++i) {
    racing.points.push_back({(*line)[i][1], (*line)[i][2]});
    racing.speeds.push_back((*line)[i][5]);
  }
  return Course{map, name, Grid(*image, *resolution, {*x, *y}), CentreLine(std::move(points)), std::move(racing), *std::move(starts)};
}

// With our speeds, moved off the walls of the map where it passes them too near.
Result<CourseLine> line_of(const Course& course, const CourseLineSettings& settings) {
  const Result<tracks::Track> track = tracks::load_track(course.map, {});
  if (!track) return track.error();
  Result<LinePair> lines = lines_of(course, *track, settings.choice);
  if (!lines) return lines.error();
  controllers::LineToFollow line;
  line.path = std::make_shared<const tracks::Path>(std::move(lines->smooth));
  line.speed_mps.assign(line.path->size(), 0.0);
  line.rays = track->rays;
  if (settings.wall_clearance_m > 0.0) line = controllers::keep_clear(line, published_car().padded_body(), settings.wall_clearance_m);
  tracks::SpeedLimits limits;
  limits.v_max_mps = 8.0;
  limits.lateral_mps2 = limits.accelerate_mps2 = limits.brake_mps2 = settings.grip_mps2;
  // The curvature of 0.2 m long pieces is half noise: that of 0.4 m is what the car is steered by.
  const controllers::LawLine shape(*line.path, line.speed_mps, {}, {});
  std::vector<double> curvature;
  for (std::size_t i = 0; i < line.path->size(); ++i) curvature.push_back(shape.curvature_at(line.path->s_of(i)));
  line.speed_mps = tracks::speed_profile(*line.path, curvature, limits);
  plant::Options options;
  options.tyre = plant::Tyre::kLinear;
  const auto car = plant::Plant::make(published_car(), options, published_car().surface_friction);
  if (!car) return car.error();
  line.steering_table = std::make_shared<const SteeringTable>(plant::steering_table(car->slip_model(), limits.v_max_mps));
  return CourseLine{std::move(lines->as_given), std::move(line)};
}

}  // namespace pitwall::scenarios::f1tenth
