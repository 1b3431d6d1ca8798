// SPDX-License-Identifier: Apache-2.0
// import_run: a log that others keep of their cars, as a run folder that analyze_run and its sisters read.
#include "recording/import_run.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <optional>
#include <string>

#include "apps/program.hpp"
#include "calibration/car_profile.hpp"
#include "core/log.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Example:\n"
    "  import_run frictionmaps/DS1 -o runs/ds1\n"
    "  import_run 2026-01-16_IPZ20.csv -o runs/ipz20 --car f1tenth\n"
    "  import_run intel-corrected.log.gz -o runs/intel\n"
    "  imu_report runs/ds1\n"
    "\n"
    "Reads folders of tables (commandData.csv, imuData.csv, odomData.csv, ...) and single tables with time, pose and velocity,\n"
    "corrected logs of CARMEN and logs of BreezySLAM (plain or gzip), pose graphs (g2o).\n"
    "What a column is not what its name says, what was converted and what was left out is printed and kept as import.json.\n"
    "Exit code: 0 done; 2 bad usage or input; 3 internal error.";

int run(int argc, char** argv) {
  CLI::App app("A log of another car as a run folder", "import_run");
  app.footer(kFooter);
  recording::ImportOptions options;
  std::string units = "detect";
  bool json = false;
  app.add_option("log", options.log, "A folder of tables, or a file")->required();
  app.add_option("-o,--output", options.output, "The run folder to make")->required();
  app.add_option("--car", options.car_id, "Profile of the car, where it is known");
  app.add_option("--imu-units", units, "detect, si (m/s^2, rad/s) or g-deg (g, deg/s)")->capture_default_str();
  app.add_flag("--json", json, "Print the result as JSON");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  constexpr std::array<std::string_view, 3> kUnits{"detect", "si", "g-deg"};
  const Result<int> choice = apps::choose("--imu-units", units, kUnits);
  if (!choice) return apps::bad_input(choice.error());
  options.units = static_cast<recording::UnitChoice>(*choice);
  if (!options.car_id.empty()) {
    if (const auto known = calibration::load_car(options.car_id, calibration::cars_folder()); !known) return apps::bad_input(known.error());
  }
  const auto report = recording::import_run(options);
  if (!report) return apps::bad_input(report.error());
  const std::string text = json ? recording::to_json(*report) : recording::to_text(*report);
  std::fwrite(text.data(), 1, text.size(), stdout);
  log::info("wrote " + report->folder.string());
  return apps::kPassed;
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}
