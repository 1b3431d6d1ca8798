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
#include <optional>
#include <string>
#include <vector>

#include "calibration/fit/drive.hpp"
#include "calibration/fit/parameters.hpp"
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

/// What such a drive will tell, said before anyone drives it.
struct ExciteForecast {
  ExciteRun run;                      ///< by the car of the profile
  std::vector<Parameter> parameters;  ///< those that free_usual() frees are free
  std::vector<double> half_width;     ///< of the 95 % intervals; relative where the parameter is logarithmic
  [[nodiscard]] bool identifiable(std::size_t i) const { return parameters[i].free && half_width[i] <= parameters[i].allowed; }
};
/// Errors as simulate_excite().
Result<ExciteForecast> forecast_excite(const ExciteRunOptions& options, unsigned jobs);

}  // namespace pitwall::fit
