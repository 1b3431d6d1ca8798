// SPDX-License-Identifier: Apache-2.0
#include "tracks/build/generator.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/files.hpp"
#include "core/math.hpp"
#include "core/text.hpp"

namespace pitwall::tracks::build {
namespace {

// Pieces per span of the spline before it is resampled: at spans of 5 m a chord of 2 cm is 6e-6 m off an arc of 1.7 m.
constexpr int kPiecesPerSpan = 256;

// The division rounds correctly, so the result prints as the decimal that it stands for.
double rounded(double value) { return std::round(value * 1e6) / 1e6; }

struct Sample {
  Vec2 point;
  double half_width = 0.0;
};

/// The uniform cubic B-spline of four neighbouring control points at u in [0, 1).
Sample b_spline(const ControlPoint& a, const ControlPoint& b, const ControlPoint& c, const ControlPoint& d, double u) {
  const double v = 1.0 - u;
  const double wa = v * v * v / 6.0;
  const double wb = (3.0 * u * u * u - 6.0 * u * u + 4.0) / 6.0;
  const double wc = (3.0 * v * v * v - 6.0 * v * v + 4.0) / 6.0;
  const double wd = u * u * u / 6.0;
  return {wa * a.position + wb * b.position + wc * c.position + wd * d.position,
          0.5 * (wa * a.width_m + wb * b.width_m + wc * c.width_m + wd * d.width_m)};
}

std::vector<Sample> spline_samples(const std::vector<ControlPoint>& points) {
  const std::size_t n = points.size();
  std::vector<Sample> samples;
  samples.reserve(n * kPiecesPerSpan);
  for (std::size_t i = 0; i < n; ++i) {
    for (int k = 0; k < kPiecesPerSpan; ++k) {
      samples.push_back(
          b_spline(points[(i + n - 1) % n], points[i], points[(i + 1) % n], points[(i + 2) % n], static_cast<double>(k) / kPiecesPerSpan));
    }
  }
  return samples;
}

std::vector<Sample> rectangle_samples(const RoundedRectangle& shape, double half_width) {
  const double r = shape.radius_m;
  const double x = shape.half_x_m - r;
  const double y = shape.half_y_m - r;
  const std::array<Vec2, 4> corners{Vec2{x, -y}, Vec2{x, y}, Vec2{-x, y}, Vec2{-x, -y}};
  constexpr int kPiecesPerCorner = 512;
  std::vector<Sample> samples{{{0.0, -shape.half_y_m}, half_width}};
  for (int corner = 0; corner < 4; ++corner) {
    for (int k = 0; k <= kPiecesPerCorner; ++k) {
      const double angle = 0.5 * math::kPi * (corner - 1 + static_cast<double>(k) / kPiecesPerCorner);
      samples.push_back({corners[static_cast<std::size_t>(corner)] + r * unit_vector(angle), half_width});
    }
  }
  // Where a half is all radius, one corner ends where the next begins.
  const auto same = [](const Sample& a, const Sample& b) { return distance(a.point, b.point) < 1e-9; };
  samples.erase(std::unique(samples.begin(), samples.end(), same), samples.end());
  if (same(samples.front(), samples.back())) samples.pop_back();
  return samples;
}

/// A closed polyline resampled to equal steps of about `spacing`, first point kept.
CentreLine resample(const std::vector<Sample>& samples, double spacing) {
  const std::size_t n = samples.size();
  std::vector<double> s(n + 1, 0.0);
  for (std::size_t i = 0; i < n; ++i) s[i + 1] = s[i] + distance(samples[i].point, samples[(i + 1) % n].point);
  const double length = s[n];
  const auto count = static_cast<std::size_t>(std::max(3.0, std::round(length / spacing)));
  CentreLine line;
  std::size_t at = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const double target = length * static_cast<double>(k) / static_cast<double>(count);
    while (at + 1 < n && s[at + 1] <= target) ++at;
    const double t = (target - s[at]) / (s[at + 1] - s[at]);
    const Sample& from = samples[at];
    const Sample& to = samples[(at + 1) % n];
    const Vec2 p = from.point + t * (to.point - from.point);
    line.points.push_back({rounded(p.x), rounded(p.y)});
    line.half_width_m.push_back(rounded(from.half_width + t * (to.half_width - from.half_width)));
  }
  return line;
}

/// Where a raster lies, in cells.
struct Raster {
  double first_column = 0.0;
  double first_row = 0.0;
  int width = 0;
  int height = 0;
};

/// Frees the cells whose centre lies in the box of the line and `around` it.
void clear_box(Vec2 low, Vec2 high, double around, double cell, const Raster& raster, std::vector<std::int8_t>& values) {
  for (int j = 0; j < raster.height; ++j) {
    for (int i = 0; i < raster.width; ++i) {
      const Vec2 centre{(raster.first_column + i + 0.5) * cell, (raster.first_row + j + 0.5) * cell};
      const bool inside =
          centre.x >= low.x - around && centre.x <= high.x + around && centre.y >= low.y - around && centre.y <= high.y + around;
      if (inside) values[static_cast<std::size_t>(j) * static_cast<std::size_t>(raster.width) + static_cast<std::size_t>(i)] = 0;
    }
  }
}

}  // namespace

CentreLine centre_line(const TrackPlan& plan) {
  if (plan.shape != Shape::kSpline) return resample(rectangle_samples(plan.rectangle, 0.5 * plan.width_m), plan.spacing_m);
  return resample(spline_samples(plan.points), plan.spacing_m);
}

Result<OccupancyMap> rasterise(const TrackPlan& plan, const CentreLine& line) {
  double widest = 0.0;
  for (const double half : line.half_width_m) widest = std::max(widest, half);
  Vec2 low = line.points.front();
  Vec2 high = low;
  for (const Vec2 p : line.points) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  const double cell = plan.resolution_m;
  const double border = widest + plan.margin_m;
  // The grid is aligned to multiples of the cell, so that the yaml's origin is a short decimal.
  const double first_column = std::floor((low.x - border) / cell);
  const double first_row = std::floor((low.y - border) / cell);
  const double columns = std::ceil((high.x + border) / cell) - first_column;
  const double rows = std::ceil((high.y + border) / cell) - first_row;
  if (!(columns * rows <= 1 << 28)) {
    return Error{"track '" + plan.name + "': " + format_number(columns, 6) + " x " + format_number(rows, 6) + " cells: more than 2^28"};
  }
  const int width = static_cast<int>(columns);
  const int height = static_cast<int>(rows);
  std::vector<std::int8_t> values(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 100);
  if (plan.shape == Shape::kHall) clear_box(low, high, widest, cell, {first_column, first_row, width, height}, values);
  for (std::size_t k = 0; k < line.points.size(); ++k) {
    const std::size_t next = (k + 1) % line.points.size();
    const Vec2 from = line.points[k];
    const Vec2 along = line.points[next] - from;
    const double reach = std::max(line.half_width_m[k], line.half_width_m[next]);
    const auto index = [cell](double metres, double first) { return static_cast<int>(std::floor(metres / cell) - first); };
    const int i_low = std::max(0, index(std::min(from.x, from.x + along.x) - reach, first_column));
    const int i_high = std::min(width - 1, index(std::max(from.x, from.x + along.x) + reach, first_column));
    const int j_low = std::max(0, index(std::min(from.y, from.y + along.y) - reach, first_row));
    const int j_high = std::min(height - 1, index(std::max(from.y, from.y + along.y) + reach, first_row));
    for (int j = j_low; j <= j_high; ++j) {
      for (int i = i_low; i <= i_high; ++i) {
        const Vec2 centre{(first_column + i + 0.5) * cell, (first_row + j + 0.5) * cell};
        const Vec2 offset = centre - from;
        const double t = std::clamp(dot(offset, along) / dot(along, along), 0.0, 1.0);
        const double half = line.half_width_m[k] + t * (line.half_width_m[next] - line.half_width_m[k]);
        const Vec2 away = offset - t * along;
        if (dot(away, away) <= half * half)
          values[static_cast<std::size_t>(j) * static_cast<std::size_t>(width) + static_cast<std::size_t>(i)] = 0;
      }
    }
  }
  return OccupancyMap::make(width, height, cell, {rounded(first_column * cell), rounded(first_row * cell), 0.0}, std::move(values));
}

Result<GeneratedTrack> make_track(const TrackPlan& plan) {
  CentreLine line = centre_line(plan);
  Result<ShapeReport> report = check_shape(plan, line);
  if (!report) return report.error();
  Result<OccupancyMap> map = rasterise(plan, line);
  if (!map) return map.error();
  return GeneratedTrack{std::move(line), *std::move(map), *report};
}

Status write_track(const std::string& name, const OccupancyMap& map, const CentreLine& centre, const std::filesystem::path& folder) {
  std::string csv = "# x_m, y_m, w_tr_right_m, w_tr_left_m\n";
  for (std::size_t i = 0; i < centre.points.size(); ++i) {
    const std::string half = format_exact(centre.half_width_m[i]);
    for (const std::string& piece : {format_exact(centre.points[i].x), format_exact(centre.points[i].y), half})
      csv.append(piece).append(", ");
    csv.append(half).append("\n");
  }
  Status written = write_file(folder / (name + "_centerline.csv"), csv);
  if (!written) return written;
  return save_map(map, folder / (name + "_map.yaml"));
}

}  // namespace pitwall::tracks::build
