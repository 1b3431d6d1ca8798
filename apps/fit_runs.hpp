// SPDX-License-Identifier: Apache-2.0
// The runs of fit_sim's command line as drives: run folders, bags, and logs of others, which are imported on the way.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "calibration/fit/run_input.hpp"
#include "core/car.hpp"
#include "core/result.hpp"

namespace pitwall::apps {

struct FitRunOptions {
  std::string recorded_car;         ///< of several in a run folder
  std::vector<std::string> topics;  ///< "role=name"
  CarParameters car;                ///< where its LiDAR sits, if the run does not say
  unsigned jobs = 0;
  std::function<bool()> go_on;
};

/// One run. Errors: nothing there, not a run, no commands, nothing measured, "interrupted".
Result<fit::RunInput> read_drive(const std::filesystem::path& path, const FitRunOptions& options);

}  // namespace pitwall::apps
