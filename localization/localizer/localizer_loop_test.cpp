// SPDX-License-Identifier: Apache-2.0
// The localiser on drives of the simulator: how far off it is, what it does when it is carried off, blinded, or fed what no sensor said.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/files.hpp"
#include "localization/localizer/localizer.hpp"
#include "localization/pose_track.hpp"
#include "scenarios/run.hpp"
#include "scenarios/scenario.hpp"
#include "tests/support/test_data.hpp"

using namespace pitwall;
using namespace pitwall::localization;

namespace {

// What a car received, in order, and where it truly was.
struct Drive {
  std::vector<std::variant<LaserScan, Odometry>> received;
  PoseTrack truth{from_seconds(1000.0)};
  Pose2 start;
  Pose2 T_base_lidar;
  std::shared_ptr<const LocalizerMap> map;
};

class Listener : public RunObserver {
 public:
  explicit Listener(Drive& drive) : drive_(drive) {}
  void arrived(std::size_t car, const Source<Odometry>& odometry) override {
    if (car == 0) drive_.received.emplace_back(*odometry.message);
  }
  void arrived(std::size_t car, const Source<LaserScan>& scan) override {
    if (car == 0) drive_.received.emplace_back(*scan.message);
  }
  void arrived(std::size_t, const Source<PoseEstimate>&) override {}
  void arrived(std::size_t, const Source<Joy>&) override {}
  void arrived(std::size_t, const Source<Imu>&) override {}
  void changed(std::size_t, const std::string&) override {}
  void decided(std::size_t, std::uint64_t, const Observation&, const Command&) override {}

 private:
  Drive& drive_;
};

/// Pure pursuit of the centre line at up to 3 m/s, profile `car`.
Drive drive_on(const std::string& track, double seconds) {
  scenarios::ValidationOptions options;
  options.data = data_folder();
  options.scenario = "pure";
  options.tracks = {track};
  options.raceline = scenarios::LineChoice::kCenterline;
  options.timeout_s = seconds;
  options.assignments = {"speed.v_max_mps=3", "criteria.cross_track_below_m=0"};
  const auto runs = scenarios::resolve(options);
  REQUIRE_MESSAGE(runs.ok(), (runs.ok() ? "" : runs.error().message));
  const scenarios::ResolvedRun& run = runs->front();
  Drive drive;
  drive.T_base_lidar = run.parameters.lidar_mount();
  drive.map = LocalizerMap::make(*run.track->map, run.track->rays);
  Listener listener(drive);
  scenarios::RunHooks hooks;
  hooks.begin = [&](sim::World& world) {
    drive.start = world.car(0).T_map_base;
    drive.truth.add(world.now(), drive.start);
    world.observe(&listener);
    return Status{};
  };
  hooks.after_step = [&](const sim::World& world) { drive.truth.add(world.now(), world.car(0).T_map_base); };
  hooks.end = [](sim::World& world) {
    world.observe(nullptr);
    return Status{};
  };
  const auto outcome = scenarios::run_scenario(
      run, [] { return false; }, hooks);
  REQUIRE_MESSAGE(outcome.ok(), (outcome.ok() ? "" : outcome.error().message));
  return drive;
}

struct Fix {
  Time stamp;
  LocalizerStatus status;
  double off_m;
  double off_rad;
  double sigmas;  // Mahalanobis distance of the error
  double fit;
  double against;
};

/// Every scan of the drive localised; `change` may alter what is received.
template <class Change>
std::vector<Fix> localised(const Drive& drive, const std::optional<Pose2>& start, const Change& change) {
  Localizer localizer(drive.map, drive.T_base_lidar);
  localizer.reset(start);
  std::vector<Fix> fixes;
  for (auto message : drive.received) {
    if (const auto* odometry = std::get_if<Odometry>(&message)) {
      localizer.add_odometry(*odometry);
      continue;
    }
    auto& scan = std::get<LaserScan>(message);
    if (!change(scan)) continue;
    const Localization& found = localizer.add_scan(scan);
    const auto truth = drive.truth.at(found.stamp);
    if (!truth) continue;
    const Vector3 e{{found.T_map_base.x - truth->x, found.T_map_base.y - truth->y, wrap_angle(found.T_map_base.yaw - truth->yaw)}};
    const double m2 = (transposed(e) * inverse_of(found.covariance) * e).v[0];
    fixes.push_back({found.stamp, found.status, norm({e.v[0], e.v[1]}), std::fabs(e.v[2]), std::sqrt(m2), found.fit, found.against});
  }
  return fixes;
}

std::vector<Fix> localised(const Drive& drive) {
  return localised(drive, drive.start, [](const LaserScan&) { return true; });
}

double quantile(const std::vector<Fix>& fixes, double Fix::*of, double share) {
  std::vector<double> values;
  for (const Fix& fix : fixes) values.push_back(fix.*of);
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

void report(const std::string& what, const std::vector<Fix>& fixes) {
  MESSAGE(what << ": " << fixes.size() << " scans, off " << quantile(fixes, &Fix::off_m, 0.5) << " / " << quantile(fixes, &Fix::off_m, 0.95)
               << " / " << quantile(fixes, &Fix::off_m, 1.0) << " m, " << 57.3 * quantile(fixes, &Fix::off_rad, 0.5) << " / "
               << 57.3 * quantile(fixes, &Fix::off_rad, 1.0) << " deg; sigmas " << quantile(fixes, &Fix::sigmas, 0.5) << " / "
               << quantile(fixes, &Fix::sigmas, 0.95) << "; fit at least " << quantile(fixes, &Fix::fit, 0.0) << ", against at most "
               << quantile(fixes, &Fix::against, 1.0));
}

/// The drive up to `from`, and then that from `to` on: the car was lifted and put down elsewhere, which its odometry has not felt.
Drive carried(const Drive& drive, Time from, Time to) {
  Drive result;
  result.start = drive.start;
  result.T_base_lidar = drive.T_base_lidar;
  result.map = drive.map;
  const Duration skipped = to - from;
  Odometry before;
  std::optional<Pose2> T_shift;  // from the odometry after it to that before
  const auto pose_of = [](const Odometry& o) { return Pose2{o.position.x, o.position.y, yaw_of(o.orientation)}; };
  for (auto message : drive.received) {
    const Time stamp = std::visit([](const auto& m) { return m.stamp; }, message);
    if (stamp >= from && stamp < to) continue;
    if (stamp >= to) {
      std::visit([&](auto& m) { m.stamp = m.stamp + Duration{-skipped.ns}; }, message);
      if (auto* odometry = std::get_if<Odometry>(&message)) {
        if (!T_shift) T_shift = pose_of(before) * inverse(pose_of(*odometry));
        const Pose2 moved = *T_shift * pose_of(*odometry);
        odometry->position = moved.position();
        odometry->orientation = to_quaternion(moved.yaw);
      }
    } else if (const auto* odometry = std::get_if<Odometry>(&message)) {
      before = *odometry;
    }
    result.received.push_back(std::move(message));
  }
  for (Time t = drive.truth.oldest(); t <= drive.truth.newest(); t = t + from_milliseconds(5)) {
    if (t < from) result.truth.add(t, *drive.truth.at(t));
    if (t >= to) result.truth.add(t + Duration{-skipped.ns}, *drive.truth.at(t));
  }
  return result;
}

}  // namespace

TEST_CASE("at 3 m/s in profile car the pose is off by at most 5 cm and 1 degree in the median, and the car never seems lost") {
  std::vector<std::string> tracks{"larkfield", "copper_ridge", "salt_quay"};
  if (const auto maps = test_data("maps/evans")) {
    for (const char* name : {"aut", "esp", "gbr", "mco"}) tracks.push_back((*maps / name).string());
  }
  for (const std::string& track : tracks) {
    const std::vector<Fix> fixes = localised(drive_on(track, 60.0));
    report(track, fixes);
    CHECK(fixes.size() > 1000);
    CHECK(quantile(fixes, &Fix::off_m, 0.5) < 0.02);
    CHECK(quantile(fixes, &Fix::off_rad, 0.5) < 0.002);
    // On a straight between even walls the way along is the odometry's.
    CHECK(quantile(fixes, &Fix::off_m, 1.0) < 0.6);
    CHECK(quantile(fixes, &Fix::off_rad, 1.0) < 0.035);
    // What is said of the error covers it: of three numbers the median is 1.54 sigmas.
    CHECK(quantile(fixes, &Fix::sigmas, 0.5) > 0.5);
    CHECK(quantile(fixes, &Fix::sigmas, 0.5) < 1.6);
    CHECK(quantile(fixes, &Fix::sigmas, 0.95) < 4.0);
    for (const Fix& fix : fixes) REQUIRE(fix.status == LocalizerStatus::kTracking);
  }
}

TEST_CASE(
    "a map whose walls are a cell too thick, as a SLAM makes them, is no reason for doubt: beams round the inside of a bend graze them") {
  Drive drive = drive_on("indoor_oval", 12.0);
  const tracks::OccupancyMap& exact = drive.map->rays->map();
  std::vector<std::int8_t> values;
  for (int j = 0; j < exact.height(); ++j) {
    for (int i = 0; i < exact.width(); ++i) {
      bool near = false;
      for (int k = 0; k < 9; ++k) near = near || exact.blocked(i + k % 3 - 1, j + k / 3 - 1);
      values.push_back(near ? 100 : 0);
    }
  }
  const auto thick = std::make_shared<const tracks::OccupancyMap>(
      *tracks::OccupancyMap::make(exact.width(), exact.height(), exact.resolution_m(), exact.origin(), std::move(values)));
  drive.map = LocalizerMap::make(*thick, std::make_shared<const tracks::RayCaster>(thick));
  const std::vector<Fix> fixes = localised(drive);
  CHECK(quantile(fixes, &Fix::against, 0.98) < 0.1);
  CHECK(quantile(fixes, &Fix::off_m, 0.5) < 0.05);
  for (const Fix& fix : fixes) REQUIRE(fix.status != LocalizerStatus::kLost);
}

TEST_CASE("a car that is carried off knows within 1 s that it is lost, and where it is once it has seen enough") {
  const auto maps = test_data("maps/evans");
  if (!maps) return;
  int found_again = 0;
  int wrong = 0;
  for (const char* name : {"aut", "esp", "gbr", "mco"}) {
    const Drive drive = drive_on((*maps / name).string(), 60.0);
    const double length = drive.truth.newest().seconds();
    for (int k = 0; k < 5; ++k) {
      const Time from = Time{} + from_seconds(length * (0.08 + 0.08 * k));
      const Time to = from + from_seconds(length * (0.15 + 0.06 * k));
      CAPTURE(std::string(name));
      CAPTURE(from.seconds());
      CAPTURE(to.seconds());
      std::optional<double> lost_s;
      std::optional<double> found_s;
      for (const Fix& fix : localised(carried(drive, from, to))) {
        const double since = (fix.stamp - from).seconds();
        const bool lost = fix.status == LocalizerStatus::kLost;
        if (since < 0.0) REQUIRE_FALSE(lost);
        if (lost && !lost_s) lost_s = since;
        if (lost || !lost_s || found_s) continue;
        if (fix.off_m < 0.5) found_s = since;
        if (fix.off_m > 0.5) ++wrong;
      }
      REQUIRE(lost_s);
      CHECK(*lost_s < 1.0);
      if (found_s) ++found_again;
    }
  }
  MESSAGE("found again " << found_again << " of 20 times, at a wrong place in " << wrong << " scans");
  CHECK(found_again >= 18);
  CHECK(wrong < 100);
}

TEST_CASE("without a start pose the map is searched; half a second without a beam is bridged by the odometry, two seconds are not") {
  const auto file = test_data("maps/evans/aut.yaml");
  if (!file) return;
  const Drive drive = drive_on(file->string(), 20.0);
  const auto all = [](const LaserScan&) { return true; };
  const std::vector<Fix> searched = localised(drive, std::nullopt, all);
  CHECK(searched.front().status == LocalizerStatus::kLost);
  CHECK(searched.back().status == LocalizerStatus::kTracking);
  CHECK(searched.back().off_m < 0.05);
  for (const double blind_s : {0.5, 2.0}) {
    const Time from = Time{} + from_seconds(8.0);
    const auto covered = [&](LaserScan& scan) {
      if (scan.stamp >= from && scan.stamp < from + from_seconds(blind_s)) std::fill(scan.ranges.begin(), scan.ranges.end(), NAN);
      return true;
    };
    const std::vector<Fix> fixes = localised(drive, drive.start, covered);
    const auto lost = std::count_if(fixes.begin(), fixes.end(), [](const Fix& f) { return f.status == LocalizerStatus::kLost; });
    const auto blind = std::count_if(fixes.begin(), fixes.end(), [](const Fix& f) { return f.status == LocalizerStatus::kBlind; });
    CHECK(blind >= 19);
    CHECK((lost > 0) == (blind_s > 1.0));
    CHECK(fixes.back().off_m < 0.05);
  }
}

TEST_CASE("what stands for a beam that measured nothing changes no bit; five runs are the same") {
  const Drive drive = drive_on("indoor_wide", 8.0);
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::vector<std::vector<Fix>> runs;
  for (const float nothing : {0.0F, kInf, std::numeric_limits<float>::quiet_NaN(), -1.0F, 65.533F}) {
    runs.push_back(localised(drive, drive.start, [&](LaserScan& scan) {
      for (std::size_t k = 0; k < scan.ranges.size(); ++k) {
        if ((k * 7 + static_cast<std::size_t>(scan.stamp.ns / 1'000'000)) % 10 < 3) scan.ranges[k] = nothing;
      }
      return true;
    }));
  }
  for (std::size_t r = 1; r < runs.size(); ++r) {
    REQUIRE(runs[r].size() == runs[0].size());
    for (std::size_t k = 0; k < runs[0].size(); ++k) {
      REQUIRE(runs[r][k].off_m == runs[0][k].off_m);
      REQUIRE(runs[r][k].off_rad == runs[0][k].off_rad);
    }
  }
  CHECK(quantile(runs[0], &Fix::off_m, 0.5) < 0.02);
}

TEST_CASE("every law passes with poses by scans, and its recording is the same twice") {
  for (const char* law : {"pure_pursuit", "stanley", "lqr", "mpc", "map"}) {
    CAPTURE(law);
    scenarios::ValidationOptions options;
    options.data = data_folder();
    options.scenario = "pure";
    options.tracks = {"indoor_wide"};
    options.steering_law = law;
    options.localization = scenarios::Localization::kScan;
    const auto runs = scenarios::resolve(options);
    REQUIRE_MESSAGE(runs.ok(), (runs.ok() ? "" : runs.error().message));
    const auto outcome = scenarios::run_scenario(runs->front(), [] { return false; });
    REQUIRE(outcome.ok());
    CHECK(outcome->passed);
    CHECK(outcome->max_pose_error_m > 0.001);
    CHECK(outcome->max_pose_error_m < 0.1);
    const auto again = scenarios::run_scenario(runs->front(), [] { return false; });
    REQUIRE(again.ok());
    CHECK(again->trace_hash == outcome->trace_hash);
    options.localization = scenarios::Localization::kTruth;
    const auto exact = scenarios::resolve(options);
    REQUIRE(exact.ok());
    const auto by_truth = scenarios::run_scenario(exact->front(), [] { return false; });
    REQUIRE(by_truth.ok());
    CHECK(by_truth->max_pose_error_m == 0.0);
  }
}
