// SPDX-License-Identifier: Apache-2.0
#include "analysis/odometry_tracks.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include "analysis/bag_messages.hpp"
#include "analysis/motion.hpp"
#include "core/text.hpp"
#include "localization/twist.hpp"
#include "recording/bag_reader.hpp"
#include "ros_messages/convert.hpp"
#include "ros_messages/graph.hpp"

namespace pitwall::analysis {

namespace {

namespace fs = std::filesystem;
namespace ros = ros_messages;

constexpr std::string_view kMatch = "match";
constexpr std::size_t kLeastOverlap = 2;

bool same_source(const std::string& a, const std::string& b) {
  const auto edge = FrameEdge::parse(a);
  return a == b || (edge && b == FrameEdge{edge->child, edge->parent}.text());
}

/// What a source may be in this recording.
struct Offered {
  std::vector<std::string> odometry;  ///< topics
  std::vector<std::string> poses;     ///< topics of a localiser
  std::vector<std::string> edges;     ///< of /tf, as recorded
  bool scans = false;

  [[nodiscard]] bool has_topic(std::string_view name) const {
    return std::find(odometry.begin(), odometry.end(), name) != odometry.end() ||
           std::find(poses.begin(), poses.end(), name) != poses.end();
  }
  /// Whether the edge is there in either direction.
  [[nodiscard]] bool has_edge(const FrameEdge& edge) const {
    return std::any_of(edges.begin(), edges.end(), [&](const std::string& each) {
      return each == edge.text() || each == FrameEdge{edge.child, edge.parent}.text();
    });
  }
  [[nodiscard]] bool has(std::string_view source) const {
    if (source == kMatch) return scans;
    const auto edge = FrameEdge::parse(source);
    return edge ? has_edge(*edge) : has_topic(source);
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all = odometry;
    all.insert(all.end(), poses.begin(), poses.end());
    all.insert(all.end(), edges.begin(), edges.end());
    if (scans) all.emplace_back(kMatch);
    return all;
  }
};

Result<Offered> offered(const fs::path& path) {
  const Result<recording::BagReader> all = recording::BagReader::open(path);
  if (!all) return all.error();
  Offered offer;
  for (const recording::Topic& topic : all->topics()) {
    if (topic.message_count == 0) continue;
    if (is_pose_type(topic.type)) (topic.type == ros::Odometry::kType ? offer.odometry : offer.poses).push_back(topic.name);
    if (topic.type == ros::LaserScan::kType) offer.scans = true;
  }
  StampClock clock({});
  const Status read = each_transform(path, {"/tf"}, clock, [&](const FrameEdge& edge, double, const Pose2&) {
    if (std::find(offer.edges.begin(), offer.edges.end(), edge.text()) == offer.edges.end()) offer.edges.push_back(edge.text());
  });
  if (!read) return read.error();
  return offer;
}

/// The velocities of matched scans, chained to poses.
Track chained(const MotionSeries& motion, std::string source) {
  std::vector<double> t_s;
  std::vector<Pose2> poses;
  Pose2 pose;
  std::size_t unseen = 0;
  for (std::size_t i = 0; i < motion.size(); ++i) {
    const auto velocity = [&](std::size_t k) {
      return localization::Twist{motion.speed_mps[k], motion.lateral_mps[k], motion.yaw_rate_radps[k]};
    };
    if (motion.speed_seen[i] == 0.0) ++unseen;
    if (i > 0) pose = pose * localization::travelled(0.5 * (velocity(i - 1) + velocity(i)), motion.middle_s(i) - motion.middle_s(i - 1));
    t_s.push_back(motion.middle_s(i));
    poses.push_back(pose);
  }
  Track track = track_of(std::move(source), t_s, poses);
  track.unseen = unseen;
  return track;
}

Result<std::string> chosen(const std::string& flag, const std::string& given, const std::vector<std::string>& usual, const Offered& offer,
                           const fs::path& path) {
  if (!given.empty()) {
    if (offer.has(given)) return given;
    return Error{path.string() + ": --" + flag + ": " + unknown_name("source", given, offer.names())};
  }
  for (const std::string& each : usual) {
    if (offer.has(each)) return each;
  }
  return Error{path.string() + ": no " + flag + " odometry: looked for " + join(usual) + "; in it are " +
               (offer.names().empty() ? "no odometry, transforms and scans" : join(offer.names())) + " (--" + flag + " SOURCE)"};
}

std::vector<std::string> usual_wheels(const Offered& offer, const std::string& prefix) {
  std::vector<std::string> usual{"/diff_drive_controller/odom", "odom_wheel->base_footprint", prefix + "/wheel_odom", prefix + "/odom"};
  if (prefix.empty() && offer.odometry.size() == 1) usual.push_back(offer.odometry.front());
  return usual;
}

std::vector<std::string> usual_scans(const std::string& wheels) {
  std::vector<std::string> usual{"odom_icp->base_footprint"};
  // The edge of an ordinary robot is that of its wheels.
  if (wheels == "/diff_drive_controller/odom" || wheels == "odom_wheel->base_footprint") usual.emplace_back("odom->base_footprint");
  usual.emplace_back(kMatch);
  return usual;
}

Status check(const OdometryTracks& tracks, std::size_t least) {
  for (const Track* track : {&tracks.wheels, &tracks.scans}) {
    if (track->size() >= least) continue;
    return Error{tracks.path.string() + ": insufficient odometry: " + std::to_string(track->size()) + " poses of " + track->source +
                 ", needed are " + std::to_string(least)};
  }
  constexpr double kMostUnseen = 0.9;
  for (const Track* track : {&tracks.wheels, &tracks.scans}) {
    if (static_cast<double>(track->unseen) <= kMostUnseen * static_cast<double>(track->size())) continue;
    return Error{tracks.path.string() + ": insufficient odometry: in " + std::to_string(track->unseen) + " of " +
                 std::to_string(track->size()) + " pairs of scans the walls do not tell the speed; name another source (--scans SOURCE)"};
  }
  std::size_t overlap = 0;
  for (const double t : tracks.scans.t_s) overlap += tracks.wheels.at(t) ? 1 : 0;
  if (overlap >= kLeastOverlap) return {};
  return Error{tracks.path.string() + ": insufficient odometry: " + tracks.wheels.source + " and " + tracks.scans.source +
               " overlap in time by " + std::to_string(overlap) + " poses, needed are " + std::to_string(kLeastOverlap)};
}

}  // namespace

Result<OdometryTracks> load_tracks(const fs::path& recording, const TrackOptions& options) {
  const Result<Offered> offer = offered(recording);
  if (!offer) return offer.error();
  LoadOptions load;
  load.car = options.car;
  load.progress = options.progress;
  std::unique_ptr<MotionTracker> tracker;
  std::string prefix;
  if (const auto manifest = recording::load_manifest(recording); manifest) {
    for (const recording::RecordedCar& car : manifest->cars) {
      if (options.car.empty() || car.name == options.car) {
        prefix = car.prefix;
        break;
      }
    }
  }
  const Result<std::string> wheels = chosen("wheels", options.wheels, usual_wheels(*offer, prefix), *offer, recording);
  if (!wheels) return wheels.error();
  const Result<std::string> scans = chosen("scans", options.scans, usual_scans(*wheels), *offer, recording);
  if (!scans) return scans.error();
  if (same_source(*wheels, *scans))
    return Error{recording.string() + ": " + *wheels + " would be compared with itself: --wheels and --scans name the two"};
  if (*wheels == kMatch || *scans == kMatch) {
    load.scan = [&](const RunData& run, const LaserScan& scan) {
      if (!tracker) {
        const Pose2 mount = run.T_base_lidar ? *run.T_base_lidar : options.T_base_lidar.value_or(Pose2{});
        tracker = std::make_unique<MotionTracker>(localization::ScanTrackParameters{}, mount, run.origin);
      }
      tracker->add(scan);
    };
  }
  Result<RunData> run = load_run(recording, load);
  if (!run) return run.error();
  OdometryTracks tracks;
  tracks.path = recording;
  tracks.origin = run->origin;
  tracks.command = std::move(run->command);
  StampClock clock(run->origin);
  const MotionSeries motion = tracker ? tracker->finish() : MotionSeries{};
  for (const auto& [source, into] : {std::pair{&*wheels, &tracks.wheels}, std::pair{&*scans, &tracks.scans}}) {
    if (*source == kMatch) {
      *into = chained(motion, "match " + (run->topic("scan") != nullptr ? run->topic("scan")->name : ""));
      continue;
    }
    const auto edge = FrameEdge::parse(*source);
    Result<Track> track = edge ? read_edge_track(recording, *edge, clock) : read_topic_track(recording, *source, clock);
    if (!track) return track.error();
    *into = *std::move(track);
  }
  for (const Track* track : {&tracks.wheels, &tracks.scans}) {
    if (track->left_out == 0) continue;
    tracks.warnings.push_back(recording.string() + ": " + track->source + ": " + std::to_string(track->left_out) +
                              " poses left out (not finite, or a stamp that was there already)");
  }
  if (tracks.scans.unseen > 0) {
    tracks.warnings.push_back(recording.string() + ": in " + std::to_string(tracks.scans.unseen) + " of " +
                              std::to_string(tracks.scans.size()) +
                              " pairs of scans the walls do not tell the speed: it is the guess there");
  }
  if (run->damaged) tracks.warnings.push_back(recording.string() + " is damaged: what can be read is used");
  if (const Status enough = check(tracks, options.least.value_or(0)); !enough) return enough.error();
  return tracks;
}

TrackIntervals intervals_of(const OdometryTracks& tracks) {
  constexpr double kShortest_s = 1e-3;
  TrackIntervals out;
  const Track& scans = tracks.scans;
  const auto step = [](const Pose2& a, const Pose2& b) {
    const Vec2 way = rotate(-a.yaw, b.position() - a.position());
    return Pose2{way.x, way.y, b.yaw - a.yaw};
  };
  for (std::size_t i = 1; i < scans.size(); ++i) {
    const double dt_s = scans.t_s[i] - scans.t_s[i - 1];
    if (dt_s <= kShortest_s) {
      ++out.too_short;
      continue;
    }
    const auto from = tracks.wheels.at(scans.t_s[i - 1]);
    const auto to = tracks.wheels.at(scans.t_s[i]);
    if (!from || !to) {
      ++out.without_wheels;
      continue;
    }
    out.all.push_back({i, scans.t_s[i - 1], dt_s, step(scans.pose[i - 1], scans.pose[i]), step(*from, *to)});
  }
  return out;
}

double TrackIntervals::way_m(bool by_scans) const {
  double sum = 0.0;
  for (const TrackInterval& each : all) sum += norm((by_scans ? each.scans : each.wheels).position());
  return sum;
}

double TrackIntervals::turned_rad(bool by_scans) const {
  double sum = 0.0;
  for (const TrackInterval& each : all) sum += std::abs((by_scans ? each.scans : each.wheels).yaw);
  return sum;
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return NAN;
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= values.size()) return values.back();
  return values[below] + (place - static_cast<double>(below)) * (values[below + 1] - values[below]);
}

}  // namespace pitwall::analysis
