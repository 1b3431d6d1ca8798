// SPDX-License-Identifier: Apache-2.0
#include "tracks/build/plot.hpp"

#include <png.h>

#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/files.hpp"

namespace pitwall::tracks::build {
namespace {

using Colour = std::array<png_byte, 3>;
constexpr Colour kWallColour{60, 64, 72};
constexpr Colour kClosed{200, 190, 150};
constexpr Colour kTrack{240, 240, 236};
constexpr Colour kCentre{40, 90, 200};
constexpr Colour kStartColour{210, 40, 40};
constexpr Colour kWay{20, 150, 60};

class Canvas {
 public:
  Canvas(const OccupancyMap& map, const OccupancyMap* before) : map_(map), pixels_(map.blocked_cells().size() * 3) {
    for (int j = 0; j < map.height(); ++j) {
      for (int i = 0; i < map.width(); ++i) put(i, j, !map.blocked(i, j) ? kTrack : was_free(before, i, j) ? kClosed : kWallColour);
    }
  }
  void segment(Vec2 from_map, Vec2 to_map, const Colour& colour, int thick) {
    const Vec2 from = map_.to_grid(from_map);
    const Vec2 to = map_.to_grid(to_map);
    const int steps = 1 + static_cast<int>(2.0 * distance(from, to));
    for (int k = 0; k <= steps; ++k) {
      const Vec2 p = from + (static_cast<double>(k) / steps) * (to - from);
      for (int dy = -thick; dy <= thick; ++dy) {
        for (int dx = -thick; dx <= thick; ++dx)
          put(static_cast<int>(std::floor(p.x)) + dx, static_cast<int>(std::floor(p.y)) + dy, colour);
      }
    }
  }
  [[nodiscard]] const std::vector<png_byte>& pixels() const { return pixels_; }

 private:
  [[nodiscard]] bool was_free(const OccupancyMap* before, int i, int j) const {
    if (before == nullptr) return false;
    const Vec2 cell = before->to_grid(map_.to_map({i + 0.5, j + 0.5}));
    const int column = static_cast<int>(std::floor(cell.x));
    const int row = static_cast<int>(std::floor(cell.y));
    return before->inside(column, row) && !before->blocked(column, row);
  }
  void put(int i, int j, const Colour& colour) {
    if (!map_.inside(i, j)) return;
    const auto row = static_cast<std::size_t>(map_.height() - 1 - j);
    std::memcpy(&pixels_[3 * (row * static_cast<std::size_t>(map_.width()) + static_cast<std::size_t>(i))], colour.data(), 3);
  }
  const OccupancyMap& map_;
  std::vector<png_byte> pixels_;
};

}  // namespace

Status write_plot(const OccupancyMap& map, const CentreLine& centre, const std::filesystem::path& file, const OccupancyMap* before) {
  Canvas canvas(map, before);
  const std::vector<Vec2>& points = centre.points;
  for (std::size_t i = 0; i < points.size(); ++i) canvas.segment(points[i], points[(i + 1) % points.size()], kCentre, 1);
  double way = 0.0;
  for (std::size_t i = 0; i + 1 < points.size() && way < 2.0; ++i) {
    canvas.segment(points[i], points[i + 1], kWay, 3);
    way += distance(points[i], points[i + 1]);
  }
  const Vec2 along = points[1] - points[0];
  const Vec2 across = (centre.half_width_m[0] / norm(along)) * perpendicular(along);
  canvas.segment(points[0] - across, points[0] + across, kStartColour, 2);

  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(map.width());
  image.height = static_cast<png_uint_32>(map.height());
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, canvas.pixels().data(), 0, nullptr) == 0) {
    return Error{file.string() + ": cannot make the picture: " + image.message};
  }
  bytes.resize(size);
  return write_file(file, bytes);
}

}  // namespace pitwall::tracks::build
