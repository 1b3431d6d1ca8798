// SPDX-License-Identifier: Apache-2.0
#include "analysis/picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/text.hpp"

namespace pitwall::analysis {

namespace {

constexpr double kWidth = 1000.0;
constexpr double kLeft = 70.0;
constexpr double kRight = 150.0;
constexpr double kPanel = 170.0;
constexpr double kGap = 46.0;
constexpr double kTop = 50.0;
constexpr double kView = 320.0;
constexpr std::size_t kViewsInRow = 3;
constexpr std::size_t kMostPoints = 3000;
constexpr std::array kLines{"#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad"};
constexpr std::array kBands{"#c0392b", "#e08e0b", "#7f7f7f"};

std::string n(double value) { return format_number(value, 6); }

std::string escaped(const std::string& words) {
  std::string out;
  for (const char c : words) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string words(double x, double y, const std::string& what, const std::string& more = "") {
  return "<text x=\"" + n(x) + "\" y=\"" + n(y) + "\" " + more + ">" + escaped(what) + "</text>\n";
}

/// A round step of which about `count` fit into a span.
double round_step(double span, double count) {
  const double raw = span / count;
  const double power = math::pow(10.0, std::floor(math::log(raw) / math::log(10.0)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw) return factor * power;
  }
  return 10.0 * power;
}

/// One panel's axes: time to the right, value upwards.
class Axes {
 public:
  Axes(const Picture& picture, const Panel& panel, double top) : begin_s_(picture.begin_s), end_s_(picture.end_s), top_(top) {
    low_ = std::numeric_limits<double>::infinity();
    high_ = -low_;
    for (const Line& line : panel.lines) {
      for (const double v : line.value) {
        if (!std::isfinite(v)) continue;
        low_ = std::min(low_, v);
        high_ = std::max(high_, v);
      }
    }
    if (!(low_ <= high_)) low_ = high_ = 0.0;
    const double margin = std::max(0.05 * (high_ - low_), 1e-3);
    low_ -= margin;
    high_ += margin;
  }
  [[nodiscard]] double x(double t_s) const {
    return kLeft + (kWidth - kLeft - kRight) * (std::clamp(t_s, begin_s_, end_s_) - begin_s_) / std::max(1e-9, end_s_ - begin_s_);
  }
  [[nodiscard]] double y(double value) const { return top_ + kPanel * (high_ - value) / (high_ - low_); }

  [[nodiscard]] std::string grid(const std::string& title) const {
    std::string svg = words(kLeft, top_ - 8.0, title, "font-weight=\"bold\"");
    const double dt = round_step(end_s_ - begin_s_, 10.0);
    for (double t = std::ceil(begin_s_ / dt) * dt; t <= end_s_ + 1e-9; t += dt) {
      svg += "<path d=\"M" + n(x(t)) + " " + n(top_) + "v" + n(kPanel) + "\" stroke=\"#e4e4e4\"/>\n" +
             words(x(t), top_ + kPanel + 14.0, format_number(t, 5), "text-anchor=\"middle\" fill=\"#666\"");
    }
    const double dv = round_step(high_ - low_, 4.0);
    for (double v = std::ceil(low_ / dv) * dv; v <= high_ + 1e-9; v += dv) {
      const double shown = std::abs(v) < 1e-9 * dv ? 0.0 : v;
      svg += "<path d=\"M" + n(kLeft) + " " + n(y(v)) + "H" + n(kWidth - kRight) + "\" stroke=\"#e4e4e4\"/>\n" +
             words(kLeft - 6.0, y(v) + 4.0, format_number(shown, 3), "text-anchor=\"end\" fill=\"#666\"");
    }
    return svg;
  }
  [[nodiscard]] std::string band(const Band& band, bool labelled) const {
    const double from = x(band.begin_s);
    const std::string colour = kBands[static_cast<std::size_t>(band.colour) % kBands.size()];
    std::string svg = "<rect x=\"" + n(from) + "\" y=\"" + n(top_) + "\" width=\"" + n(std::max(1.0, x(band.end_s) - from)) +
                      "\" height=\"" + n(kPanel) + "\" fill=\"" + colour + "\" fill-opacity=\"0.18\"><title>" + escaped(band.label) +
                      "</title></rect>\n";
    if (labelled) svg += words(from + 2.0, top_ + 12.0, band.label, "font-size=\"9\" fill=\"" + colour + "\"");
    return svg;
  }
  [[nodiscard]] std::string line(const Line& line, std::size_t index) const {
    const std::string colour = kLines[index % kLines.size()];
    std::string path;
    const std::size_t stride = 1 + line.t_s.size() / kMostPoints;
    bool down = false;
    double last = NAN;
    for (std::size_t i = 0; i < line.t_s.size(); i += stride) {
      const double v = line.value[i];
      if (line.t_s[i] < begin_s_ || line.t_s[i] > end_s_ || !std::isfinite(v)) {
        down = false;
        continue;
      }
      if (down && line.held) path += "L" + n(x(line.t_s[i])) + " " + n(y(last));
      path += (down ? "L" : "M") + n(x(line.t_s[i])) + " " + n(y(v));
      down = true;
      last = v;
    }
    return "<path fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"1.3\" d=\"" + path + "\"/>\n" +
           words(kWidth - kRight + 10.0, top_ + 14.0 + 16.0 * static_cast<double>(index), line.name, "fill=\"" + colour + "\"");
  }

 private:
  double begin_s_;
  double end_s_;
  double top_;
  double low_ = 0.0;
  double high_ = 0.0;
};

/// Where a pose of the car is that has driven `s` along its arc.
Pose2 along(double curvature, double s) {
  if (std::abs(curvature) < 1e-6) return {s, 0.0, 0.0};
  const double turned = s * curvature;
  return {math::sin(turned) / curvature, (1.0 - math::cos(turned)) / curvature, turned};
}

class View {
 public:
  View(const TopView& view, double left, double top) : view_(view), left_(left), top_(top) {}
  [[nodiscard]] std::string svg() const {
    std::string out = "<g><rect x=\"" + n(left_) + "\" y=\"" + n(top_) + "\" width=\"" + n(kView) + "\" height=\"" + n(kView) +
                      "\" fill=\"#fafafa\" stroke=\"#ccc\"/>\n" +
                      words(left_ + 4.0, top_ - 18.0, view_.title, "font-weight=\"bold\" font-size=\"11\"") +
                      words(left_ + 4.0, top_ - 5.0, view_.subtitle, "font-size=\"10\" fill=\"#555\"");
    out += swept();
    for (const Vec2 p : view_.points_base) {
      if (seen(p)) out += "<circle cx=\"" + n(at(p).x) + "\" cy=\"" + n(at(p).y) + "\" r=\"1.2\" fill=\"#333\"/>\n";
    }
    out += rectangle(view_.padded, "fill=\"none\" stroke=\"#1b6ca8\" stroke-dasharray=\"3 2\"");
    out += rectangle(view_.chassis, "fill=\"#1b6ca8\" fill-opacity=\"0.5\" stroke=\"#1b6ca8\"");
    if (view_.has_beam && seen(view_.beam_base)) {
      const Vec2 a = at(view_.lidar_base);
      const Vec2 b = at(view_.beam_base);
      out += "<path d=\"M" + n(a.x) + " " + n(a.y) + "L" + n(b.x) + " " + n(b.y) + "\" stroke=\"#c0392b\"/><circle cx=\"" + n(b.x) +
             "\" cy=\"" + n(b.y) + "\" r=\"4\" fill=\"#c0392b\"/>\n";
    }
    return out + "</g>\n";
  }

 private:
  // 4 m ahead, 1 m behind, 2.5 m to each side.
  static constexpr double kScale = kView / 5.0;
  [[nodiscard]] Vec2 at(Vec2 base) const { return {left_ + 0.5 * kView - kScale * base.y, top_ + 0.8 * kView - kScale * base.x}; }
  [[nodiscard]] bool seen(Vec2 base) const { return base.x < 4.0 && base.x > -1.0 && std::abs(base.y) < 2.5; }
  static std::array<Vec2, 4> corners(const BodyRectangle& body) {
    return {Vec2{body.front_m, body.half_width_m},
            {body.front_m, -body.half_width_m},
            {body.rear_m, -body.half_width_m},
            {body.rear_m, body.half_width_m}};
  }
  [[nodiscard]] std::string rectangle(const BodyRectangle& body, const std::string& style) const {
    std::string points;
    for (const Vec2 corner : corners(body)) points += n(at(corner).x) + "," + n(at(corner).y) + " ";
    return "<polygon points=\"" + points + "\" " + style + "/>\n";
  }
  /// Both sides of the chassis as it goes on along its arc.
  [[nodiscard]] std::string swept() const {
    std::string out;
    for (const double side : {1.0, -1.0}) {
      std::string path;
      for (double s = 0.0; s <= view_.path_m; s += 0.1) {
        const Vec2 p = along(view_.curvature, s) * Vec2{view_.chassis.front_m, side * view_.chassis.half_width_m};
        if (!seen(p)) break;
        path += (path.empty() ? "M" : "L") + n(at(p).x) + " " + n(at(p).y);
      }
      if (!path.empty()) out += "<path fill=\"none\" stroke=\"#2e8b57\" d=\"" + path + "\"/>\n";
    }
    return out;
  }

  const TopView& view_;
  double left_;
  double top_;
};

}  // namespace

std::string to_svg(const Picture& picture) {
  const auto panels = static_cast<double>(picture.panels.size());
  const double views_top = kTop + panels * (kPanel + kGap) + 30.0;
  const auto rows = static_cast<double>((picture.views.size() + kViewsInRow - 1) / kViewsInRow);
  const double height = views_top + rows * (kView + 45.0);
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + n(kWidth) + " " + n(height) +
                    "\" font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"" + n(kWidth) + "\" height=\"" + n(height) +
                    "\" fill=\"white\"/>\n" + words(kLeft, 22.0, picture.title, "font-size=\"15\"");
  for (std::size_t k = 0; k < picture.panels.size(); ++k) {
    const Panel& panel = picture.panels[k];
    const Axes axes(picture, panel, kTop + static_cast<double>(k) * (kPanel + kGap));
    svg += axes.grid(panel.title);
    double labelled_to = 0.0;
    for (const Band& band : picture.bands) {
      // Labels that would lie on one another are left to the tooltip.
      const bool free = k == 0 && axes.x(band.begin_s) >= labelled_to;
      if (free) labelled_to = axes.x(band.begin_s) + 6.0 * static_cast<double>(band.label.size());
      svg += axes.band(band, free);
    }
    for (std::size_t i = 0; i < panel.lines.size(); ++i) svg += axes.line(panel.lines[i], i);
  }
  for (std::size_t k = 0; k < picture.views.size(); ++k) {
    const double left = 10.0 + static_cast<double>(k % kViewsInRow) * (kView + 10.0);
    const double top = views_top + static_cast<double>(k / kViewsInRow) * (kView + 45.0);
    svg += View(picture.views[k], left, top).svg();
  }
  return svg + "</svg>\n";
}

}  // namespace pitwall::analysis
