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

}  // namespace

TEST_CASE("exploration") {
  std::vector<std::string> tracks{"larkfield", "copper_ridge", "salt_quay", "indoor_wide", "indoor_oval"};
  if (const auto maps = test_data("maps/evans")) {
    for (const char* name : {"aut", "esp", "gbr", "mco"}) tracks.push_back((*maps / name).string());
  }
  for (const std::string& track : tracks) {
    const Drive drive = drive_on(track, 100.0);
    report(track, localised(drive));
  }
}
