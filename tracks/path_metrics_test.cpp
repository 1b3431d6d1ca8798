// SPDX-License-Identifier: Apache-2.0
#include "tracks/path_metrics.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/math.hpp"

namespace pitwall::tracks {
namespace {

Path circle(double radius = 5.0, int n = 720) {
  std::vector<Vec2> points;
  for (int i = 0; i < n; ++i) points.push_back(radius * unit_vector(2.0 * math::kPi * i / n));
  return Path::make(std::move(points), true).value();
}

Path straight(double length = 40.0, int n = 5) {
  std::vector<Vec2> points;
  for (int i = 0; i < n; ++i) points.push_back({length * i / (n - 1), 0.0});
  return Path::make(std::move(points), false).value();
}

PathSample sample(double t, const Pose2& pose, double v) {
  PathSample s;
  s.time_s = t;
  s.pose = pose;
  s.speed_mps = v;
  return s;
}

// Along x at 2 m/s, 0.1 s apart, `lateral` to the left.
std::vector<PathSample> along_x(double lateral, int n = 100, double yaw = 0.0) {
  std::vector<PathSample> samples;
  for (int i = 0; i < n; ++i) samples.push_back(sample(0.1 * i, {0.2 * i, lateral, yaw}, 2.0));
  return samples;
}

PathMetricsSettings no_launch() {
  PathMetricsSettings settings;
  settings.launch_lateral_m = 1000.0;
  return settings;
}

}  // namespace

TEST_CASE("distance is signed, left positive, to segments and not to vertices") {
  // Vertices 10 m apart: the nearest vertex is up to 5 m away, the line 0.3 m.
  for (const double lateral : {0.3, -0.3}) {
    const auto report = path_metrics(straight(), along_x(lateral), no_launch());
    REQUIRE(report.ok());
    const ErrorSpread& d = report->whole.cross_track_m;
    CHECK(d.mean == doctest::Approx(lateral));
    CHECK(d.mean_abs == doctest::Approx(0.3));
    CHECK(d.rms == doctest::Approx(0.3));
    CHECK(d.p50 == doctest::Approx(0.3));
    CHECK(d.max == doctest::Approx(0.3));
    CHECK(d.sd < 1e-6);
  }
}

TEST_CASE("heading is yaw against the path, wrapped; course is the direction of motion against it") {
  std::vector<PathSample> samples;
  for (int i = 0; i <= 400; ++i) {
    const double a = 2.0 * math::kPi * i / 200;  // two laps, heading through +-pi
    PathSample s = sample(0.05 * i, {5.0 * unit_vector(a).x, 5.0 * unit_vector(a).y, wrap_angle(a + 0.5 * math::kPi - 0.08)}, 3.0);
    s.course_rad = wrap_angle(a + 0.5 * math::kPi);
    samples.push_back(s);
  }
  const auto report = path_metrics(circle(), samples, no_launch());
  REQUIRE(report.ok());
  CHECK(report->whole.heading_rad.mean == doctest::Approx(-0.08).epsilon(0.01));
  CHECK(report->whole.heading_rad.max < 0.09);
  REQUIRE(report->whole.course_rad);
  CHECK(report->whole.course_rad->mean_abs < 1e-3);
  CHECK(path_metrics(straight(), along_x(0.1), no_launch())->whole.course_rad == std::nullopt);
}

TEST_CASE("laps are split at whole rounds, seam or not, with their times interpolated") {
  std::vector<PathSample> samples;
  const double rate = 2.0 * math::kPi / 9.97;  // a lap every 9.97 s
  for (int i = 0; i <= 320; ++i) {
    const double a = 1.0 + rate * 0.1 * i;
    samples.push_back(sample(0.1 * i, {5.1 * unit_vector(a).x, 5.1 * unit_vector(a).y, a + 0.5 * math::kPi}, 3.2));
  }
  const auto report = path_metrics(circle(), samples, no_launch());
  REQUIRE(report.ok());
  REQUIRE(report->laps.size() == 3);
  for (const PathStretch& lap : report->laps) {
    CHECK(lap.time_s == doctest::Approx(9.97).epsilon(1e-4));
    CHECK(lap.cross_track_m.mean == doctest::Approx(-0.1).epsilon(1e-2));
    REQUIRE(lap.ratio);
    CHECK(*lap.ratio == doctest::Approx(1.02).epsilon(2e-3));
  }
}

TEST_CASE("errors are weighted by the way, not by the time spent") {
  // 10 m at 2 m/s on the line, then 10 m at 0.2 m/s, 0.4 m off it.
  std::vector<PathSample> samples;
  for (int i = 0; i <= 50; ++i) samples.push_back(sample(0.1 * i, {0.2 * i, 0.0, 0.0}, 2.0));
  for (int i = 1; i <= 500; ++i) samples.push_back(sample(5.0 + 0.1 * i, {10.0 + 0.02 * i, 0.4, 0.0}, 0.2));
  PathMetricsSettings settings = no_launch();
  settings.jitter_m = 0.0;
  const auto by_way = path_metrics(straight(), samples, settings);
  settings.by_distance = false;
  const auto by_time = path_metrics(straight(), samples, settings);
  REQUIRE(by_way.ok());
  REQUIRE(by_time.ok());
  CHECK(by_way->whole.cross_track_m.mean == doctest::Approx(0.2).epsilon(0.03));
  CHECK(by_time->whole.cross_track_m.mean == doctest::Approx(0.4 * 500.0 / 551.0).epsilon(1e-6));
}

TEST_CASE("percentiles: linear interpolation as numpy's where weights are equal, else by weight") {
  const std::vector<std::pair<double, double>> equal{{1, 1}, {2, 1}, {4, 1}, {8, 1}};
  CHECK(weighted_percentile(equal, 0.0) == 1.0);
  CHECK(weighted_percentile(equal, 1.0) == 8.0);
  CHECK(weighted_percentile(equal, 0.5) == doctest::Approx(3.0));
  CHECK(weighted_percentile(equal, 0.95) == doctest::Approx(7.4));  // numpy.percentile([1, 2, 4, 8], 95)
  const std::vector<std::pair<double, double>> scaled{{1, 0.3}, {2, 0.3}, {4, 0.3}, {8, 0.3}};
  CHECK(weighted_percentile(scaled, 0.95) == doctest::Approx(7.4));
  // 500 values of 1 with a weight of 0.2, ten of 2 with a weight of 10: half of the weight each.
  std::vector<std::pair<double, double>> halves(500, {1.0, 0.2});
  halves.insert(halves.end(), 10, {2.0, 10.0});
  CHECK(weighted_percentile(halves, 0.45) == 1.0);
  CHECK(weighted_percentile(halves, 0.6) == 2.0);
  CHECK(weighted_percentile(std::vector<std::pair<double, double>>{{5, 2}}, 0.3) == 5.0);
}

TEST_CASE("the largest error says where and when") {
  std::vector<PathSample> samples = along_x(0.1);
  samples[37].pose.y = -0.6;
  const auto report = path_metrics(straight(), samples, no_launch());
  REQUIRE(report.ok());
  CHECK(report->whole.cross_track_m.max == doctest::Approx(0.6));
  CHECK(report->whole.cross_track_m.max_at_s_m == doctest::Approx(7.4));
  CHECK(report->whole.cross_track_m.max_at_time_s == doctest::Approx(3.7));
}

TEST_CASE("the launch is left out of the errors until the car was once fast and on the line, and is reported") {
  std::vector<PathSample> samples;
  for (int i = 0; i < 20; ++i) samples.push_back(sample(0.1 * i, {0.05 * i, 0.48, 0.0}, 0.5));
  for (int i = 0; i < 100; ++i) samples.push_back(sample(2.0 + 0.1 * i, {1.0 + 0.2 * i, i < 10 ? 0.3 : 0.05, 0.0}, 2.0));
  const auto report = path_metrics(straight(), samples);
  REQUIRE(report.ok());
  CHECK(report->launched);
  CHECK(report->launch_time_s == doctest::Approx(2.9));
  CHECK(report->whole.cross_track_m.samples == 90);
  CHECK(report->whole.cross_track_m.max == doctest::Approx(0.05));
  const auto never = path_metrics(straight(), along_x(0.5));
  CHECK_FALSE(never->launched);
  CHECK(never->whole.cross_track_m.samples == 0);
}

TEST_CASE("on a crossing the place stays on its leg, and on a closed path it never jumps back") {
  std::vector<Vec2> points;
  const int n = 800;
  for (int i = 0; i < n; ++i) {
    const double a = 2.0 * math::kPi * i / n;
    points.push_back({8.0 * math::sin(a), 4.0 * math::sin(2.0 * a)});
  }
  const Path eight = Path::make(points, true).value();
  std::vector<PathSample> samples;
  for (int i = 0; i <= n; i += 4) {
    const auto k = static_cast<std::size_t>(i % n);
    const double s = eight.s_of(k);
    const double heading = eight.heading_at(s);
    const Vec2 p = points[k] + 0.25 * perpendicular(unit_vector(heading));
    samples.push_back(sample(0.1 * i, {p.x, p.y, heading}, 2.0));
  }
  const auto report = path_metrics(eight, samples, no_launch());
  REQUIRE(report.ok());
  CHECK(report->searches == 0);
  CHECK(report->whole.progress_m == doctest::Approx(eight.length_m()).epsilon(0.01));
  CHECK(report->whole.cross_track_m.mean == doctest::Approx(0.25).epsilon(0.02));
  CHECK(report->whole.heading_rad.max < 0.2);
}

TEST_CASE("a car that was carried elsewhere is searched for on the whole path") {
  std::vector<PathSample> samples = along_x(0.1, 30);
  for (int i = 0; i < 30; ++i) samples.push_back(sample(3.0 + 0.1 * i, {30.0 + 0.2 * i, 0.1, 0.0}, 2.0));
  PathMetricsSettings settings = no_launch();
  settings.lost_m = 0.5;
  std::vector<Vec2> hairpin;
  for (int i = 0; i <= 40; ++i) hairpin.push_back({0.5 * i, 0.0});
  for (int i = 0; i <= 40; ++i) hairpin.push_back({20.0 - 0.5 * i, 3.0});
  const Path path = Path::make(hairpin, false).value();
  std::vector<PathSample> carried = along_x(0.1, 20);
  for (int i = 0; i < 20; ++i) carried.push_back(sample(2.0 + 0.1 * i, {4.0 - 0.2 * i, 2.9, math::kPi}, 2.0));
  const auto report = path_metrics(path, carried, settings);
  REQUIRE(report.ok());
  CHECK(report->searches == 1);
  CHECK(report->whole.cross_track_m.max == doctest::Approx(0.1));
}

TEST_CASE("standing jitter drives no way, and a run without motion divides by nothing") {
  std::vector<PathSample> samples;
  for (int i = 0; i < 1000; ++i) samples.push_back(sample(0.1 * i, {5.0 + 0.004 * (i % 2), 0.2, 0.0}, 0.0));
  const auto report = path_metrics(straight(), samples, no_launch());
  REQUIRE(report.ok());
  CHECK(report->whole.driven_m == 0.0);
  CHECK_FALSE((report->whole.ratio && !(*report->whole.ratio >= 0.0)));
  const auto one = path_metrics(straight(), std::vector<PathSample>{sample(0.0, {1.0, 0.2, 0.0}, 0.0)}, no_launch());
  REQUIRE(one.ok());
  CHECK_FALSE(one->whole.ratio);
  CHECK_FALSE(one->whole.progress_speed_mps);
}

TEST_CASE("a car that cuts corners has a ratio below 1, and is no better for it") {
  std::vector<Vec2> square{{0, 0}, {10, 0}, {10, 10}, {0, 10}};
  const Path path = Path::make(square, true).value();
  std::vector<PathSample> samples;
  for (int i = 0; i <= 400; ++i) {
    const double a = -0.75 * math::kPi + 2.0 * math::kPi * i / 400;
    samples.push_back(sample(0.1 * i, {5.0 + 4.2 * unit_vector(a).x, 5.0 + 4.2 * unit_vector(a).y, a + 0.5 * math::kPi}, 1.0));
  }
  PathMetricsSettings settings = no_launch();
  settings.lost_m = 10.0;
  const auto report = path_metrics(path, samples, settings);
  REQUIRE(report.ok());
  REQUIRE(report->whole.ratio);
  CHECK(*report->whole.ratio < 0.75);
  CHECK(grade_way(*report->whole.ratio) == Grade::kPoor);
}

TEST_CASE("recoveries are counted where they begin") {
  std::vector<PathSample> samples = along_x(0.1);
  for (int i = 10; i < 20; ++i) samples[static_cast<std::size_t>(i)].recovery = Recovery::kOffLine;
  for (int i = 30; i < 32; ++i) samples[static_cast<std::size_t>(i)].recovery = Recovery::kEscapeCrawl;
  for (int i = 32; i < 40; ++i) samples[static_cast<std::size_t>(i)].recovery = Recovery::kOffLine;
  samples[60].recovery = Recovery::kAbortedPass;
  const auto report = path_metrics(straight(), samples, no_launch());
  REQUIRE(report.ok());
  CHECK(report->recoveries[static_cast<std::size_t>(Recovery::kOffLine)] == 2);
  CHECK(report->recoveries[static_cast<std::size_t>(Recovery::kEscapeCrawl)] == 1);
  CHECK(report->recoveries[static_cast<std::size_t>(Recovery::kAbortedPass)] == 1);
  CHECK(report->all_recoveries() == 4);
}

TEST_CASE("speed against command") {
  std::vector<PathSample> samples = along_x(0.1);
  CHECK_FALSE(path_metrics(straight(), samples)->whole.speed_of_commanded);
  for (PathSample& s : samples) s.commanded_mps = 2.5;
  CHECK(*path_metrics(straight(), samples)->whole.speed_of_commanded == doctest::Approx(0.8));
}

TEST_CASE("the mirrored run has the mirrored errors") {
  std::vector<PathSample> samples;
  std::vector<PathSample> mirrored;
  for (int i = 0; i < 100; ++i) {
    const double y = 0.3 * math::sin(0.2 * i);
    const double yaw = 0.1 * math::cos(0.3 * i);
    samples.push_back(sample(0.1 * i, {0.2 * i, y, yaw}, 2.0));
    mirrored.push_back(sample(0.1 * i, {0.2 * i, -y, -yaw}, 2.0));
  }
  const auto a = path_metrics(straight(), samples, no_launch());
  const auto b = path_metrics(straight(), mirrored, no_launch());
  CHECK(a->whole.cross_track_m.mean == -b->whole.cross_track_m.mean);
  CHECK(a->whole.heading_rad.mean == -b->whole.heading_rad.mean);
  CHECK(a->whole.cross_track_m.p95 == b->whole.cross_track_m.p95);
}

TEST_CASE("no samples, values that are no numbers and times that go back are refused") {
  CHECK(path_metrics(straight(), {}).error().message.find("no samples") != std::string::npos);
  std::vector<PathSample> samples = along_x(0.1, 10);
  samples[4].pose.yaw = std::numeric_limits<double>::quiet_NaN();
  CHECK(path_metrics(straight(), samples).error().message.find("sample 5 is not finite") != std::string::npos);
  samples = along_x(0.1, 10);
  samples[6].time_s = 0.1;
  CHECK(path_metrics(straight(), samples).error().message.find("sample 7") != std::string::npos);
}

TEST_CASE("bands") {
  CHECK(grade_indoor_distance(0.10) == Grade::kExcellent);
  CHECK(grade_indoor_distance(0.11) == Grade::kGood);
  CHECK(grade_indoor_distance(0.30) == Grade::kAttention);
  CHECK(grade_indoor_distance(0.31) == Grade::kPoor);
  CHECK(grade_heading(0.4) == Grade::kAttention);
  CHECK(grade_way(1.05) == Grade::kExcellent);
  CHECK(grade_way(1.0 / 1.2) == Grade::kAttention);
  ErrorSpread d;
  d.mean_abs = 0.05;
  d.p95 = 0.13;
  CHECK(grade_racing(d) == Grade::kExcellent);
  d.p95 = 0.14;
  CHECK(grade_racing(d) == Grade::kGood);
  d.mean_abs = 0.16;
  CHECK(grade_racing(d) == Grade::kPoor);
  CHECK(grade_of_room(0.2, 0.8) == Grade::kExcellent);
  CHECK(grade_of_room(0.4, 0.8) == Grade::kAttention);
  CHECK(grade_of_room(0.41, 0.8) == Grade::kPoor);
  CHECK(grade_lap(1.02) == Grade::kExcellent);
  CHECK(grade_lap(1.05) == Grade::kGood);
  CHECK(grade_lap(1.11) == Grade::kPoor);
}

}  // namespace pitwall::tracks
