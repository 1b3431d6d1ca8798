// SPDX-License-Identifier: Apache-2.0
#include "sim/lidar_settings.hpp"

namespace pitwall::sim {

void BlindSector::fields(FieldVisitor& f) {
  f.number("centre_rad", centre_rad, {"rad", -math::kPi, math::kPi, "middle, to the left of ahead"});
  f.number("width_rad", width_rad, {"rad", 0.0, 2.0 * math::kPi, "full width; 0: none"});
}

void LidarSettings::fields(FieldVisitor& f) {
  f.flag("enabled", enabled, "whether there are scans");
  f.number("period_s", period_s, {"s", 1e-4, 10.0, "first beam to first beam of the next scan"});
  f.number("latency_s", latency_s, {"s", 0.0, 10.0, "first beam to arrival, never before the last beam"});
  f.integer("beams", beams, {"", 2, 100000, "beams of one scan"});
  f.number("fov_rad", fov_rad, {"rad", 0.01, 2.0 * math::kPi, "first to last beam"});
  f.number("range_min_m", range_min_m, {"m", 0.0, 10.0, "shortest range that can be measured"});
  f.number("range_max_m", range_max_m, {"m", 0.1, 1000.0, "longest range that can be measured"});
  f.flag("sweep", sweep, "beams leave one after the other; else all at the stamp");
  f.number("resolution_m", resolution_m, {"m", 0.0, 0.1, "step of a range; 0: none"});
  f.number("noise_std_m", noise_std_m, {"m", 0.0, 1.0, "range noise; 0: none"});
  f.number("dropout_rate", dropout_rate, {"", 0.0, 1.0, "beams that return nothing, at random; 0: none"});
  f.number("grazing_dropout", grazing_dropout, {"", 0.0, 1.0, "beams that return nothing at 90 degrees of incidence; 0: none"});
  f.number("grazing_from_rad", grazing_from_rad, {"rad", 0.1, 1.55, "incidence from which beams are lost"});
  f.number("mixed_pixel_rate", mixed_pixel_rate, {"", 0.0, 1.0, "edges at which a beam reads a range between the two; 0: none"});
  f.number("mount_error_m", mount_error_m, {"m", 0.0, 0.1, "of x and y of the mount, drawn once a run; 0: none"});
  f.number("mount_error_rad", mount_error_rad, {"rad", 0.0, 0.2, "of its yaw; 0: none"});
  f.nested("blind_1", blind[0]);
  f.nested("blind_2", blind[1]);
}

double LidarSettings::time_increment_s() const {
  return sweep ? period_s * fov_rad / (2.0 * math::kPi) / static_cast<double>(beams - 1) : 0.0;
}

Duration LidarSettings::sweep_time() const { return from_seconds(time_increment_s() * static_cast<double>(beams - 1)); }

}  // namespace pitwall::sim
