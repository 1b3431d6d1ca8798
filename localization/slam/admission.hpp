// SPDX-License-Identifier: Apache-2.0
// Which scans become nodes of the graph. Our own rule is one: far enough, or turned enough, since the last one. The rule of slam_toolbox
// (a3442d2f) is two gates in series, with what users trip over kept as it is, so that its recorded lists can be told again: the outer one
// looks at distance alone, at 0.8 of the squared bound, and never lets the second to fourth scan through; the inner one would let a
// turn through.
#pragma once

#include <cstdint>
#include <optional>

#include "core/fields.hpp"
#include "core/geometry.hpp"
#include "core/time.hpp"

namespace pitwall::slam {

enum class AdmissionMode : std::uint8_t {
  kOwn,
  kSlamToolbox,
  kEvery,  ///< whatever is handed in: a recorded list of admissions
};

struct AdmissionParameters {
  AdmissionMode mode = AdmissionMode::kOwn;
  double min_distance_m = 0.3;
  double min_heading_rad = 0.3;
  double toolbox_min_distance_m = 0.5;
  double toolbox_min_heading_rad = 0.5;
  double toolbox_min_interval_s = 0.5;
  std::int64_t toolbox_throttle_scans = 1;
  void fields(FieldVisitor& f);
};

/// Why a scan became a node, or which gate it did not pass.
enum class Admitted : std::uint8_t { kYes, kTooNear, kThrottled, kTooSoon, kWarmUp };

class Admission {
 public:
  explicit Admission(const AdmissionParameters& parameters) : parameters_(parameters) {}
  /// Decides about the next scan by the pose that odometry has for the sensor; remembers it if it is admitted.
  Admitted consider(Time stamp, const Pose2& T_odom_sensor);

 private:
  struct Seen {
    Time stamp;
    Pose2 T_odom_sensor;
  };
  [[nodiscard]] Admitted own(const Pose2& T_odom_sensor) const;
  [[nodiscard]] Admitted outer(Time stamp, const Pose2& T_odom_sensor) const;
  [[nodiscard]] Admitted inner(const Pose2& T_odom_sensor) const;

  AdmissionParameters parameters_;
  std::int64_t scans_ = 0;
  std::optional<Seen> last_;   // admitted; of the two gates, by the inner one
  std::optional<Seen> outer_;  // let through by the outer one
};

}  // namespace pitwall::slam
