// SPDX-License-Identifier: Apache-2.0
// How an IMU is mounted, from what it reads: which way its axes point (gravity and one push forward; or a second IMU, by the rotation that
// takes one's turn rates to the other's: Kabsch 1976), and how much later than another its samples are stamped.
#pragma once

#include <span>

#include "core/result.hpp"
#include "localization/small_matrix.hpp"

namespace pitwall::localization {

/// Rotation by roll about x, then pitch about y, then yaw about z, all fixed: it takes what a sensor mounted so reads into the car's axes.
Matrix3 rotation_of(double roll_rad, double pitch_rad, double yaw_rad);

/// Sensor to car: the smallest rotation that takes `still` (mean reading at rest, m/s^2) to +z, then the turn about z that takes the first
/// horizontal push of `pushed` (readings while the car is pushed forward from rest) to +x. Errors: `still` is not gravity (2 m/s^2 off), no
/// push above 0.8 m/s^2.
Result<Matrix3> mount_rotation(const Vector3& still, std::span<const Vector3> pushed);

/// The rotation R for which the sum of |a - R b|^2 is least, over pairs with |a| above 0.3 rad/s. Errors: fewer than 10 such pairs, turns
/// about one axis only (the rotation about it is not known then).
Result<Matrix3> rotation_between(std::span<const Vector3> a, std::span<const Vector3> b);

/// How much later b says what a says: the shift of at most 0.15 s at which their amounts (|turn rate|, say) correlate most. Stamps
/// increase. Errors: less than 2 s in common; amounts that hardly change; the best shift is at the end of the range.
Result<double> time_offset_s(std::span<const double> a_t_s, std::span<const double> a, std::span<const double> b_t_s,
                             std::span<const double> b);

}  // namespace pitwall::localization
