// SPDX-License-Identifier: Apache-2.0
#include "tracks/line_csv.hpp"

#include <array>
#include <charconv>

#include "core/text.hpp"

namespace pitwall::tracks {

std::string decimals(double value, int count) {
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, count).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_not_of("-0.") == std::string::npos && text.front() == '-') text.erase(0, 1);
  return text;
}

std::string profile_csv(const Path& path, const std::vector<double>& speed_mps) {
  std::string text = "# x_m, y_m, vx_mps\n";
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Vec2 p = path.points()[i];
    text += decimals(p.x, 4) + "," + decimals(p.y, 4) + "," + decimals(speed_mps[i], 3) + "\n";
  }
  return text;
}

std::string points_csv(const std::vector<Vec2>& points) {
  std::string text = "# x_m, y_m\n";
  for (const Vec2 p : points) text += format_exact(p.x) + "," + format_exact(p.y) + "\n";
  return text;
}

}  // namespace pitwall::tracks
