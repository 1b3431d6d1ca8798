// SPDX-License-Identifier: Apache-2.0
// Pictures of a stretch of driving as SVG, drawn without any library: lines over time with bands, and top views of the car among what its
// scanner saw.
#pragma once

#include <string>
#include <vector>

#include "core/car.hpp"
#include "core/geometry.hpp"

namespace pitwall::analysis {

/// One line of a panel; NaN breaks it.
struct Line {
  std::string name;
  std::vector<double> t_s, value;
  bool held = false;  ///< steps from value to value
};

/// Lines over time in one pair of axes.
struct Panel {
  std::string title;  ///< with its unit
  std::vector<Line> lines;
};

/// A stretch of time that stands out in every panel.
struct Band {
  double begin_s = 0.0;
  double end_s = 0.0;
  std::string label;
  int colour = 0;  ///< 0 red, 1 orange, 2 grey
};

/// A stop from above: base_link in the middle of the lower half, x upwards.
struct TopView {
  std::string title;
  std::string subtitle;
  std::vector<Vec2> points_base;  ///< ends of valid beams
  Vec2 lidar_base;
  BodyRectangle chassis;
  BodyRectangle padded;
  double curvature = 0.0;  ///< of the arc being driven
  double path_m = 3.0;     ///< how much of it is drawn
  bool has_beam = false;
  Vec2 beam_base;  ///< end of the beam that tripped
};

struct Picture {
  std::string title;
  double begin_s = 0.0;
  double end_s = 1.0;
  std::vector<Panel> panels;
  std::vector<Band> bands;
  std::vector<TopView> views;
};

std::string to_svg(const Picture& picture);

}  // namespace pitwall::analysis
