// SPDX-License-Identifier: Apache-2.0
// What the programs alike do that turn a recording into a report: the options about the recording, and printing and keeping the result.
#pragma once

#include <optional>
#include <string>

#include "analysis/imu_run.hpp"

namespace CLI {
class App;
}

namespace pitwall::apps {

struct ReportArguments {
  analysis::ImuRunOptions run;
  std::optional<std::string> car;
  bool json = false;
};

/// Adds RUN and the options --out, --refresh, --car, --run-car, --topic, --json.
void add_report_options(CLI::App& app, ReportArguments& arguments, bool run_required = true);
/// After parsing: the chosen car, the data folder, the progress bar.
void complete(ReportArguments& arguments);
/// Warns, prints, writes <name>.md, <name>.json and <name>.npz into the result's folder (nowhere where that is empty); the exit code.
int finish(const std::string& name, const ReportArguments& arguments, Result<analysis::ReportResult> result);

}  // namespace pitwall::apps
