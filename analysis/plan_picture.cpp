// SPDX-License-Identifier: Apache-2.0
#include "analysis/plan_picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/text.hpp"

namespace pitwall::analysis {

namespace {

constexpr double kSide = 900.0;
constexpr double kMargin = 40.0;
constexpr double kLegend = 20.0;
constexpr std::size_t kMostPlanPoints = 4000;
constexpr std::array kColours{"#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad"};
constexpr int kDrawnOccupied = 50;

std::string figure(double value) { return format_number(value, 6); }

class Frame {
 public:
  void include(Vec2 p) {
    if (!std::isfinite(p.x) || !std::isfinite(p.y)) return;
    low_ = {std::min(low_.x, p.x), std::min(low_.y, p.y)};
    high_ = {std::max(high_.x, p.x), std::max(high_.y, p.y)};
  }
  [[nodiscard]] double span_m() const { return std::max({1.0, high_.x - low_.x, high_.y - low_.y}); }
  [[nodiscard]] double scale() const { return kSide / span_m(); }
  [[nodiscard]] std::string at(Vec2 p) const {
    return figure(kMargin + scale() * (p.x - low_.x)) + " " + figure(kMargin + kLegend + scale() * (high_.y - p.y));
  }
  [[nodiscard]] double width() const { return 2.0 * kMargin + std::max(200.0, scale() * (high_.x - low_.x)); }
  [[nodiscard]] double height() const { return 2.0 * kMargin + 2.0 * kLegend + scale() * (high_.y - low_.y); }
  [[nodiscard]] bool empty() const { return !(low_.x <= high_.x); }

 private:
  Vec2 low_{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  Vec2 high_{-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
};

/// Occupied cells, run by run along the rows.
template <class Take>
void each_run(const tracks::OccupancyMap& map, const Take& take) {
  for (int j = 0; j < map.height(); ++j) {
    for (int i = 0; i < map.width(); ++i) {
      const int begin = i;
      while (i < map.width() && map.value(i, j) >= kDrawnOccupied) ++i;
      if (i > begin) take(map.to_map({static_cast<double>(begin), j + 0.5}), map.to_map({static_cast<double>(i), j + 0.5}));
    }
  }
}

std::string svg_text(double x, double y, const std::string& words, const std::string& more) {
  return "<svg_text x=\"" + figure(x) + "\" y=\"" + figure(y) + "\" " + more + ">" + words + "</svg_text>\n";
}

std::string path_of(const PlanLine& line, const Frame& frame) {
  std::string path;
  const std::size_t stride = 1 + line.points.size() / kMostPlanPoints;
  for (std::size_t i = 0; i < line.points.size(); i += stride) path += (path.empty() ? "M" : "L") + frame.at(line.points[i]);
  return path;
}

std::string scale_bar(const Frame& frame) {
  double bar_m = 1.0;
  while (bar_m * 10.0 < frame.span_m()) bar_m *= 10.0;
  const double y = frame.height() - 12.0;
  return "<path d=\"M" + figure(kMargin) + " " + figure(y) + "h" + figure(frame.scale() * bar_m) +
         "\" stroke=\"#333\" stroke-width=\"2\"/>\n" + svg_text(kMargin + frame.scale() * bar_m + 6.0, y + 4.0, figure(bar_m) + " m", "");
}

}  // namespace

std::string to_svg(const Plan& plan) {
  Frame frame;
  if (plan.map != nullptr) {
    each_run(*plan.map, [&](Vec2 a, Vec2 b) { frame.include(a), frame.include(b); });
  }
  for (const PlanLine& line : plan.lines) {
    for (const Vec2 p : line.points) frame.include(p);
  }
  if (frame.empty()) frame.include({});
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + figure(frame.width()) + " " + figure(frame.height()) +
                    "\" font-family=\"sans-serif\" font-size=\"11\">\figure<rect width=\"" + figure(frame.width()) + "\" height=\"" +
                    figure(frame.height()) + "\" fill=\"white\"/>\n" + svg_text(kMargin, 18.0, plan.title, "font-size=\"15\"");
  if (plan.map != nullptr) {
    std::string cells;
    each_run(*plan.map, [&](Vec2 a, Vec2 b) { cells += "M" + frame.at(a) + "L" + frame.at(b); });
    svg += "<path stroke=\"#444\" fill=\"none\" stroke-width=\"" + figure(std::max(0.5, frame.scale() * plan.map->resolution_m())) +
           "\" d=\"" + cells + "\"/>\n";
  }
  double legend = kMargin;
  const auto named = [&](const std::string& name, const std::string& colour) {
    svg += svg_text(legend, 36.0, name, "fill=\"" + colour + "\"");
    legend += 20.0 + 6.5 * static_cast<double>(name.size());
  };
  std::size_t colour = 0;
  for (const PlanLine& line : plan.lines) {
    const std::string c = kColours[colour++ % kColours.size()];
    svg += "<path fill=\"none\" stroke=\"" + c + "\" stroke-width=\"1.5\" d=\"" + path_of(line, frame) + "\"/>\n";
    named(line.name, c);
  }
  for (const PlanLinks& links : plan.links) {
    const std::string c = kColours[colour++ % kColours.size()];
    std::string path;
    for (const auto& [a, b] : links.links) path += "M" + frame.at(a) + "L" + frame.at(b);
    svg += "<path fill=\"none\" stroke=\"" + c + "\" stroke-width=\"1.5\" stroke-linecap=\"round\" d=\"" + path + "\"/>\n";
    named(links.name, c);
  }
  return svg + scale_bar(frame) + "</svg>\n";
}

}  // namespace pitwall::analysis
