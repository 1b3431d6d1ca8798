// SPDX-License-Identifier: Apache-2.0
#include "analysis/slam_facts.hpp"

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "analysis/bag_messages.hpp"
#include "analysis/odometry_tracks.hpp"
#include "core/files.hpp"
#include "recording/run_messages.hpp"

namespace pitwall::analysis {

namespace {

namespace fs = std::filesystem;

constexpr double kMapping_mps = 0.3;
constexpr double kBin_s = 10.0;
constexpr int kOccupied = 65;
constexpr double kCrispRange_m = 30.0;

HeadingDrift drift_of(const DrivenPath& path, const std::string& source) {
  HeadingDrift drift{source, path.t_s, {}};
  double slam_rad = 0.0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i > 0) slam_rad += wrap_angle(path.T_map_base[i].yaw - path.T_map_base[i - 1].yaw);
    drift.drift_rad.push_back(path.odom_yaw_rad[i] - path.odom_yaw_rad[0] - slam_rad);
  }
  return drift;
}

WayPair way_of(const NamedOdometry& odometry, const DrivenPath& path) {
  WayPair way;
  way.source = odometry.topic;
  std::map<Time, Vec2> at;
  double moving = 0.0;
  double sum_mps = 0.0;
  for (std::size_t i = 0; i < odometry.pose.size(); ++i) {
    at.try_emplace(odometry.stamp[i], odometry.pose[i].position());
    const double speed = std::abs(odometry.speed_mps[i]);
    if (speed > kMapping_mps) {
      moving += 1.0;
      sum_mps += speed;
      way.max_mps = std::fmax(way.max_mps, speed);
    }
    if (i == 0) continue;
    way.whole_m += distance(odometry.pose[i - 1].position(), odometry.pose[i].position());
    way.turned_deg += std::abs(wrap_angle(odometry.pose[i].yaw - odometry.pose[i - 1].yaw)) / math::kDegree;
  }
  const auto samples = static_cast<double>(odometry.pose.size());
  if (moving > 0.0) way.mean_mps = sum_mps / moving;
  if (samples > 0.0) way.moving_share = moving / samples;
  std::vector<double> periods_s;
  for (std::size_t i = 1; i < odometry.stamp.size(); ++i) periods_s.push_back((odometry.stamp[i] - odometry.stamp[i - 1]).seconds());
  if (const double median_s = percentile(periods_s, 0.5); median_s > 0.0) way.rate_hz = 1.0 / median_s;
  for (std::size_t i = 1; i < path.size(); ++i) {
    way.odometry_m += distance(at.at(path.stamp[i - 1]), at.at(path.stamp[i]));
    way.slam_m += distance(path.T_map_base[i - 1].position(), path.T_map_base[i].position());
  }
  return way;
}

/// Cells of a map that are occupied or beside an occupied one.
class NearWalls {
 public:
  explicit NearWalls(const tracks::OccupancyMap& map) : map_(map), near_(cells(map), 0) {
    for (int j = 0; j < map.height(); ++j) {
      for (int i = 0; i < map.width(); ++i) {
        if (map.value(i, j) >= kOccupied) mark(i, j);
      }
    }
  }
  [[nodiscard]] bool at(Vec2 p_map) const {
    const Vec2 g = map_.to_grid(p_map);
    const double i = std::floor(g.x);
    const double j = std::floor(g.y);
    if (!(i >= 0.0 && j >= 0.0 && i < map_.width() && j < map_.height())) return false;
    return near_[index(static_cast<int>(i), static_cast<int>(j))] != 0;
  }

 private:
  static std::size_t cells(const tracks::OccupancyMap& map) {
    return static_cast<std::size_t>(map.width()) * static_cast<std::size_t>(map.height());
  }
  [[nodiscard]] std::size_t index(int i, int j) const {
    return static_cast<std::size_t>(j) * static_cast<std::size_t>(map_.width()) + static_cast<std::size_t>(i);
  }
  void mark(int i, int j) {
    for (int y = std::max(0, j - 1); y <= std::min(map_.height() - 1, j + 1); ++y) {
      for (int x = std::max(0, i - 1); x <= std::min(map_.width() - 1, i + 1); ++x) near_[index(x, y)] = 1;
    }
  }
  const tracks::OccupancyMap& map_;
  std::vector<std::uint8_t> near_;
};

EndsOnWalls ends_of(const LaserScan& scan, const Pose2& T_map_laser, const NearWalls& walls) {
  EndsOnWalls ends;
  for (std::size_t i = 0; i < scan.ranges.size(); ++i) {
    const float r = scan.ranges[i];
    if (!(r >= scan.range_min && r < scan.range_max)) continue;
    ++ends.beams;
    const double angle = double{scan.angle_min} + static_cast<double>(i) * double{scan.angle_increment};
    if (walls.at(T_map_laser * (double{r} * unit_vector(angle)))) ++ends.on_walls;
  }
  return ends;
}

/// All that needs the scans: consistency with the map, crispness of those that were taken in.
Status look_at_scans(SlamFacts& facts) {
  const SlamRecording& run = facts.run;
  std::map<Time, std::optional<Pose2>> taken_in;  // by stamp, with the pose at the end where it is known
  for (const PublishedPose& pose : run.poses) taken_in[pose.stamp];
  if (facts.record) {
    for (const RecordedNode& node : facts.record->nodes) taken_in[node.stamp] = node.settled;
  }
  std::optional<NearWalls> walls;
  if (run.map) walls.emplace(*run.map);
  facts.lap_consistency.resize(facts.laps.size());
  std::vector<LaserScan> scans;
  std::vector<Pose2> T_map_sensor;
  const Status read = each_scan(run, [&](const LaserScan& scan, const std::string& frame, Time arrival) {
    const auto T_base_laser = run.tree.planar(run.base_frame, frame, scan.stamp);
    const auto T_map_base = run.T_map_base(scan.stamp);
    if (const auto node = taken_in.find(scan.stamp); node != taken_in.end() && T_base_laser && (node->second || T_map_base)) {
      scans.push_back(scan);
      T_map_sensor.push_back(node->second.value_or(T_map_base.value_or(Pose2{})) * *T_base_laser);
    }
    if (!T_base_laser || !T_map_base) {
      ++facts.scans_without_pose;
      return true;
    }
    if (!walls) return true;
    const EndsOnWalls ends = ends_of(scan, *T_map_base * *T_base_laser, *walls);
    const auto add = [&](EndsOnWalls& to) {
      to.beams += ends.beams;
      to.on_walls += ends.on_walls;
    };
    add(facts.consistency);
    const double t_s = seconds_since(run.origin, arrival);
    for (std::size_t k = 0; k < facts.laps.size(); ++k) {
      if (t_s > facts.laps[k].begin_s && t_s <= facts.laps[k].end_s) add(facts.lap_consistency[k]);
    }
    return true;
  });
  if (!scans.empty()) facts.crisp_cells = slam::crispness_cells(scans, T_map_sensor, kCrispRange_m);
  return read;
}

void bin_drops(SlamFacts& facts) {
  std::map<std::int64_t, DropBin> bins;
  const auto bin_at = [&](double t_s) -> DropBin& {
    const double k = std::floor(t_s / kBin_s);
    DropBin& bin = bins[static_cast<std::int64_t>(k)];
    bin.begin_s = k * kBin_s;
    return bin;
  };
  for (const Time drop : facts.run.log_drops) ++bin_at(seconds_since(facts.run.origin, drop)).drops;
  if (facts.record) {
    for (const DroppedScan& drop : facts.record->dropped) ++bin_at(seconds_since(facts.run.origin, drop.arrival)).drops;
  }
  std::map<std::int64_t, std::size_t> samples;
  for (std::size_t i = 0; i < facts.cpu.t_s.size(); ++i) {
    const double t_s = facts.cpu.t_s[i] - facts.run.origin.seconds();
    if (t_s < 0.0 || t_s > facts.run.duration_s) continue;
    DropBin& bin = bin_at(t_s);
    const auto n = static_cast<double>(samples[static_cast<std::int64_t>(std::floor(t_s / kBin_s))]++);
    bin.cpu_mean = n == 0.0 ? facts.cpu.percent[i] : bin.cpu_mean + (facts.cpu.percent[i] - bin.cpu_mean) / (n + 1.0);
    bin.cpu_max = std::fmax(bin.cpu_max, facts.cpu.percent[i]);
  }
  for (const auto& [k, bin] : bins) facts.drops.push_back(bin);
  facts.has_drops = facts.run.has_rosout || facts.record.has_value();
}

/// The car of a run folder whose odometry is looked at: frames carry the prefix of its topics.
std::string car_of(const SlamRecording& run) {
  const std::size_t slash = run.odom_frame.rfind('/');
  const std::string prefix = slash == std::string::npos ? "" : "/" + run.odom_frame.substr(0, slash);
  if (!run.manifest) return "";
  const auto& cars = run.manifest->cars;
  const auto found = std::find_if(cars.begin(), cars.end(), [&](const recording::RecordedCar& c) { return c.prefix == prefix; });
  return found == cars.end() ? "" : found->name;
}

/// Against internal.mcap of a simulated run, at the stamps of the path, or of the nodes where those settled.
Status judge_by_truth(SlamFacts& facts) {
  const fs::path file = facts.run.path / "internal.mcap";
  std::error_code failed;
  if (!fs::exists(file, failed)) return {};
  const std::string car = car_of(facts.run);
  std::vector<recording::StampedPose> truth;
  const Status read = each_message<recording::Truth>(file, std::string(recording::kTruthTopic), [&](const recording::Truth& m, Time) {
    if (m.car != car || (!truth.empty() && m.time_ns <= truth.back().stamp.ns)) return;
    truth.push_back({Time{m.time_ns}, recording::Pose3::of({m.x_m, m.y_m, m.yaw_rad})});
  });
  if (!read) return read;
  std::vector<Pose2> estimated;
  std::vector<Pose2> reference;
  const auto add = [&](Time stamp, const Pose2& pose) {
    const auto after = std::lower_bound(truth.begin(), truth.end(), stamp, [](const auto& s, Time t) { return s.stamp < t; });
    if (after == truth.end() || after == truth.begin()) return;
    estimated.push_back(pose);
    reference.push_back(recording::interpolate(*(after - 1), *after, stamp).planar());
  };
  if (facts.record) {
    for (const RecordedNode& node : facts.record->nodes) add(node.stamp, node.settled);
  } else {
    for (std::size_t i = 0; i < facts.path.size(); ++i) add(facts.path.stamp[i], facts.path.T_map_base[i]);
  }
  constexpr std::size_t kLeast = 3;
  if (estimated.size() >= kLeast) facts.truth = slam::evaluate(estimated, reference);
  return {};
}

Status read_texts(SlamFacts& facts, const SlamFactsOptions& options) {
  std::error_code failed;
  const fs::path log = options.log.empty() ? facts.run.path / "launch.log" : options.log;
  if (!options.log.empty() || fs::exists(log, failed)) {
    const auto text = read_file(log);
    if (!text) return text.error();
    facts.log = read_slam_log(*text);
  }
  if (const fs::path system = facts.run.path / "system.csv"; fs::exists(system, failed)) {
    const auto text = read_file(system);
    if (!text) return text.error();
    facts.cpu = read_slam_cpu(*text);
  }
  if (const fs::path record = facts.run.path / "slam.json"; fs::exists(record, failed)) {
    const auto text = read_file(record);
    if (!text) return text.error();
    auto parsed = parse_slam_record(*text, record.string());
    if (!parsed) return parsed.error();
    facts.record = *std::move(parsed);
  }
  return {};
}

/// Of a recording without any odometry topic: that of the tree, at the stamps that a correction was received with.
NamedOdometry odometry_of_tree(const SlamRecording& run) {
  NamedOdometry made{"frame " + run.odom_frame, {}, {}, {}, {}};
  for (const MapOdomSample& sample : run.corrections) {
    const auto pose = sample.car ? run.tree.planar(run.odom_frame, run.base_frame, *sample.car) : std::nullopt;
    if (!pose) continue;
    made.arrival.push_back(sample.arrival);
    made.stamp.push_back(*sample.car);
    made.pose.push_back(*pose);
    made.speed_mps.push_back(NAN);
  }
  return made;
}

}  // namespace

double HeadingDrift::max_rad() const {
  double most = drift_rad.empty() ? NAN : 0.0;
  for (const double d : drift_rad) most = std::abs(d) > std::abs(most) ? d : most;
  return most;
}

double HeadingDrift::rms_rad() const {
  double sum = 0.0;
  for (const double d : drift_rad) sum += d * d;
  return drift_rad.empty() ? NAN : std::sqrt(sum / static_cast<double>(drift_rad.size()));
}

Result<SlamFacts> slam_facts(const fs::path& run, const SlamFactsOptions& options) {
  auto recording = load_slam_recording(run, options.read);
  if (!recording) return recording.error();
  if (recording->corrections.empty()) {
    return Error{run.string() + ": the SLAM never published: no transform from 'map' to '" + recording->odom_frame + "' in /tf"};
  }
  SlamFacts facts;
  facts.run = *std::move(recording);
  if (const Status read = read_texts(facts, options); !read) return read.error();
  if (facts.run.odometries.empty()) facts.run.odometries.push_back(odometry_of_tree(facts.run));
  facts.corrections = corrections_of(facts.run);
  for (const NamedOdometry& odometry : facts.run.odometries) {
    DrivenPath path = driven_path(facts.run, odometry);
    facts.drifts.push_back(drift_of(path, odometry.topic));
    facts.ways.push_back(way_of(odometry, path));
    if (facts.path.size() == 0) facts.path = std::move(path);
  }
  facts.laps = slam_laps(facts.path, facts.corrections);
  if (const Status looked = look_at_scans(facts); !looked) return looked.error();
  bin_drops(facts);
  if (const Status judged = judge_by_truth(facts); !judged) return judged.error();
  return facts;
}

}  // namespace pitwall::analysis
