// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/math.hpp"
#include "core/text.hpp"
#include "tracks/track.hpp"

namespace pitwall::tracks {
namespace {

Line parsed(const std::string& text, bool closed = true) {
  auto line = parse_line(text, "line.csv", closed);
  REQUIRE_MESSAGE(line.ok(), (line.ok() ? "" : line.error().message));
  return *std::move(line);
}

std::string line_error_of(const std::string& text, bool closed = true) {
  const auto line = parse_line(text, "line.csv", closed);
  return line.ok() ? "" : line.error().message;
}

const std::string kSquare = "0,0,1.0,1.5\n4,0,1.1,1.6\n4,4,1.2,1.7\n0,4,1.3,1.8\n";

/// A racing line around a circle of radius 5, counter-clockwise, psi measured from +x turned by `psi_offset`.
std::string circle(double psi_offset, char separator) {
  std::string text;
  for (int k = 0; k <= 40; ++k) {
    const double angle = 2.0 * math::kPi * (k % 40) / 40.0;
    const std::vector<double> values{
        k * 0.785, 5.0 * math::cos(angle), 5.0 * math::sin(angle), angle + math::kPi / 2 + psi_offset, 0.2, 3.5, -0.5};
    for (std::size_t i = 0; i < values.size(); ++i) text += (i > 0 ? std::string(1, separator) + " " : "") + format_exact(values[i]);
    text += "\n";
  }
  return text;
}

TEST_CASE("a centre line is read with and without its header, whatever the line ends") {
  std::string crlf = kSquare;
  for (std::size_t at = 0; (at = crlf.find('\n', at)) != std::string::npos; at += 2) crlf.insert(at, "\r");
  for (const std::string& text :
       {kSquare, "# x_m, y_m, w_tr_right_m, w_tr_left_m\n" + kSquare, "x_m,y_m,w_tr_right_m,w_tr_left_m\n" + kSquare,
        "\xEF\xBB\xBF# x_m, y_m, w_tr_right_m, w_tr_left_m\n\n" + kSquare + "\n# end\n", crlf, kSquare.substr(0, kSquare.size() - 1)}) {
    const Line line = parsed(text);
    CHECK(line.path.closed());
    CHECK(line.path.length_m() == 16.0);
    CHECK(line.path.points() == std::vector<Vec2>{{0, 0}, {4, 0}, {4, 4}, {0, 4}});
    CHECK(line.width_right_m == std::vector<double>{1.0, 1.1, 1.2, 1.3});
    CHECK(line.width_left_m == std::vector<double>{1.5, 1.6, 1.7, 1.8});
    CHECK(line.heading_rad.empty());
    CHECK(line.speed_mps.empty());
  }
}

TEST_CASE("columns are found by the names of the header, not by their place") {
  const Line line = parsed("# w_tr_left_m, note, y_m, x_m\n1,9,0,0\n2,9,0,4\n3,9,4,4\n");
  CHECK(line.path.points() == std::vector<Vec2>{{0, 0}, {4, 0}, {4, 4}});
  CHECK(line.width_left_m == std::vector<double>{1, 2, 3});
  CHECK(line.width_right_m.empty());
}

TEST_CASE("a racing line is read with semicolons and commas, and with either psi") {
  const std::string comments = "# 1234\n# abcd; efgh\n# s_m; x_m; y_m; psi_rad; kappa_radpm; vx_mps; ax_mps2\n";
  for (const std::string& text :
       {comments + circle(0.0, ';'), circle(0.0, ','), circle(-math::kPi / 2, ','), circle(-math::kPi / 2 + 4 * math::kPi, ';')}) {
    const Line line = parsed(text);
    CHECK(line.path.size() == 40);
    CHECK(line.speed_mps == std::vector<double>(40, 3.5));
    REQUIRE(line.heading_rad.size() == 40);
    CHECK(line.width_left_m.empty());
    for (std::size_t i = 0; i < 40; ++i) {
      const double expected = 2.0 * math::kPi * static_cast<double>(i) / 40.0 + math::kPi / 2;
      CHECK(std::abs(wrap_angle(line.heading_rad[i] - expected)) < 1e-9);
      CHECK(std::abs(line.heading_rad[i]) <= math::kPi);
    }
  }
}

TEST_CASE("a psi that fits the points in neither way is refused") {
  CHECK(contains(line_error_of(circle(math::kPi, ';')), "psi"));
  CHECK(contains(line_error_of(circle(math::kPi / 2, ';')), "psi"));
}

TEST_CASE("a repeated first point is dropped from a closed line, kept on an open one") {
  CHECK(parsed(kSquare + "0,0,1,1\n").path.size() == 4);
  CHECK(parsed(kSquare + "0.0001,0,1,1\n").path.size() == 4);
  CHECK(parsed(kSquare + "0.0001,0,1,1\n").width_left_m.size() == 4);
  CHECK(parsed(kSquare + "0,0.5,1,1\n").path.size() == 5);
  const Line open = parsed(kSquare + "0,0,1,1\n", false);
  CHECK(open.path.size() == 5);
  CHECK(open.path.length_m() == 16.0);
}

TEST_CASE("a speed column of zeros counts as none") {
  const std::string header = "# x_m, y_m, vx_mps\n";
  CHECK(parsed(header + "0,0,0\n4,0,0\n4,4,0\n").speed_mps.empty());
  CHECK(parsed(header + "0,0,0\n4,0,2\n4,4,0\n").speed_mps == std::vector<double>{0, 2, 0});
}

TEST_CASE("a bad line is refused with file and line number") {
  CHECK(contains(line_error_of("0,0,1,1\n4,0,1,1\n4,nan,1,1\n0,4,1,1\n"), "line.csv:3: column 2 = 'nan'"));
  CHECK(contains(line_error_of("0,0,1,1\n4,0,1,inf\n4,4,1,1\n"), "line.csv:2: column 4 = 'inf'"));
  CHECK(contains(line_error_of("0,0,1,1\n4,abc,1,1\n4,4,1,1\n"), "line.csv:2: column 2 = 'abc'"));
  CHECK(contains(line_error_of("0,0,1,1\n4,,1,1\n4,4,1,1\n"), "line.csv:2: column 2 = ''"));
  CHECK(contains(line_error_of("0,0,1,1\n4,0,1\n4,4,1,1\n"), "line.csv:2: 3 columns where 4 are expected"));
  CHECK(contains(line_error_of("0,0,1,1\n4,0,1,1,\n4,4,1,1\n"), "line.csv:2: 5 columns where 4 are expected"));
  CHECK(contains(line_error_of("0,0,1,1,1\n4,0,1,1,1\n4,4,1,1,1\n"), "line.csv:1: 5 columns: expected 2 columns (x_m"));
  CHECK(contains(line_error_of("# x_m, y_m, d_right\n0,0,1,1\n"), "line.csv:2: 4 columns where 3"));
  CHECK(contains(line_error_of("# x_m, y_m, x\n0,0,1\n"), "line.csv:1: the header names a column twice"));
  CHECK(contains(line_error_of("0,0,1,1\n4,0,-0.1,1\n4,4,1,1\n"), "line.csv:2: column 3 = -0.1: a width"));
  CHECK(contains(line_error_of("# x_m,y_m,vx_mps\n0,0,1\n4,0,-1\n4,4,1\n"), "line.csv:3: column 3 = -1: a speed"));
  CHECK(contains(line_error_of("0,0,1,1\n4,0,1,1\n4,0,1,1\n0,4,1,1\n"), "line.csv:3: the same point as in line 2"));
  CHECK(contains(line_error_of(kSquare + "0,0,1,1\n0,0,1,1\n"), "line.csv:1: the same point as in line 5"));
  CHECK(contains(line_error_of("0,0,1,1\n4,0,1,1\n4,1e100,1,1\n0,4,1,1\n"), "line.csv:3: 1e+100 m from the point of line 2"));
  CHECK(contains(line_error_of("0,0,1,1\n900,0,1,1\n900,900,1,1\n"), "line.csv:1: 1273 m from the point of line 3"));
  CHECK(contains(line_error_of("0,0,1,1\n4,0,1,1\n"), "line.csv: 2 points"));
  CHECK(contains(line_error_of("0,0,1,1\n4,0,1,1\n0,0,1,1\n"), "line.csv: 2 points"));
  CHECK(contains(line_error_of("0,0,1,1\n", false), "1 points"));
  CHECK(contains(line_error_of(""), "0 points"));
  CHECK(contains(line_error_of("# only a comment\n"), "0 points"));
  CHECK(contains(load_line("/nonexistent/line.csv").error().message, "/nonexistent/line.csv"));
}

TEST_CASE("recorded laps have two columns, profiles a third with the speed") {
  const auto lap = parse_line("0,0\n4,0\n4,4\n", "lap.csv");
  REQUIRE(lap.ok());
  CHECK(lap->path.size() == 3);
  CHECK(lap->speed_mps.empty());
  const auto profile = parse_line("0,0,1.5\n4,0,2\n4,4,2.5\n", "profile.csv");
  REQUIRE(profile.ok());
  CHECK(profile->speed_mps == std::vector<double>{1.5, 2.0, 2.5});
}

TEST_CASE("the planner's curvature is kept, positive to the left whatever the file counts, and zeros count as none") {
  const auto ring = [](double sign) {
    std::string text = "# s_m; x_m; y_m; psi_rad; kappa_radpm; vx_mps; ax_mps2\n";
    for (int i = 0; i < 40; ++i) {
      const double a = 2.0 * math::kPi * i / 40;
      const Vec2 p = 2.0 * unit_vector(a);
      text += std::to_string(0.05 * math::kPi * 2.0 * i) + "; " + std::to_string(p.x) + "; " + std::to_string(p.y) + "; " +
              std::to_string(a + 0.5 * math::kPi) + "; " + std::to_string(0.5 * sign) + "; 1.0; 0.0\n";
    }
    return parse_line(text, "ring.csv");
  };
  for (const double sign : {1.0, -1.0}) {
    const auto line = ring(sign);
    REQUIRE_MESSAGE(line.ok(), (line.ok() ? "" : line.error().message));
    REQUIRE(line->curvature_per_m.size() == 40);
    for (const double kappa : line->curvature_per_m) CHECK(kappa == 0.5);
  }
  CHECK(ring(0.0)->curvature_per_m.empty());
}

}  // namespace
}  // namespace pitwall::tracks
