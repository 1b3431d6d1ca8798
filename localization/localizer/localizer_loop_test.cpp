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
  double through;
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
    fixes.push_back({found.stamp, found.status, norm({e.v[0], e.v[1]}), std::fabs(e.v[2]), std::sqrt(m2), found.fit, found.through});
  }
  return fixes;
}

std::vector<Fix> localised(const Drive& drive) {
  return localised(drive, drive.start, [](const LaserScan&) { return true; });
}

double quantile(const std::vector<Fix>& fixes, double Fix::* of, double share) {
  std::vector<double> values;
  for (const Fix& fix : fixes) values.push_back(fix.*of);
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

void report(const std::string& what, const std::vector<Fix>& fixes) {
  MESSAGE(what << ": " << fixes.size() << " scans, off " << quantile(fixes, &Fix::off_m, 0.5) << " / " << quantile(fixes, &Fix::off_m, 0.95)
               << " / " << quantile(fixes, &Fix::off_m, 1.0) << " m, " << 57.3 * quantile(fixes, &Fix::off_rad, 0.5) << " / "
               << 57.3 * quantile(fixes, &Fix::off_rad, 1.0) << " deg; sigmas " << quantile(fixes, &Fix::sigmas, 0.5) << " / "
               << quantile(fixes, &Fix::sigmas, 0.95) << "; fit at least " << quantile(fixes, &Fix::fit, 0.0) << ", through at most "
               << quantile(fixes, &Fix::through, 1.0));
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

TEST_CASE("exploration") {
  std::vector<std::string> tracks{"larkfield", "copper_ridge", "salt_quay", "indoor_wide", "indoor_oval"};
  if (const auto maps = test_data("maps/evans")) {
    for (const char* name : {"aut", "esp", "gbr", "mco"}) tracks.push_back((*maps / name).string());
  }
  for (const std::string& track : tracks) {
    const Drive drive = drive_on(track, 100.0);
    report(track, localised(drive));
    const double length = drive.truth.newest().seconds();
    for (int k = 0; k < 8; ++k) {
      const Time from = Time{} + from_seconds(0.05 * length * (1 + k));
      const Time to = from + from_seconds(length * (0.1 + 0.06 * k));
      const Drive moved = carried(drive, from, to);
      const std::vector<Fix> fixes = localised(moved);
      double lost_s = -1.0;
      double found_s = -1.0;
      double off = 0.0;
      int losses = 0;
      bool was_lost = false;
      for (const Fix& fix : fixes) {
        const double since = (fix.stamp - from).seconds();
        if (since < 0.0) continue;
        const bool lost = fix.status == LocalizerStatus::kLost;
        if (lost && !was_lost) ++losses;
        if (lost && lost_s < 0.0) lost_s = since;
        if (!lost && lost_s >= 0.0 && fix.off_m < 0.3 && found_s < 0.0) {
          found_s = since;
          off = fix.off_m;
        }
        was_lost = lost;
      }
      if (lost_s > 1.0 || losses > 1 || lost_s < 0 || found_s < 0 || found_s > 4)
      MESSAGE(track.substr(track.size()-5) << " from " << from.seconds() << " to " << to.seconds() << ": lost after " << lost_s << ", found after " << found_s << " off " << off << " losses " << losses << " of " << length - to.seconds());
    }
  }
}
