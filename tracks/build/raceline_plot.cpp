// SPDX-License-Identifier: Apache-2.0
#include "tracks/build/raceline_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/text.hpp"

namespace pitwall::tracks::build {
namespace {

constexpr double kWidth = 900.0;   // of the picture
constexpr double kBorder = 50.0;   // around everything
constexpr double kPanel = 130.0;   // height of a curve
constexpr double kAround_m = 2.0;  // of walls beyond the line

std::string number(double value) { return format_number(value, 6); }

/// From slow (blue) over green to fast (red).
std::string colour(double part) {
  constexpr std::array<std::array<double, 3>, 4> kRamp{{{40, 70, 200}, {30, 160, 140}, {230, 170, 30}, {210, 40, 40}}};
  const double at = std::clamp(part, 0.0, 1.0) * 3.0;
  const auto low = std::min<std::size_t>(2, static_cast<std::size_t>(at));
  const double t = at - static_cast<double>(low);
  std::string text = "rgb(";
  for (std::size_t k = 0; k < 3; ++k)
    text += (k > 0 ? "," : "") + std::to_string(static_cast<int>(std::lround((1.0 - t) * kRamp[low][k] + t * kRamp[low + 1][k])));
  return text + ")";
}

std::string text_at(double x, double y, const std::string& words, const std::string& more = "") {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" " + more + ">" + words + "</text>\n";
}

std::string escaped(const std::string& words) {
  std::string text;
  for (const char c : words) text += c == '<' ? std::string("&lt;") : c == '&' ? std::string("&amp;") : std::string(1, c);
  return text;
}

/// The plan view: metres to the picture.
class View {
 public:
  explicit View(const Path& path) : low_(path.points().front()), high_(low_) {
    for (const Vec2 p : path.points()) {
      low_ = {std::min(low_.x, p.x), std::min(low_.y, p.y)};
      high_ = {std::max(high_.x, p.x), std::max(high_.y, p.y)};
    }
    low_ = low_ - Vec2{kAround_m, kAround_m};
    high_ = high_ + Vec2{kAround_m, kAround_m};
    scale_ = std::min((kWidth - 2.0 * kBorder) / (high_.x - low_.x), 900.0 / (high_.y - low_.y));
  }
  [[nodiscard]] double height() const { return scale_ * (high_.y - low_.y); }
  [[nodiscard]] bool shows(Vec2 p) const { return p.x >= low_.x && p.x <= high_.x && p.y >= low_.y && p.y <= high_.y; }
  [[nodiscard]] std::string at(Vec2 p) const {
    return number(kBorder + scale_ * (p.x - low_.x)) + " " + number(kBorder + height() - scale_ * (p.y - low_.y));
  }

 private:
  Vec2 low_;
  Vec2 high_;
  double scale_ = 1.0;
};

/// The edges between free and blocked cells, runs of them as one.
std::string walls(const OccupancyMap& map, const View& view) {
  std::string d;
  const auto add = [&](Vec2 from, Vec2 to) {
    const Vec2 a = map.to_map(from);
    const Vec2 b = map.to_map(to);
    if (view.shows(a) && view.shows(b)) d += "M" + view.at(a) + "L" + view.at(b);
  };
  for (const bool across : {true, false}) {
    const int lines = across ? map.height() : map.width();
    const int along = across ? map.width() : map.height();
    for (int line = 0; line <= lines; ++line) {
      int start = -1;
      for (int k = 0; k <= along; ++k) {
        const auto blocked = [&](int l) { return across ? map.blocked(k, l) : map.blocked(l, k); };
        const bool edge = k < along && blocked(line) != blocked(line - 1);
        if (edge && start < 0) start = k;
        if (edge || start < 0) continue;
        if (across) {
          add({static_cast<double>(start), static_cast<double>(line)}, {static_cast<double>(k), static_cast<double>(line)});
        } else {
          add({static_cast<double>(line), static_cast<double>(start)}, {static_cast<double>(line), static_cast<double>(k)});
        }
        start = -1;
      }
    }
  }
  return "<path d=\"" + d + "\" stroke=\"#444\" stroke-width=\"1\" fill=\"none\"/>\n";
}

std::string coloured_line(const Path& path, const std::vector<double>& speed, double slowest, double fastest, const View& view) {
  std::string svg;
  for (std::size_t i = 0; i < path.segments(); ++i) {
    const std::size_t next = (i + 1) % path.size();
    const double part = fastest > slowest ? (0.5 * (speed[i] + speed[next]) - slowest) / (fastest - slowest) : 1.0;
    svg += "<path d=\"M" + view.at(path.points()[i]) + "L" + view.at(path.points()[next]) + "\" stroke=\"" + colour(part) +
           "\" stroke-width=\"2.5\" stroke-linecap=\"round\"/>\n";
  }
  const Vec2 along = unit_vector(path.heading_at(0.0));
  const Vec2 start = path.points().front();
  svg += "<path d=\"M" + view.at(start - 0.5 * perpendicular(along)) + "L" + view.at(start + 0.5 * perpendicular(along)) +
         "\" stroke=\"#000\" stroke-width=\"2\"/>\n";
  svg += "<path d=\"M" + view.at(start + 1.6 * along) + "L" + view.at(start + 1.1 * along + 0.3 * perpendicular(along)) + "L" +
         view.at(start + 1.1 * along - 0.3 * perpendicular(along)) + "Z\" fill=\"#000\"/>\n";
  return svg;
}

/// A curve over the way, from 0 to its largest value.
std::string curve(const Path& path, const std::vector<double>& value, double top, const std::string& name, const std::string& stroke) {
  const double highest = std::max(1e-6, *std::max_element(value.begin(), value.end()));
  const auto lowest = std::min_element(value.begin(), value.end());
  const double x_scale = (kWidth - 2.0 * kBorder) / path.length_m();
  std::string d;
  for (std::size_t i = 0; i < value.size(); ++i)
    d += (i == 0 ? "M" : "L") + number(kBorder + x_scale * path.s_of(i)) + " " + number(top + kPanel - kPanel * value[i] / highest);
  std::string svg = "<rect x=\"" + number(kBorder) + "\" y=\"" + number(top) + "\" width=\"" + number(kWidth - 2.0 * kBorder) +
                    "\" height=\"" + number(kPanel) + "\" fill=\"none\" stroke=\"#bbb\"/>\n";
  svg += "<path d=\"" + d + "\" stroke=\"" + stroke + "\" stroke-width=\"1.5\" fill=\"none\"/>\n";
  const double lowest_s = path.s_of(static_cast<std::size_t>(lowest - value.begin()));
  svg +=
      text_at(kBorder, top - 6.0,
              name + ": " + format_number(*lowest, 3) + " (at s = " + format_number(lowest_s, 4) + " m) to " + format_number(highest, 3));
  svg += text_at(kBorder - 6.0, top + kPanel, "0", "text-anchor=\"end\"");
  svg += text_at(kBorder - 6.0, top + 10.0, format_number(highest, 3), "text-anchor=\"end\"");
  return svg;
}

}  // namespace

std::string raceline_svg(const std::string& title, const Path& path, const std::vector<double>& speed_mps,
                         const std::vector<double>& clearance_m, const OccupancyMap* map) {
  const View view(path);
  const double first = kBorder + view.height() + 40.0;
  const double second = first + kPanel + 40.0;
  const double height = (clearance_m.empty() ? first : second) + kPanel + kBorder;
  const auto [slowest, fastest] = std::minmax_element(speed_mps.begin(), speed_mps.end());
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(kWidth) + " " + number(height) +
                    "\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  svg += text_at(0.5 * kWidth, 24.0, escaped(title), "text-anchor=\"middle\" font-size=\"16\"");
  if (map != nullptr) svg += walls(*map, view);
  svg += coloured_line(path, speed_mps, *slowest, *fastest, view);
  svg += curve(path, speed_mps, first, "speed m/s", "#a03020");
  if (!clearance_m.empty()) svg += curve(path, clearance_m, second, "clearance of the chassis, m", "#205090");
  svg += text_at(0.5 * kWidth, height - 12.0, "s, m: 0 to " + format_number(path.length_m(), 5), "text-anchor=\"middle\"");
  return svg + "</svg>\n";
}

}  // namespace pitwall::tracks::build
