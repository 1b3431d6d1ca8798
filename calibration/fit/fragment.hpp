// SPDX-License-Identifier: Apache-2.0
// What a fit found, as entries of a car profile with their source; and a profile with them written in.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "calibration/car_profile.hpp"
#include "calibration/fit/fit.hpp"

namespace pitwall::fit {

struct FragmentSource {
  std::string runs;     ///< "ds1, ds3"
  std::string date;     ///< of the runs; empty: not known
  std::string surface;  ///< name of the floor; empty: not given
};

/// Entries for what was identified (MEASURED), and for what stands at a bound that is not its prior (ESTIMATED, with the reason), in the
/// order of the profile's fields. The stiffness and the understeer gradient become the two axles' stiffnesses.
std::vector<calibration::Entry> fragment_of(const FitResult& result, const FragmentSource& source);

/// One line of a profile.
std::string to_line(const calibration::Entry& entry);

/// The text of a profile with the entries in the place of those of the same name; others are added at the end. An entry that somebody
/// set by hand (MEASURED, SPEC or DERIVED by another source than fit_sim, or one of fit_sim whose value is no longer the one its source
/// tells) is an error naming file, line and key unless `force`.
Result<std::string> with_entries(const std::string& profile, const std::string& file, const std::vector<calibration::Entry>& entries,
                                 bool force);

}  // namespace pitwall::fit
