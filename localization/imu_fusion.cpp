// SPDX-License-Identifier: Apache-2.0
#include "localization/imu_fusion.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/check.hpp"
#include "core/node.hpp"
#include "localization/imu_mounting.hpp"

namespace pitwall::localization {

namespace {

constexpr double kFilter_s = 0.03;    // of the gyros' derivative
constexpr double kLongest_s = 0.1;    // between two samples, for a derivative
constexpr double kBaseline_m = 0.05;  // shorter ones show noise instead of turning
constexpr double kHorizon_s = 1.0;    // of the samples that are kept

Vector3 between(const Vector3& a, const Vector3& b, double share) { return a + share * (b - a); }

}  // namespace

void ImuMount::fields(FieldVisitor& f) {
  f.number("x_m", position_m.v[0], {"m", -2, 2, "ahead of base_link"});
  f.number("y_m", position_m.v[1], {"m", -2, 2, "to its left"});
  f.number("z_m", position_m.v[2], {"m", -2, 2, "above it"});
  f.number("roll_rad", roll_rad, {"rad", -4, 4, "sensor to car, about x first"});
  f.number("pitch_rad", pitch_rad, {"rad", -4, 4, "then about y"});
  f.number("yaw_rad", yaw_rad, {"rad", -4, 4, "then about z"});
  f.number("weight", weight, {"", 1e-3, 1e3, "among the IMUs"});
  f.number("gyro_bias_x_radps", gyro_bias_radps.v[0], {"rad/s", -0.5, 0.5, "of the gyro"});
  f.number("gyro_bias_y_radps", gyro_bias_radps.v[1], {"rad/s", -0.5, 0.5, "of the gyro"});
  f.number("gyro_bias_z_radps", gyro_bias_radps.v[2], {"rad/s", -0.5, 0.5, "of the gyro"});
  f.number("accel_bias_x_mps2", accel_bias_mps2.v[0], {"m/s^2", -5, 5, "of the accelerometer"});
  f.number("accel_bias_y_mps2", accel_bias_mps2.v[1], {"m/s^2", -5, 5, "of the accelerometer"});
  f.number("accel_bias_z_mps2", accel_bias_mps2.v[2], {"m/s^2", -5, 5, "of the accelerometer"});
  f.number("accel_scale_x", accel_scale.v[0], {"", 0.5, 2, "of the calibrated reading"});
  f.number("accel_scale_y", accel_scale.v[1], {"", 0.5, 2, "of the calibrated reading"});
  f.number("accel_scale_z", accel_scale.v[2], {"", 0.5, 2, "of the calibrated reading"});
  f.number("accel_shear_xy", accel_shear.v[0], {"", -0.2, 0.2, "between its axes"});
  f.number("accel_shear_xz", accel_shear.v[1], {"", -0.2, 0.2, "between its axes"});
  f.number("accel_shear_yz", accel_shear.v[2], {"", -0.2, 0.2, "between its axes"});
}

Matrix3 ImuMount::rotation() const { return rotation_of(roll_rad, pitch_rad, yaw_rad); }

Vector3 ImuMount::calibrated(const Vector3& accel_mps2) const {
  const auto& [xy, xz, yz] = accel_shear.v;
  const Matrix3 a{{accel_scale.v[0], xy, xz, xy, accel_scale.v[1], yz, xz, yz, accel_scale.v[2]}};
  return a * (accel_mps2 - accel_bias_mps2);
}

void ImuSyncParameters::fields(FieldVisitor& f) {
  f.number("rate_hz", rate_hz, {"Hz", 1, 2000, "of the common grid"});
  f.number("delay_s", delay_s, {"s", 0, 1, "that the grid waits for samples on their way"});
  f.number("longest_gap_s", longest_gap_s, {"s", 1e-3, 1, "between the samples around a time"});
  f.number("stalled_s", stalled_s, {"s", 1e-3, 10, "from which a stream does not hold the others up"});
}

ImuSynchronizer::ImuSynchronizer(const ImuSyncParameters& parameters, std::size_t streams)
    : parameters_(parameters), streams_(streams), out_(streams) {
  for (Stream& stream : streams_) stream.samples.reserve(4096);
}

bool ImuSynchronizer::add(std::size_t stream, const ImuSample& sample) {
  std::vector<ImuSample>& samples = streams_[stream].samples;
  if (!is_finite(sample.gyro_radps) || !is_finite(sample.accel_mps2) || (!samples.empty() && sample.stamp <= samples.back().stamp)) {
    ++dropped_;
    return false;
  }
  const Time oldest = sample.stamp - from_seconds(kHorizon_s);
  samples.erase(samples.begin(),
                std::find_if(samples.begin(), samples.end(), [oldest](const ImuSample& each) { return each.stamp >= oldest; }));
  samples.push_back(sample);
  return true;
}

ImuSynchronizer::Known ImuSynchronizer::at(const Stream& stream, Time t, Time now, ImuSample& out) const {
  const std::vector<ImuSample>& samples = stream.samples;
  const auto after = std::find_if(samples.begin(), samples.end(), [t](const ImuSample& each) { return each.stamp >= t; });
  if (after == samples.end()) return (now - samples.back().stamp).seconds() < parameters_.stalled_s ? Known::kNotYet : Known::kNever;
  out = *after;
  if (after->stamp == t) return Known::kYes;
  if (after == samples.begin()) return Known::kNever;
  const ImuSample& before = *(after - 1);
  const double gap_s = (after->stamp - before.stamp).seconds();
  if (gap_s > parameters_.longest_gap_s) return Known::kNever;
  const double share = (t - before.stamp).seconds() / gap_s;
  out = {t, between(before.gyro_radps, after->gyro_radps, share), between(before.accel_mps2, after->accel_mps2, share)};
  return Known::kYes;
}

const std::vector<ImuSample>* ImuSynchronizer::next(Time now) {
  const std::int64_t period_ns = from_seconds(1.0 / parameters_.rate_hz).ns;
  if (std::any_of(streams_.begin(), streams_.end(), [](const Stream& s) { return s.samples.empty(); })) return nullptr;
  if (!step_) {
    Time begin = streams_.front().samples.front().stamp;
    for (const Stream& stream : streams_) begin = std::max(begin, stream.samples.front().stamp);
    step_ = (begin.ns + period_ns - 1) / period_ns;
  }
  for (;; ++skipped_) {
    const Time t{*step_ * period_ns};
    if (t > now - from_seconds(parameters_.delay_s)) return nullptr;
    bool all = true;
    bool wait = false;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      const Known known = at(streams_[i], t, now, out_[i]);
      all = all && known == Known::kYes;
      wait = wait || known == Known::kNotYet;
    }
    if (wait) return nullptr;
    ++*step_;
    if (all) return &out_;
  }
}

CentreFusion::CentreFusion(std::vector<ImuMount> mounts) : mounts_(std::move(mounts)), felt_(mounts_.size()) {
  PITWALL_CHECK(!mounts_.empty(), "no IMU");
  double longest = kBaseline_m;
  for (std::size_t i = 0; i < mounts_.size(); ++i) {
    rotations_.push_back(mounts_[i].rotation());
    weights_ += mounts_[i].weight;
    for (std::size_t k = 0; k < i; ++k) {
      const double apart = length(mounts_[i].position_m - mounts_[k].position_m);
      if (!(apart > longest)) continue;
      longest = apart;
      baseline_ = {i, k};
    }
  }
}

Imu CentreFusion::fuse(const std::vector<ImuSample>& samples) {
  const Vector3 before = omega_;
  omega_ = {};
  for (std::size_t i = 0; i < mounts_.size(); ++i) {
    const ImuMount& mount = mounts_[i];
    omega_ = omega_ + (mount.weight / weights_) * (rotations_[i] * (samples[i].gyro_radps - mount.gyro_bias_radps));
    felt_[i] = rotations_[i] * mount.calibrated(samples[i].accel_mps2);
  }
  const Time stamp = samples.front().stamp;
  const double dt = last_ ? (stamp - *last_).seconds() : 0.0;
  last_ = stamp;
  const bool continues = dt > 0.0 && dt <= kLongest_s;
  derivative_ = continues ? derivative_ + (dt / (kFilter_s + dt)) * ((1.0 / dt) * (omega_ - before) - derivative_) : Vector3{};
  alpha_ = derivative_;
  if (baseline_) {
    const auto [i, k] = *baseline_;
    const Vector3 d = mounts_[i].position_m - mounts_[k].position_m;
    const Vector3 shown = felt_[i] - felt_[k] - cross(omega_, cross(omega_, d));
    alpha_ = (1.0 / dot(d, d)) * (dot(d, derivative_) * d + cross(d, shown));
  }
  Vector3 felt;
  for (std::size_t i = 0; i < mounts_.size(); ++i) {
    const Vector3& r = mounts_[i].position_m;
    felt = felt + (mounts_[i].weight / weights_) * (felt_[i] - cross(alpha_, r) - cross(omega_, cross(omega_, r)));
  }
  return {stamp, omega_.v, felt.v};
}

void NamedMount::fields(FieldVisitor& f) {
  f.text("topic", topic, "that it is recorded on");
  mount.fields(f);
}

Result<ImuRig> parse_imu_rig(std::string_view yaml, const std::string& name) {
  const Result<Node> root = parse_yaml(yaml, name);
  if (!root) return root.error();
  if (!root->is_map()) return Error{name + ": a rig is a map of 'sync' and 'imus'"};
  ImuRig rig;
  for (const auto& [key, node] : root->entries) {
    if (key == "sync") {
      if (const Status loaded = load_fields(node, "sync", rig.sync); !loaded) return loaded.error();
    } else if (key == "imus" && node.is_map()) {
      for (const auto& [imu, fields] : node.entries) {
        NamedMount mount;
        mount.name = imu;
        if (const Status loaded = load_fields(fields, "imus." + imu, mount); !loaded) return loaded.error();
        if (mount.topic.empty()) return Error{fields.where() + ": imus." + imu + " needs the topic it is recorded on"};
        rig.imus.push_back(std::move(mount));
      }
    } else {
      return Error{node.where() + ": unknown key '" + key + "'; a rig is a map of 'sync' and 'imus' (a map of IMUs by name)"};
    }
  }
  if (rig.imus.empty()) return Error{name + ": no IMU in it"};
  std::sort(rig.imus.begin(), rig.imus.end(), [](const NamedMount& a, const NamedMount& b) { return a.name < b.name; });
  return rig;
}

}  // namespace pitwall::localization
