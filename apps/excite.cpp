// SPDX-License-Identifier: Apache-2.0
// excite: what a drive of the manoeuvres of the controller `excite` will tell about a car, before anyone drives it.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/car_choice.hpp"
#include "apps/program.hpp"
#include "calibration/fit/excite_run.hpp"
#include "core/files.hpp"
#include "core/text.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Example: excite --car rb2 --area 12x7 --max-speed 3.5\n"
    "Then:    run_validation --scenario excite --car rb2 --set excite.area_length_m=12 --set excite.area_width_m=7 --record runs\n"
    "         fit_sim runs/excite.hall.12345 --car rb2\n"
    "docs/excite.md says how the area is laid out and what keeps the car in it.\n"
    "Exit code: 0 the car drives all of it in the simulator; 1 it does not; 2 bad usage or input; 3 internal error.";

struct Arguments {
  std::optional<std::string> car;
  std::string area;
  std::optional<double> max_speed;
  std::optional<double> duration;
  std::vector<std::string> set;
  std::int64_t seed = 12345;
  unsigned jobs = 0;
  bool json = false;
};

Result<fit::ExciteRunOptions> options_of(const Arguments& a) {
  fit::ExciteRunOptions options;
  options.data = data_folder();
  options.car = apps::chosen_car(a.car);
  options.seed = a.seed;
  options.assignments = a.set;
  if (!a.area.empty()) {
    const std::vector<std::string_view> sides = split(a.area, 'x');
    const auto length = sides.size() == 2 ? parse_double(sides[0]) : std::nullopt;
    const auto width = sides.size() == 2 ? parse_double(sides[1]) : std::nullopt;
    if (!length || !width) return Error{"--area " + a.area + ": takes LENGTHxWIDTH in m, as 12x7"};
    options.assignments.push_back("excite.area_length_m=" + format_exact(*length));
    options.assignments.push_back("excite.area_width_m=" + format_exact(*width));
  }
  if (a.max_speed) options.assignments.push_back("excite.max_speed_mps=" + format_exact(*a.max_speed));
  if (a.duration) options.assignments.push_back("excite.duration_s=" + format_exact(*a.duration));
  return options;
}

/// "2.3 %" or "1.2 ms": how well a parameter will be known.
std::string width_text(const fit::Parameter& p, double half_width) {
  if (p.logarithmic) return format_number(100.0 * half_width, 2) + " %";
  if (p.unit == "s") return format_number(1e3 * half_width, 2) + " ms";
  return format_number(half_width, 2) + " " + p.unit;
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

void print_table(const fit::ExciteForecast& forecast, double duration_s) {
  std::printf("A drive of %.0f s. 95 %% of fits will be within:\n", duration_s);
  std::printf("%s%s%s%s\n", padded("parameter", 34).c_str(), padded("profile", 16).c_str(), padded("half-width", 16).c_str(),
              "identifiable");
  for (std::size_t i = 0; i < forecast.parameters.size(); ++i) {
    const fit::Parameter& p = forecast.parameters[i];
    if (!p.free) continue;
    std::printf("%s%s%s%s\n", padded(p.name, 34).c_str(), padded(format_number(p.prior, 4) + " " + p.unit, 16).c_str(),
                padded(width_text(p, forecast.half_width[i]), 16).c_str(), forecast.identifiable(i) ? "yes" : "no");
  }
}

void print_json(const fit::ExciteForecast& forecast, const std::string& car, double duration_s) {
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t i = 0; i < forecast.parameters.size(); ++i) {
    const fit::Parameter& p = forecast.parameters[i];
    if (!p.free) continue;
    rows.push_back({{"name", p.name},
                    {"unit", p.unit},
                    {"value", p.prior},
                    {"half_width", forecast.half_width[i]},
                    {"relative", p.logarithmic},
                    {"allowed", p.allowed},
                    {"identifiable", forecast.identifiable(i)}});
  }
  const nlohmann::json document = {{"car", car}, {"duration_s", duration_s}, {"passed", forecast.run.outcome.passed}, {"parameters", rows}};
  std::printf("%s\n", document.dump(2).c_str());
}

int run(const Arguments& a) {
  const Result<fit::ExciteRunOptions> options = options_of(a);
  if (!options) return apps::bad_input(options.error());
  const Result<fit::ExciteForecast> forecast = fit::forecast_excite(*options, a.jobs);
  if (!forecast) return apps::bad_input(forecast.error());
  const double duration_s = forecast->run.t_s.back();
  if (a.json) {
    print_json(*forecast, options->car, duration_s);
  } else {
    print_table(*forecast, duration_s);
  }
  if (forecast->run.outcome.passed) return apps::kPassed;
  const auto& failure = forecast->run.outcome.failure;
  std::fprintf(stderr, "not driven to the end: %s\n", failure ? failure->what.c_str() : "interrupted");
  return apps::kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  return apps::guarded([&] {
    CLI::App app{"Says which parameters of a car a drive of `excite` will identify, and how well, before anyone drives it.", "excite"};
    app.footer(kFooter);
    Arguments a;
    app.add_option("--car", a.car, "name of a car, or path of its .yaml (default: $PITWALL_CAR, else f1tenth)");
    app.add_option("--area", a.area, "free area, LENGTHxWIDTH in m (default: 10x6)");
    app.add_option("--max-speed", a.max_speed, "highest speed that is commanded, m/s (default: 4)");
    app.add_option("--duration", a.duration, "how long it may take, s (default: 120)");
    app.add_option("--set", a.set, "further keys of the scenario: excite.KEY=VALUE (repeatable; run_validation --print-config)");
    app.add_option("--seed", a.seed, "of the sensors' noise");
    app.add_option("--jobs", a.jobs, "threads (default: all); the result does not depend on it");
    app.add_flag("--json", a.json, "one JSON object instead of the table");
    if (const auto code = apps::parse(app, argc, argv)) return *code;
    return run(a);
  });
}
