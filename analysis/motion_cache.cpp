// SPDX-License-Identifier: Apache-2.0
#include "analysis/motion_cache.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "analysis/cache.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"

namespace pitwall::analysis {

namespace {

namespace fs = std::filesystem;

constexpr int kMotionCacheFormat = 1;

template <class Motion, class Visit>
void each_column(Motion& m, Visit visit) {
  visit("begin_s", m.begin_s);
  visit("end_s", m.end_s);
  visit("speed_mps", m.speed_mps);
  visit("lateral_mps", m.lateral_mps);
  visit("yaw_rate_radps", m.yaw_rate_radps);
  visit("speed_sigma_mps", m.speed_sigma_mps);
  visit("yaw_sigma_radps", m.yaw_sigma_radps);
  visit("speed_seen", m.speed_seen);
  visit("yaw_seen", m.yaw_seen);
  visit("residual_m", m.residual_m);
}

NpzWriter pack(const MotionSeries& motion) {
  NpzWriter arrays;
  each_column(motion, [&](const char* name, const std::vector<double>& values) { arrays.add(name, values); });
  arrays.add("counts", std::vector<std::int64_t>{motion.scans, motion.out_of_order, motion.gaps, motion.failed});
  return arrays;
}

std::optional<MotionSeries> unpacked_motion(const NpzReader& arrays) {
  MotionSeries motion;
  bool complete = true;
  each_column(motion, [&](const char* name, std::vector<double>& values) {
    if (auto read = arrays.doubles(name)) {
      values = *std::move(read);
    } else {
      complete = false;
    }
  });
  each_column(motion, [&](const char*, const std::vector<double>& values) { complete = complete && values.size() == motion.size(); });
  const auto counts = arrays.integers("counts");
  if (!complete || !counts || counts->size() != 4) return std::nullopt;
  motion.scans = (*counts)[0];
  motion.out_of_order = (*counts)[1];
  motion.gaps = (*counts)[2];
  motion.failed = (*counts)[3];
  return motion;
}

Result<CacheKey> key_of(const ImuRunOptions& options, const CarParameters& car) {
  CacheKey key(kMotionCacheFormat);
  if (const Status added = key.add_recording(options.run); !added) return added.error();
  key.add("car", options.recorded_car);
  key.add("topics", join(options.topics));
  key.add("scan matching", save_fields(options.matching));
  const Pose2 mount = car.lidar_mount();
  key.add("mount", format_exact(mount.x) + " " + format_exact(mount.y) + " " + format_exact(mount.yaw));
  return key;
}

}  // namespace

Result<MovedRun> load_with_motion(const ImuRunOptions& options, const CarParameters& car, const fs::path& out) {
  const Result<CacheKey> key = key_of(options, car);
  if (!key) return key.error();
  MovedRun into;
  const fs::path file = out / "motion.npz";
  const CachedArrays cached = options.refresh ? CachedArrays{std::nullopt, "--refresh"} : load_cache(file, *key);
  std::optional<MotionSeries> motion;
  if (cached.arrays) motion = unpacked_motion(*cached.arrays);
  std::unique_ptr<MotionTracker> tracker;
  LoadOptions load;
  load.car = options.recorded_car;
  load.topics = options.topics;
  load.progress = options.progress;
  if (!motion) {
    load.scan = [&](const RunData& run, const LaserScan& scan) {
      if (!tracker) {
        const Pose2 mount = run.T_base_lidar.value_or(car.lidar_mount());
        tracker = std::make_unique<MotionTracker>(paired(options.matching, run.scan_period_s), mount, run.origin);
      }
      tracker->add(scan);
    };
  }
  Result<RunData> run = load_run(options.run, load);
  if (!run) return run.error();
  into.run = *std::move(run);
  if (motion) {
    into.motion = *std::move(motion);
    into.cache = "read from " + file.string();
  } else if (tracker) {
    into.motion = tracker->finish();
    const Status saved = save_cache(file, *key, pack(into.motion));
    into.cache = saved ? "made: " + file.string() + " (" + (cached.arrays ? "it is damaged" : cached.why) + ")"
                       : "not kept: " + saved.error().message;
  } else {
    into.cache = "none: there are no scans to match";
  }
  return into;
}

}  // namespace pitwall::analysis
