// SPDX-License-Identifier: Apache-2.0
// Several IMUs as one at base_link: their samples on one grid of times, then their turn rates and accelerations carried over the rigid
// body,
//
//   f_base = R f - alpha x r - omega x (omega x r),
//
// with R, r the mount of each (from base_link: the rear axle, on the ground) and alpha the angular acceleration: the filtered derivative of
// the gyros, and across the line between two accelerometers what these show directly, since f1 - f2 = alpha x d + omega x (omega x d).
// Driven by stamps and the `now` of its caller; nothing is allocated once the streams are running.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.hpp"
#include "core/messages.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "localization/small_matrix.hpp"

namespace pitwall::localization {

/// One IMU of a car: where it sits, how its axes lie and what its readings are off by.
struct ImuMount {
  Vector3 position_m;  ///< from base_link, in the car's axes
  double roll_rad = 0.0;
  double pitch_rad = 0.0;
  double yaw_rad = 0.0;  ///< sensor to car: roll about x, then pitch about y, then yaw about z
  double weight = 1.0;
  Vector3 gyro_bias_radps;
  Vector3 accel_bias_mps2;
  // A of calibrated = A (raw - bias), symmetric (accelerometer_fit.hpp).
  Vector3 accel_scale{{1.0, 1.0, 1.0}};  ///< its diagonal
  Vector3 accel_shear;                   ///< xy, xz, yz
  void fields(FieldVisitor& f);
  [[nodiscard]] Matrix3 rotation() const;  ///< sensor to car
  [[nodiscard]] Vector3 calibrated(const Vector3& accel_mps2) const;
};

struct ImuSyncParameters {
  double rate_hz = 200.0;
  double delay_s = 0.04;        ///< how long the grid waits for samples on their way
  double longest_gap_s = 0.05;  ///< between the samples around a time; more: the time is skipped
  double stalled_s = 0.3;       ///< a stream so far behind does not hold the others up any longer
  void fields(FieldVisitor& f);
};

/// What the synchroniser takes and gives: readings in the axes of the sensor.
struct ImuSample {
  Time stamp;
  Vector3 gyro_radps;
  Vector3 accel_mps2;
};

class ImuSynchronizer {
 public:
  ImuSynchronizer(const ImuSyncParameters& parameters, std::size_t streams);

  /// False where the sample is dropped: not finite, or not newer than the last of its stream.
  bool add(std::size_t stream, const ImuSample& sample);
  /// The next time of the grid at which all streams are known, one sample each, interpolated; nothing until it is due. The reference stays
  /// valid until the next call.
  const std::vector<ImuSample>* next(Time now);

  [[nodiscard]] std::int64_t dropped() const { return dropped_; }
  [[nodiscard]] std::int64_t skipped() const { return skipped_; }  ///< times of the grid

 private:
  struct Stream {
    std::vector<ImuSample> samples;  // oldest first
  };
  enum class Known : std::uint8_t { kYes, kNotYet, kNever };
  Known at(const Stream& stream, Time t, Time now, ImuSample& out) const;

  ImuSyncParameters parameters_;
  std::vector<Stream> streams_;
  std::vector<ImuSample> out_;
  std::optional<std::int64_t> step_;  // of the grid that comes next
  std::int64_t dropped_ = 0;
  std::int64_t skipped_ = 0;
};

class CentreFusion {
 public:
  /// At least one mount.
  explicit CentreFusion(std::vector<ImuMount> mounts);

  /// One sample of each IMU, all of one stamp: what an IMU at base_link in the car's axes would read.
  Imu fuse(const std::vector<ImuSample>& samples);
  [[nodiscard]] const Vector3& angular_acceleration() const { return alpha_; }

 private:
  std::vector<ImuMount> mounts_;
  std::vector<Matrix3> rotations_;
  std::vector<Vector3> felt_;
  // The two that are farthest apart, where that is more than 0.05 m.
  std::optional<std::array<std::size_t, 2>> baseline_;
  double weights_ = 0.0;
  std::optional<Time> last_;
  Vector3 omega_;
  Vector3 derivative_;  // of omega, filtered
  Vector3 alpha_;
};

/// The IMUs of one car, by name, and how they are put together.
struct NamedMount {
  std::string name;
  std::string topic;  ///< it was recorded on
  ImuMount mount;
  void fields(FieldVisitor& f);
};
struct ImuRig {
  ImuSyncParameters sync;
  std::vector<NamedMount> imus;  ///< in the order of their names
};
/// Reads
///   sync: {rate_hz: 200}
///   imus:
///     vesc: {topic: /sensors/imu/raw, x_m: 0.152, y_m: 0.09, z_m: 0.08, roll_rad: -0.0061, yaw_rad: -1.4781}
/// Errors name file, line, key and what is allowed; a rig has at least one IMU.
Result<ImuRig> parse_imu_rig(std::string_view yaml, const std::string& name);

}  // namespace pitwall::localization
