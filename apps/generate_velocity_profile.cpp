// SPDX-License-Identifier: Apache-2.0
// Speeds along a line: curvature, drive, brake and friction limits.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/line_options.hpp"
#include "apps/program.hpp"
#include "core/files.hpp"
#include "core/log.hpp"
#include "tracks/build/raceline_plot.hpp"
#include "tracks/line_csv.hpp"

namespace {

using namespace pitwall;

struct Options {
  std::string input;
  std::string output;
  std::string plot;
  bool open = false;
  bool given_curvature = false;
  bool json = false;
  apps::SpeedOptions speed;
};

int run(const Options& options) {
  const auto limits = apps::take(options.speed);
  if (!limits) return apps::bad_input(limits.error());
  const auto line = apps::load_checked_line(options.input, !options.open);
  if (!line) return apps::bad_input(line.error());
  if (options.given_curvature && line->curvature_per_m.empty())
    return apps::bad_input(Error{options.input + ": --given-curvature: the file has no column kappa_radpm"});
  const std::vector<double> speed = options.given_curvature ? tracks::speed_profile(line->path, line->curvature_per_m, *limits)
                                                            : tracks::speed_profile(line->path, *limits);
  const double time_s = tracks::lap_time_s(line->path, speed);
  Status written = write_file(options.output, tracks::profile_csv(line->path, speed));
  if (written && !options.plot.empty())
    written = write_file(options.plot, tracks::build::raceline_svg("profile of " + options.input, line->path, speed, {}, nullptr));
  if (!written) return apps::bad_input(written.error());
  const auto [slowest, fastest] = std::minmax_element(speed.begin(), speed.end());
  if (options.json) {
    const nlohmann::json report = {{"points", speed.size()},    {"length_m", line->path.length_m()}, {"lap_time_s", time_s},
                                   {"min_speed_mps", *slowest}, {"max_speed_mps", *fastest},         {"closed", !options.open},
                                   {"output", options.output}};
    std::printf("%s\n", report.dump().c_str());
  } else {
    std::printf("%s: %zu points, %.2f m, %.2f to %.2f m/s, %s %.3f s\n", options.output.c_str(), speed.size(), line->path.length_m(),
                *slowest, *fastest, options.open ? "time" : "lap", time_s);
  }
  if (!options.plot.empty()) log::info("wrote plot " + options.plot);
  return apps::kPassed;
}

}  // namespace

int main(int argc, char** argv) {
  return apps::guarded([&] {
    CLI::App app{"Speeds along a line within curvature, drive, brake and friction limits.", "generate_velocity_profile"};
    app.footer(
        "Example:\n  generate_velocity_profile --input lap.csv --output profile.csv --v-max 6 --a-lat-max 5 --plot profile.svg\n"
        "Exit codes: 0 written, 2 bad usage or a line that cannot be followed, 3 internal error.");
    Options options;
    app.add_option("--input", options.input, "line: x,y or any file with lines that the simulator reads")->required();
    app.add_option("--output", options.output, "x,y,speed")->required();
    app.add_flag("--open-path", options.open, "the line does not close; it ends at 0 m/s");
    app.add_flag("--given-curvature", options.given_curvature, "use the file's column kappa_radpm rather than the points'");
    apps::add_speed_options(app, options.speed);
    app.add_option("--plot", options.plot, "draw line and speeds as SVG here");
    app.add_flag("--json", options.json, "print what was made as JSON");
    if (const auto code = apps::parse(app, argc, argv)) return *code;
    return run(options);
  });
}
