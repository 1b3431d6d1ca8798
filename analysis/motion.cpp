// SPDX-License-Identifier: Apache-2.0
#include "analysis/motion.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "analysis/run_data.hpp"

namespace pitwall::analysis {

namespace {

using localization::MotionSample;
using localization::ScanTrack;

void append(std::vector<double>& to, const std::vector<double>& from) { to.insert(to.end(), from.begin(), from.end()); }

void append(MotionSeries& to, const MotionSeries& from) {
  append(to.begin_s, from.begin_s);
  append(to.end_s, from.end_s);
  append(to.speed_mps, from.speed_mps);
  append(to.lateral_mps, from.lateral_mps);
  append(to.yaw_rate_radps, from.yaw_rate_radps);
  append(to.speed_sigma_mps, from.speed_sigma_mps);
  append(to.yaw_sigma_radps, from.yaw_sigma_radps);
  append(to.speed_seen, from.speed_seen);
  append(to.yaw_seen, from.yaw_seen);
  append(to.residual_m, from.residual_m);
  to.scans += from.scans;
  to.out_of_order += from.out_of_order;
  to.gaps += from.gaps;
  to.failed += from.failed;
}

void add_sample(MotionSeries& to, const MotionSample& sample, Time origin) {
  const double middle_s = seconds_since(origin, sample.stamp);
  to.begin_s.push_back(middle_s - 0.5 * sample.dt_s);
  to.end_s.push_back(middle_s + 0.5 * sample.dt_s);
  to.speed_mps.push_back(sample.velocity.x_mps);
  to.lateral_mps.push_back(sample.velocity.y_mps);
  to.yaw_rate_radps.push_back(sample.velocity.yaw_radps);
  to.speed_sigma_mps.push_back(sample.sigma_forward_mps());
  to.yaw_sigma_radps.push_back(sample.sigma_yaw_radps());
  to.speed_seen.push_back(sample.forward_observable ? 1.0 : 0.0);
  to.yaw_seen.push_back(sample.yaw_observable ? 1.0 : 0.0);
  to.residual_m.push_back(sample.median_distance_m);
  to.failed += sample.status == localization::MatchStatus::kMatched ? 0 : 1;
}

struct Piece {
  std::size_t number = 0;
  std::vector<LaserScan> scans;
  std::size_t skip = 0;
};

}  // namespace

localization::ScanTrackParameters paired(localization::ScanTrackParameters parameters, double period_s) {
  if (period_s * static_cast<double>(parameters.stride) <= parameters.max_pair_s) return parameters;
  parameters.stride = 1;
  parameters.max_pair_s = std::max(parameters.max_pair_s, 1.5 * period_s);
  return parameters;
}

struct MotionTracker::Workers {
  localization::ScanTrackParameters parameters;
  Pose2 T_base_lidar;
  Time origin;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Piece> waiting;
  std::map<std::size_t, MotionSeries> done;
  std::size_t given = 0;
  bool ended = false;
  std::vector<std::thread> threads;

  MotionSeries work_on(const Piece& piece) const {
    MotionSeries series;
    ScanTrack track(parameters, T_base_lidar);
    localization::ScanTrackCounts before;
    for (std::size_t k = 0; k < piece.scans.size(); ++k) {
      const auto sample = track.add(piece.scans[k]);
      if (k + 1 == piece.skip) before = track.counts();
      if (k >= piece.skip && sample) add_sample(series, *sample, origin);
    }
    series.scans = track.counts().scans - before.scans;
    series.out_of_order = track.counts().out_of_order - before.out_of_order;
    series.gaps = track.counts().gaps - before.gaps;
    return series;
  }

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return ended || !waiting.empty(); });
      if (waiting.empty()) return;
      const Piece piece = std::move(waiting.front());
      waiting.pop_front();
      changed.notify_all();
      lock.unlock();
      MotionSeries series = work_on(piece);
      lock.lock();
      done.emplace(piece.number, std::move(series));
    }
  }

  void give(std::vector<LaserScan> scans, std::size_t skip) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return waiting.size() < threads.size(); });
    waiting.push_back({given++, std::move(scans), skip});
    changed.notify_all();
  }

  void end() {
    {
      const std::lock_guard lock(mutex);
      ended = true;
    }
    changed.notify_all();
    for (std::thread& thread : threads) {
      if (thread.joinable()) thread.join();
    }
  }
};

MotionTracker::MotionTracker(const localization::ScanTrackParameters& parameters, const Pose2& T_base_lidar, Time origin, unsigned threads)
    : workers_(std::make_unique<Workers>()) {
  workers_->parameters = parameters;
  workers_->T_base_lidar = T_base_lidar;
  workers_->origin = origin;
  if (threads == 0) threads = std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
  for (unsigned k = 0; k < threads; ++k) workers_->threads.emplace_back([this] { workers_->run(); });
}

MotionTracker::~MotionTracker() { workers_->end(); }

void MotionTracker::add(const LaserScan& scan) {
  piece_.push_back(scan);
  if (piece_.size() < skip_ + kPiece) return;
  std::vector<LaserScan> before(piece_.end() - static_cast<std::ptrdiff_t>(kBefore), piece_.end());
  workers_->give(std::move(piece_), skip_);
  piece_ = std::move(before);
  skip_ = piece_.size();
}

MotionSeries MotionTracker::finish() {
  if (piece_.size() > skip_) workers_->give(std::move(piece_), skip_);
  workers_->end();
  MotionSeries all;
  for (const auto& [number, series] : workers_->done) append(all, series);
  return all;
}

}  // namespace pitwall::analysis
