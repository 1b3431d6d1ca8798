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
constexpr std::string_view kArrow = "->";
constexpr std::size_t kLeastOverlap = 2;

struct Edge {
  std::string parent;
  std::string child;
};

std::optional<Edge> edge_of(std::string_view source) {
  const std::size_t arrow = source.find(kArrow);
  if (arrow == std::string_view::npos) return std::nullopt;
  return Edge{std::string(trim(source.substr(0, arrow))), std::string(trim(source.substr(arrow + kArrow.size())))};
}

bool same_source(const std::string& a, const std::string& b) {
  const auto edge = edge_of(a);
  return a == b || (edge && b == edge->child + "->" + edge->parent);
}

/// What a source may be in this recording.
struct Offered {
  std::vector<std::string> odometry;  ///< topics
  std::vector<std::string> edges;     ///< of /tf, as recorded
  bool scans = false;

  [[nodiscard]] bool has_topic(std::string_view name) const { return std::find(odometry.begin(), odometry.end(), name) != odometry.end(); }
  /// Whether the edge is there in either direction.
  [[nodiscard]] bool has_edge(const Edge& edge) const {
    return std::any_of(edges.begin(), edges.end(), [&](const std::string& each) {
      return each == edge.parent + "->" + edge.child || each == edge.child + "->" + edge.parent;
    });
  }
  [[nodiscard]] bool has(std::string_view source) const {
    if (source == kMatch) return scans;
    const auto edge = edge_of(source);
    return edge ? has_edge(*edge) : has_topic(source);
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all = odometry;
    all.insert(all.end(), edges.begin(), edges.end());
    if (scans) all.emplace_back(kMatch);
    return all;
  }
};

Result<Offered> offered(const fs::path& path) {
  const Result<recording::BagReader> all = recording::BagReader::open(path);
  if (!all) return all.error();
  Offered offer;
  bool tf = false;
  for (const recording::Topic& topic : all->topics()) {
    if (topic.message_count == 0) continue;
    if (topic.type == ros::Odometry::kType) offer.odometry.push_back(topic.name);
    if (topic.type == ros::LaserScan::kType) offer.scans = true;
    tf = tf || (topic.name == "/tf" && topic.type == ros::TFMessage::kType);
  }
  if (!tf) return offer;
  const Status read = each_message<ros::TFMessage>(path, "/tf", [&](const ros::TFMessage& m, Time) {
    for (const ros::TransformStamped& each : m.transforms) {
      const std::string edge = each.header.frame_id + "->" + each.child_frame_id;
      if (std::find(offer.edges.begin(), offer.edges.end(), edge) == offer.edges.end()) offer.edges.push_back(edge);
    }
  });
  if (!read) return read.error();
  return offer;
}

Result<Track> read_topic(const fs::path& path, const std::string& topic, StampClock& clock) {
  std::vector<double> t_s;
  std::vector<Pose2> poses;
  const Status read = each_message<ros::Odometry>(path, topic, [&](const ros::Odometry& wire, Time arrival) {
    const Odometry m = ros::from_ros(wire);
    t_s.push_back(clock.seconds(wire.header.stamp, arrival));
    poses.push_back({m.position.x, m.position.y, yaw_of(m.orientation)});
  });
  if (!read) return read.error();
  return track_of(topic, t_s, poses);
}

Result<Track> read_edge(const fs::path& path, const Edge& edge, StampClock& clock) {
  std::vector<double> t_s;
  std::vector<Pose2> poses;
  const Status read = each_message<ros::TFMessage>(path, "/tf", [&](const ros::TFMessage& m, Time arrival) {
    for (const ros::TransformStamped& each : m.transforms) {
      const bool along = each.header.frame_id == edge.parent && each.child_frame_id == edge.child;
      const bool against = each.header.frame_id == edge.child && each.child_frame_id == edge.parent;
      if (!along && !against) continue;
      const auto& q = each.transform.rotation;
      const Pose2 pose{each.transform.translation.x, each.transform.translation.y, yaw_of({q.z, q.w})};
      t_s.push_back(clock.seconds(each.header.stamp, arrival));
      poses.push_back(along ? pose : inverse(pose));
    }
  });
  if (!read) return read.error();
  return track_of(edge.parent + "->" + edge.child, t_s, poses);
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
  std::size_t overlap = 0;
  for (const double t : tracks.scans.t_s) overlap += tracks.wheels.at(t) ? 1 : 0;
  if (overlap >= kLeastOverlap) return {};
  return Error{tracks.path.string() + ": insufficient odometry: " + tracks.wheels.source + " and " + tracks.scans.source +
               " overlap in time by " + std::to_string(overlap) + " poses, needed are " + std::to_string(kLeastOverlap)};
}

}  // namespace

std::optional<Pose2> Track::at(double at_s, double longest_gap_s) const {
  const auto after = std::lower_bound(t_s.begin(), t_s.end(), at_s);
  if (after == t_s.end()) return std::nullopt;
  const auto i = static_cast<std::size_t>(after - t_s.begin());
  if (*after == at_s) return pose[i];
  if (i == 0 || t_s[i] - t_s[i - 1] > longest_gap_s) return std::nullopt;
  const double share = (at_s - t_s[i - 1]) / (t_s[i] - t_s[i - 1]);
  const auto between = [share](double a, double b) { return a + share * (b - a); };
  return Pose2{between(pose[i - 1].x, pose[i].x), between(pose[i - 1].y, pose[i].y), between(pose[i - 1].yaw, pose[i].yaw)};
}

Track track_of(std::string source, const std::vector<double>& t_s, const std::vector<Pose2>& poses) {
  std::vector<double> finite_s;
  std::vector<Pose2> finite;
  for (std::size_t i = 0; i < poses.size(); ++i) {
    if (!std::isfinite(poses[i].x) || !std::isfinite(poses[i].y) || !std::isfinite(poses[i].yaw) || !std::isfinite(t_s[i])) continue;
    finite_s.push_back(t_s[i]);
    finite.push_back(poses[i]);
  }
  Track track;
  track.source = std::move(source);
  for (const std::size_t i : sorted_by_stamp(finite_s)) {
    Pose2 pose = finite[i];
    if (!track.pose.empty()) pose.yaw = track.pose.back().yaw + wrap_angle(pose.yaw - track.pose.back().yaw);
    track.t_s.push_back(finite_s[i]);
    track.pose.push_back(pose);
  }
  track.left_out = poses.size() - track.size();
  return track;
}

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
    const auto edge = edge_of(*source);
    Result<Track> track = edge ? read_edge(recording, *edge, clock) : read_topic(recording, *source, clock);
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
