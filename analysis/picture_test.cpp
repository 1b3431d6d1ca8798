// SPDX-License-Identifier: Apache-2.0
#include "analysis/picture.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

using namespace pitwall::analysis;

namespace {

std::size_t times(const std::string& in, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = in.find(what); at != std::string::npos; at = in.find(what, at + 1)) ++n;
  return n;
}

Picture sample_picture() {
  Picture picture;
  picture.title = "a < b & c";
  picture.begin_s = 0.0;
  picture.end_s = 2.0;
  picture.panels = {
      {"speed [m/s]", {{"commanded", {0.0, 1.0, 2.0}, {0.0, 2.0, 1.0}, true}, {"measured", {0.0, 1.0, 2.0}, {0.0, NAN, 1.0}, false}}},
      {"nothing", {{"empty", {}, {}, false}}}};
  picture.bands = {{0.5, 0.7, "ttc_brake", 0}};
  TopView view;
  view.title = "stop 1";
  view.points_base = {{1.0, 0.5}, {9.0, 0.0}};
  view.chassis = {-0.1, 0.4, 0.14};
  view.padded = {-0.15, 0.45, 0.16};
  view.curvature = 0.8;
  view.has_beam = true;
  view.beam_base = {1.0, 0.5};
  picture.views = {view};
  return picture;
}

}  // namespace

TEST_CASE("every panel has its lines and bands, every stop its view, and nothing is not a number") {
  const std::string svg = to_svg(sample_picture());
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find("inf") == std::string::npos);
  CHECK(svg.find("a &lt; b &amp; c") != std::string::npos);
  CHECK(times(svg, "fill-opacity=\"0.18\"") == 2);
  CHECK(times(svg, "<polygon") == 2);
  // The point beyond the picture is left out; the beam's end is drawn on top.
  CHECK(times(svg, "<circle") == 2);
  CHECK(times(svg, "<svg") == 1);
  CHECK(times(svg, "</svg>") == 1);
  CHECK(times(svg, "<g>") == times(svg, "</g>"));
}

TEST_CASE("a held line steps, and a gap breaks a line") {
  Picture picture = sample_picture();
  const std::string both = to_svg(picture);
  picture.panels[0].lines[0].held = false;
  CHECK(times(both, "L") == times(to_svg(picture), "L") + 2);
  picture.panels[0].lines[1].value[1] = 0.5;
  CHECK(times(to_svg(picture), "M") == times(both, "M") - 1);
}

TEST_CASE("a left turn is drawn to the left") {
  Picture picture = sample_picture();
  const std::string left = to_svg(picture);
  picture.views[0].curvature = -0.8;
  const std::string right = to_svg(picture);
  CHECK(left != right);
  // The swept path of the outer side ends left of the middle of the view (170 of 330) in a left turn.
  const auto end_of_path = [](const std::string& svg) {
    const std::size_t path = svg.find("stroke=\"#2e8b57\" d=\"M", svg.find("<g>"));
    const std::size_t last = svg.rfind('L', svg.find('"', path + 22));
    return std::stod(svg.substr(last + 1));
  };
  CHECK(end_of_path(left) < 170.0);
  CHECK(end_of_path(right) > 170.0);
}
