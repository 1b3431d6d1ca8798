// SPDX-License-Identifier: Apache-2.0
#include "localization/slam/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace pitwall::slam {

namespace {

constexpr double kLoopDistance_m = 3.0;
constexpr std::size_t kLoopScans = 20;
constexpr double kPictureCell_m = 0.05;

class Relations {
 public:
  void add(const Pose2& estimated, const Pose2& reference) {
    const Pose2 error = inverse(reference) * estimated;
    const double away = norm(error.position());
    const double turn = std::abs(error.yaw) / math::kDegree;
    ++count_;
    sum_m_ += away;
    sum_m2_ += away * away;
    sum_deg_ += turn;
    sum_deg2_ += turn * turn;
    max_m_ = std::max(max_m_, away);
  }
  [[nodiscard]] RelationErrors errors() const {
    if (count_ == 0) return {};
    const double n = static_cast<double>(count_);
    const auto sd = [n](double sum, double sum2) { return std::sqrt(std::max(0.0, sum2 / n - sum * sum / (n * n))); };
    return {count_, sum_m_ / n, sd(sum_m_, sum_m2_), max_m_, sum_deg_ / n, sd(sum_deg_, sum_deg2_)};
  }

 private:
  std::size_t count_ = 0;
  double sum_m_ = 0.0;
  double sum_m2_ = 0.0;
  double sum_deg_ = 0.0;
  double sum_deg2_ = 0.0;
  double max_m_ = 0.0;
};

// T_reference_estimated of least squared distances between positions.
Pose2 alignment(std::span<const Pose2> estimated, std::span<const Pose2> reference) {
  const double n = static_cast<double>(estimated.size());
  Vec2 sum_p;
  Vec2 sum_q;
  double sum_dot = 0.0;
  double sum_cross = 0.0;
  for (std::size_t i = 0; i < estimated.size(); ++i) {
    const Vec2 p = estimated[i].position();
    const Vec2 q = reference[i].position();
    sum_p = sum_p + p;
    sum_q = sum_q + q;
    sum_dot += dot(p, q);
    sum_cross += cross(p, q);
  }
  const double yaw = math::atan2(sum_cross - cross(sum_p, sum_q) / n, sum_dot - dot(sum_p, sum_q) / n);
  const Vec2 shift = (1.0 / n) * (sum_q - rotate(yaw, sum_p));
  return {shift.x, shift.y, yaw};
}

}  // namespace

Evaluation evaluate(std::span<const Pose2> estimated, std::span<const Pose2> reference) {
  Evaluation result;
  const std::size_t count = std::min(estimated.size(), reference.size());
  if (count == 0) return result;
  Relations steps;
  Relations loops;
  for (std::size_t i = 0; i < count; ++i) {
    const auto relate = [&](Relations& relations, std::size_t j) {
      relations.add(inverse(estimated[i]) * estimated[j], inverse(reference[i]) * reference[j]);
    };
    if (i + 1 < count) relate(steps, i + 1);
    for (std::size_t j = i + kLoopScans + 1; j < count; ++j) {
      if (distance(reference[i].position(), reference[j].position()) < kLoopDistance_m) relate(loops, j);
    }
  }
  result.steps = steps.errors();
  result.loops = loops.errors();
  const Pose2 T = alignment(estimated.first(count), reference.first(count));
  double sum2 = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double away = distance(T * estimated[i].position(), reference[i].position());
    sum2 += away * away;
    result.ate_max_m = std::max(result.ate_max_m, away);
  }
  result.ate_rmse_m = std::sqrt(sum2 / static_cast<double>(count));
  return result;
}

std::size_t crispness_cells(std::span<const LaserScan> scans, std::span<const Pose2> T_map_sensor, double max_range_m) {
  std::vector<std::pair<std::int64_t, std::int64_t>> cells;
  for (std::size_t k = 0; k < std::min(scans.size(), T_map_sensor.size()); ++k) {
    const LaserScan& scan = scans[k];
    for (std::size_t i = 0; i < scan.ranges.size(); ++i) {
      const double range = scan.ranges[i];
      if (!(range > 0.0 && range >= scan.range_min && range < scan.range_max && range <= max_range_m)) continue;
      const double angle = static_cast<double>(scan.angle_min) + static_cast<double>(i) * static_cast<double>(scan.angle_increment);
      const Vec2 p = T_map_sensor[k] * (range * unit_vector(angle));
      cells.emplace_back(static_cast<std::int64_t>(std::floor(p.x / kPictureCell_m)),
                         static_cast<std::int64_t>(std::floor(p.y / kPictureCell_m)));
    }
  }
  std::sort(cells.begin(), cells.end());
  return static_cast<std::size_t>(std::unique(cells.begin(), cells.end()) - cells.begin());
}

}  // namespace pitwall::slam
