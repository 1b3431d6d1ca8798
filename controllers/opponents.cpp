// SPDX-License-Identifier: Apache-2.0
#include "controllers/opponents.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/math.hpp"
#include "tracks/distance_field.hpp"

namespace pitwall::controllers {

namespace {

constexpr std::size_t kMaxClusters = 64;
// How far along the line an opponent is looked for.
constexpr double kBehind_m = 5.0;
constexpr double kFarthestOpponent_m = 12.0;
// A track that was never confirmed is noise once it has been gone this long.
constexpr double kUnconfirmed_s = 0.4;

}  // namespace

void DetectionParameters::fields(FieldVisitor& f) {
  f.integer("beam_step", beam_step, {"", 1, 20, "every n-th beam is compared with the map"});
  f.number("margin_m", margin_m, {"m", 0.05, 2, "a beam this much shorter than the map explains is something else"});
  f.number("wall_clearance_m", wall_clearance_m, {"m", 0, 1, "nothing nearer to a mapped wall is unexplained"});
  f.number("wall_clearance_per_m", wall_clearance_per_m, {"", 0, 0.2, "the same, per metre of range (error of the pose's yaw)"});
  f.number("max_range_m", max_range_m, {"m", 1, 30, "how far opponents are looked for"});
  f.number("cluster_jump_m", cluster_jump_m, {"m", 0.05, 2, "range jump that separates two things"});
  f.number("min_width_m", min_width_m, {"m", 0.02, 1, "narrower things begin no track"});
  f.number("max_width_m", max_width_m, {"m", 0.1, 3, "wider things are no car"});
}

void TrackingParameters::fields(FieldVisitor& f) {
  f.number("fresh_s", fresh_s, {"s", 0.1, 5, "an opponent seen within it is current"});
  f.number("forget_s", forget_s, {"s", 0.1, 30, "unseen longer: forgotten"});
  f.number("acceleration_mps2", acceleration_mps2, {"m/s^2", 0.1, 20, "of an opponent along the line, one sigma"});
  f.number("position_noise_m", position_noise_m, {"m", 0.001, 1, "of a detection along the line, one sigma"});
  f.number("lateral_noise_m", lateral_noise_m, {"m", 0.001, 1, "of a detection across the line, one sigma"});
  f.number("lateral_drift_mps", lateral_drift_mps, {"m/s", 0.001, 5, "of an opponent across the line, one sigma per root second"});
  f.integer("confirm_hits", confirm_hits, {"", 1, 100, "scans that must show a thing before it counts"});
}

OpponentDetector::OpponentDetector(const DetectionParameters& parameters, const CarParameters& car,
                                   std::shared_ptr<const tracks::RayCaster> rays)
    : parameters_(parameters), car_(car), rays_(std::move(rays)) {
  const auto beams = static_cast<std::size_t>(std::max<std::int64_t>(car.lidar_beams, 1));
  directions_.reserve(beams);
  points_.reserve(beams);
  beams_.reserve(beams);
  clusters_.reserve(kMaxClusters);
}

void OpponentDetector::look(const LaserScan& scan, const Pose2& T_map_base_first, const Pose2& T_map_base_last) {
  if (directions_.size() != scan.ranges.size() || angle_min_ != scan.angle_min || angle_increment_ != scan.angle_increment) {
    angle_min_ = scan.angle_min;
    angle_increment_ = scan.angle_increment;
    directions_.clear();
    for (std::size_t i = 0; i < scan.ranges.size(); ++i) {
      directions_.push_back(unit_vector(static_cast<double>(angle_min_) + static_cast<double>(i) * static_cast<double>(angle_increment_)));
    }
    points_.reserve(scan.ranges.size());
    beams_.reserve(scan.ranges.size());
  }
  const auto mount = [&](const Pose2& T_map_base) {
    const Pose2 T_map_lidar = T_map_base * car_.lidar_mount();
    const math::SinCos turn = math::sincos(T_map_lidar.yaw);
    return Mount{T_map_lidar.position(), turn.cos, turn.sin};
  };
  first_ = mount(T_map_base_first);
  last_ = mount(T_map_base_last);
}

Vec2 OpponentDetector::direction_map(std::size_t i, Vec2& origin_map) const {
  // Between the first and the last beam the car turns by a few degrees at most: interpolating the rotation is enough.
  const double t = directions_.size() > 1 ? static_cast<double>(i) / static_cast<double>(directions_.size() - 1) : 0.0;
  const double c = first_.cos + t * (last_.cos - first_.cos);
  const double s = first_.sin + t * (last_.sin - first_.sin);
  origin_map = first_.position + t * (last_.position - first_.position);
  const Vec2 d = directions_[i];
  const Vec2 turned{c * d.x - s * d.y, s * d.x + c * d.y};
  return (1.0 / norm(turned)) * turned;
}

bool OpponentDetector::ends_on_something(const LaserScan& scan, std::size_t i) const {
  const float r = scan.ranges[i];
  return std::isfinite(r) && r >= scan.range_min && r > 0.0F && r <= scan.range_max;
}

bool OpponentDetector::unexplained(const LaserScan& scan, std::size_t i, Vec2& point_map) const {
  if (!rays_ || i >= directions_.size() || !ends_on_something(scan, i)) return false;
  const double r = static_cast<double>(scan.ranges[i]);
  if (r > parameters_.max_range_m) return false;
  Vec2 origin;
  const Vec2 direction = direction_map(i, origin);
  if (rays_->cast(origin, direction, r + parameters_.margin_m) < r + parameters_.margin_m) return false;
  point_map = origin + r * direction;
  // A beam that passes a mapped edge by a hand's breadth because the pose is off by as much ends on that edge.
  const double off = parameters_.wall_clearance_m + parameters_.wall_clearance_per_m * r;
  return tracks::clearance_m(rays_->map(), point_map, off) > off;
}

// Whether the thing may go on beyond its outermost beam: the scan ends there, or something nearer hides the rest.
bool OpponentDetector::is_cut(const LaserScan& scan, std::uint32_t beam, int way) const {
  constexpr std::int64_t kLook = 3;
  const auto n = static_cast<std::int64_t>(scan.ranges.size());
  for (std::int64_t k = 1; k <= kLook; ++k) {
    const std::int64_t i = static_cast<std::int64_t>(beam) + way * k;
    if (i < 0 || i >= n) return true;
    const auto beside = static_cast<std::size_t>(i);
    if (!ends_on_something(scan, beside)) continue;
    return static_cast<double>(scan.ranges[beside]) < static_cast<double>(scan.ranges[beam]) - parameters_.cluster_jump_m;
  }
  return false;
}

void OpponentDetector::close_cluster(const LaserScan& scan, std::size_t begin, double nearest_m) {
  if (begin == points_.size() || clusters_.size() == kMaxClusters) return;
  const std::span<const Vec2> points(points_.data() + begin, points_.size() - begin);
  const bool cut = is_cut(scan, beams_[begin], -1) || is_cut(scan, beams_.back(), +1);
  clusters_.push_back({points, distance(points.front(), points.back()), nearest_m, cut});
}

void OpponentDetector::collect_with_map(const LaserScan& scan) {
  const auto step = static_cast<std::size_t>(parameters_.beam_step);
  std::size_t next = 0;  // the first beam that no cluster has used
  Vec2 point;
  for (std::size_t i = 0; i < scan.ranges.size(); i += step) {
    if (i < next || !unexplained(scan, i, point)) continue;
    // Something is there: every beam around it, so that its edges are known to a beam.
    std::size_t begin = points_.size();
    double nearest = std::numeric_limits<double>::infinity();
    double previous = 0.0;
    std::size_t last_hit = i;
    std::size_t j = std::max(next, i - std::min(i, step - 1));
    for (; j < scan.ranges.size() && (j <= i || j - last_hit <= step); ++j) {
      if (!unexplained(scan, j, point)) continue;
      const double r = static_cast<double>(scan.ranges[j]);
      if (begin < points_.size() && std::abs(r - previous) > parameters_.cluster_jump_m) {
        close_cluster(scan, begin, nearest);
        begin = points_.size();
        nearest = std::numeric_limits<double>::infinity();
      }
      points_.push_back(point);
      beams_.push_back(static_cast<std::uint32_t>(j));
      previous = r;
      nearest = std::min(nearest, r);
      last_hit = std::max(last_hit, j);
    }
    close_cluster(scan, begin, nearest);
    next = j;
  }
}

void OpponentDetector::collect_without_map(const LaserScan& scan) {
  constexpr std::size_t kNeighbours = 5;
  constexpr double kDeeper_m = 0.5;
  const std::size_t n = scan.ranges.size();
  const auto depth = [&](std::size_t k) {
    return ends_on_something(scan, k) ? static_cast<double>(scan.ranges[k]) : static_cast<double>(scan.range_max);
  };
  // Whether the beams from `from`, `count` of them, look past a thing at range r.
  const auto deeper = [&](std::size_t from, std::size_t count, double r) {
    if (count == 0) return false;
    double sum = 0.0;
    for (std::size_t k = from; k < from + count; ++k) sum += depth(k);
    return sum / static_cast<double>(count) >= r + kDeeper_m;
  };
  for (std::size_t i = 0; i < n;) {
    if (!ends_on_something(scan, i) || depth(i) > parameters_.max_range_m) {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    double sum = depth(i);
    double nearest = sum;
    while (end < n && ends_on_something(scan, end) && std::abs(depth(end) - depth(end - 1)) <= parameters_.cluster_jump_m) {
      sum += depth(end);
      nearest = std::min(nearest, depth(end));
      ++end;
    }
    const double mean = sum / static_cast<double>(end - i);
    const std::size_t before = std::min(i, kNeighbours);
    const std::size_t after = std::min(n - end, kNeighbours);
    const double width = 2.0 * mean * math::sin(0.5 * static_cast<double>(end - i - 1) * static_cast<double>(scan.angle_increment));
    if (width <= parameters_.max_width_m && deeper(i - before, before, mean) && deeper(end, after, mean)) {
      const std::size_t begin = points_.size();
      for (std::size_t k = i; k < end; ++k) {
        Vec2 origin;
        const Vec2 direction = direction_map(k, origin);
        points_.push_back(origin + depth(k) * direction);
        beams_.push_back(static_cast<std::uint32_t>(k));
      }
      close_cluster(scan, begin, nearest);
    }
    i = end;
  }
}

std::span<const Cluster> OpponentDetector::detect(const LaserScan& scan, const Pose2& T_map_base_first, const Pose2& T_map_base_last) {
  look(scan, T_map_base_first, T_map_base_last);
  points_.clear();
  beams_.clear();
  clusters_.clear();
  if (rays_) {
    collect_with_map(scan);
  } else {
    collect_without_map(scan);
  }
  // What is too narrow to be a car may still be a part of one that is followed already; what is too wide is a wall.
  std::erase_if(clusters_, [&](const Cluster& c) { return c.width_m > parameters_.max_width_m || c.points_map.size() < 2; });
  return clusters_;
}

void OpponentTracker::reset() {
  count_ = 0;
  next_id_ = 1;
}

OpponentTracker::Sighting OpponentTracker::sight(const tracks::Path& path, const Cluster& cluster, Vec2 sensor_map, double ego_s_m) const {
  Vec2 mean;
  for (const Vec2 p : cluster.points_map) mean = mean + p;
  mean = (1.0 / static_cast<double>(cluster.points_map.size())) * mean;
  const tracks::Projection q = path.project_near(mean, ego_s_m, kBehind_m, kFarthestOpponent_m);
  const Vec2 along = unit_vector(path.heading_at(q.s_m));
  const Vec2 across{-along.y, along.x};
  const Vec2 sensor{dot(sensor_map - q.foot, along), dot(sensor_map - q.foot, across)};
  Vec2 low{math::kInfinity, math::kInfinity};
  Vec2 high{-math::kInfinity, -math::kInfinity};
  for (const Vec2 p : cluster.points_map) {
    const Vec2 v{dot(p - q.foot, along), dot(p - q.foot, across)};
    low = {std::min(low.x, v.x), std::min(low.y, v.y)};
    high = {std::max(high.x, v.x), std::max(high.y, v.y)};
  }
  // The scan shows the sides that face the sensor: the centre lies half a body behind them.
  const auto centre = [](double lo, double hi, double from, double size) {
    if (from < lo) return lo + 0.5 * size;
    if (from > hi) return hi - 0.5 * size;
    return 0.5 * (lo + hi);
  };
  return {path.wrap_s(q.s_m + centre(low.x, high.x, sensor.x, length_m_)), centre(low.y, high.y, sensor.y, width_m_), cluster.cut};
}

void OpponentTracker::predict(const tracks::Path& path, Opponent& o, double dt_s) const {
  o.s_m = path.wrap_s(o.s_m + o.rate_mps * dt_s);
  auto& [ss, sv, vv] = o.covariance;
  const double q = parameters_.acceleration_mps2 * parameters_.acceleration_mps2 * dt_s;
  ss += dt_s * (2.0 * sv + dt_s * vv) + q * dt_s * dt_s / 3.0;
  sv += dt_s * vv + 0.5 * q * dt_s;
  vv += q;
  o.lateral_variance += parameters_.lateral_drift_mps * parameters_.lateral_drift_mps * dt_s;
}

void OpponentTracker::correct(const tracks::Path& path, Opponent& o, const Sighting& seen, Time stamp) const {
  o.seen = stamp;
  ++o.hits;
  // Where its end lies is unknown, and with it where its centre is.
  if (seen.cut) return;
  auto& [ss, sv, vv] = o.covariance;
  const double innovation = path.s_difference(seen.s_m, o.s_m);
  const double variance = ss + parameters_.position_noise_m * parameters_.position_noise_m;
  const double gain_s = ss / variance;
  const double gain_v = sv / variance;
  o.s_m = path.wrap_s(o.s_m + gain_s * innovation);
  o.rate_mps += gain_v * innovation;
  vv -= gain_v * sv;
  sv -= gain_s * sv;
  ss -= gain_s * ss;
  const double gain = o.lateral_variance / (o.lateral_variance + parameters_.lateral_noise_m * parameters_.lateral_noise_m);
  o.lateral_m += gain * (seen.lateral_m - o.lateral_m);
  o.lateral_variance *= 1.0 - gain;
}

void OpponentTracker::observe(const tracks::Path& path, std::span<const Cluster> clusters, Vec2 sensor_map, double ego_s_m, Time stamp) {
  // Half a car's length, and as much across: beyond it, it is another car.
  constexpr double kGateAlong_m = 0.5;
  constexpr double kGateAcross_m = 0.5;
  constexpr double kFirstSpeedSigma_mps = 2.0;
  const double dt = count_ > 0 ? std::max(0.0, (stamp - predicted_to_).seconds()) : 0.0;
  predicted_to_ = stamp;
  for (std::size_t i = 0; i < count_; ++i) predict(path, tracks_[i], dt);

  std::array<bool, kCapacity> taken{};
  for (const Cluster& cluster : clusters) {
    const Sighting seen = sight(path, cluster, sensor_map, ego_s_m);
    std::size_t best = count_;
    double best_distance = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < count_; ++i) {
      const double along = std::abs(path.s_difference(seen.s_m, tracks_[i].s_m));
      const double across = std::abs(seen.lateral_m - tracks_[i].lateral_m);
      if (along > kGateAlong_m + 2.0 * std::sqrt(tracks_[i].covariance[0]) || across > kGateAcross_m) continue;
      if (along + across < best_distance) {
        best_distance = along + across;
        best = i;
      }
    }
    if (best < count_) {
      // A second part of the same car: its first part has spoken.
      if (taken[best]) continue;
      correct(path, tracks_[best], seen, stamp);
      taken[best] = true;
    } else if (cluster.width_m >= min_width_m_ && !cluster.cut && count_ < kCapacity) {
      Opponent& o = tracks_[count_];
      o = Opponent{};
      o.id = next_id_++;
      o.s_m = seen.s_m;
      o.lateral_m = seen.lateral_m;
      o.seen = stamp;
      o.hits = 1;
      o.covariance = {parameters_.position_noise_m * parameters_.position_noise_m, 0.0, kFirstSpeedSigma_mps * kFirstSpeedSigma_mps};
      o.lateral_variance = parameters_.lateral_noise_m * parameters_.lateral_noise_m;
      taken[count_++] = true;
    }
  }
}

void OpponentTracker::forget(Time now) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const double unseen = (now - tracks_[i].seen).seconds();
    if (unseen > (confirmed(tracks_[i]) ? parameters_.forget_s : kUnconfirmed_s)) continue;
    tracks_[kept++] = tracks_[i];
  }
  count_ = kept;
}

Opponent OpponentTracker::at(const tracks::Path& path, const Opponent& o, Time now) const {
  Opponent moved = o;
  moved.s_m = path.wrap_s(o.s_m + o.rate_mps * (now - predicted_to_).seconds());
  return moved;
}

double lead_m(const tracks::Path& path, double a_s_m, double b_s_m) { return path.s_difference(a_s_m, b_s_m); }

}  // namespace pitwall::controllers
