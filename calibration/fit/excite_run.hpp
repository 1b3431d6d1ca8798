// SPDX-License-Identifier: Apache-2.0
// The scenario `excite` in simulation, as a fit sees it: by a car of known parameters, while the controller knows no more than the
// profile. It serves to say beforehand what such a drive will tell, and to prove that a fit tells the truth.
//
// Speeds come from scan matching: of the simulated scans, or, a hundred times faster, from the true poses at the middle of the sweeps
// with the noise that scan matching has in a hall (tested one against the other). A pair of scans 50 ms apart gives a mean velocity;
// neighbouring pairs share scans, so their errors go together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calibration/fit/drive.hpp"
#include "core/car.hpp"
#include "core/controller.hpp"
#include "core/result.hpp"
#include "scenarios/outcome.hpp"

namespace pitwall::fit {

/// Error of a pose from scan matching, standard deviations: in a hall of 11 m by 7 m with a scanner of 1 cm noise.
inline constexpr double kScanPose_m = 0.0007;
inline constexpr double kScanPose_rad = 0.0003;

struct ExciteRunOptions {
  std::filesystem::path data;            ///< holds tracks, cars and suites
  std::string car = "f1tenth";           ///< profile that the controller knows
  std::vector<std::string> assignments;  ///< "excite.max_speed_mps=3": keys of the scenario
  std::optional<CarParameters> truth;    ///< the car that drives; nothing: the profile's
  std::int64_t seed = 12345;
  bool match_scans = false;  ///< simulate and match the scans
};

struct ExciteRun {
  Drive drive;
  CarParameters profile;
  scenarios::Outcome outcome;
  std::vector<double> t_s, speed_mps, yaw_rate_radps;  ///< the truth, each physics step
};

/// Errors: bad options, an area too small.
Result<ExciteRun> simulate_excite(const ExciteRunOptions& options);

}  // namespace pitwall::fit
