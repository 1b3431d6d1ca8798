// SPDX-License-Identifier: Apache-2.0
// Parameters, playback, stretches, grid and profile entries.
#include "calibration/fit/problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "calibration/car_profile.hpp"
#include "calibration/fit/fragment.hpp"
#include "calibration/fit/grid.hpp"
#include "calibration/fit/test_drives.hpp"
#include "core/text.hpp"
#include "tests/support/source_dir.hpp"

namespace pitwall::fit {
namespace {

CarParameters rb2() { return calibration::load_car("rb2", source_dir() / "calibration/cars").value().parameters; }

std::vector<double> priors(const std::vector<Parameter>& parameters) {
  std::vector<double> values;
  for (const Parameter& p : parameters) values.push_back(p.prior);
  return values;
}

RecordOptions quiet(double seconds) {
  RecordOptions options;
  options.seconds = seconds;
  options.noise_mps = options.noise_radps = 1e-9;
  return options;
}

double largest_residual(const Problem& problem, const Subject& subject, Quantity quantity) {
  Played scratch;
  double largest = 0.0;
  std::vector<double> rows;
  for (const Piece& piece : problem.pieces) {
    rows.resize(piece.rows.size());
    REQUIRE(residuals_of(problem, piece, subject, scratch, rows.data()).ok());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (problem.channels[piece.rows[i].channel].quantity == quantity) largest = std::max(largest, std::abs(rows[i]));
    }
  }
  return largest;
}

}  // namespace

TEST_CASE("the priors give the car itself, and stiffness and understeer gradient come back as they were set") {
  const CarParameters car = rb2();
  std::vector<Parameter> parameters = parameters_of(car);
  std::vector<double> values = priors(parameters);
  const Subject same = subject_of(car, parameters, values);
  CHECK(same.car.cornering_stiffness_front == doctest::Approx(car.cornering_stiffness_front).epsilon(1e-12));
  CHECK(same.car.speed_loop_integral_gain_per_s2 == 0.0);
  for (const Parameter& p : parameters) CHECK(check(p).ok());
  values[*find_parameter(parameters, "surface_friction")] = 0.4;
  values[*find_parameter(parameters, "cornering_stiffness")] = 3.0;
  values[*find_parameter(parameters, "understeer_gradient")] = 0.01;
  const Subject other = subject_of(car, parameters, values);
  CHECK(value_in(other, "cornering_stiffness") == doctest::Approx(3.0));
  CHECK(value_in(other, "understeer_gradient") == doctest::Approx(0.01));
  // K of the steering that a steady turn needs: (1 / (mu C_f) - 1 / (mu C_r)) / g.
  const double k = (1.0 / (0.4 * other.car.cornering_stiffness_front) - 1.0 / (0.4 * other.car.cornering_stiffness_rear)) / 9.81;
  CHECK(k == doctest::Approx(0.01).epsilon(1e-3));
}

TEST_CASE("an unknown parameter is named with the nearest, and bounds must be the right way about") {
  std::vector<Parameter> parameters = parameters_of(rb2());
  CHECK(find_parameter(parameters, "steering_dely_s").error().message.find("steering_delay_s") != std::string::npos);
  parameters[0].low = 0.4;
  parameters[0].high = 0.1;
  CHECK(check(parameters[0]).error().message.find("wrong way about") != std::string::npos);
}

TEST_CASE("played with its own parameters a drive leaves no residual but that of the seed, which the warm-up forgets") {
  Subject truth;
  truth.car = rb2();
  truth.mount_yaw_rad = 0.03;
  RecordOptions options = quiet(20.0);
  options.poses = true;
  Drive drive = record(truth, lively, options);
  const Problem problem = make_problem(truth.car, {drive}, {}).value();
  CHECK(largest_residual(problem, truth, Quantity::kYawRate) < 0.02);
  CHECK(largest_residual(problem, truth, Quantity::kSpeed) < 0.04);
  Subject turned = truth;
  turned.mount_yaw_rad = 0.0;
  CHECK(largest_residual(problem, turned, Quantity::kLateral) > 0.08);
  Subject late = truth;
  late.car.steering_delay_s += 0.03;
  CHECK(largest_residual(problem, late, Quantity::kYawRate) > 0.2);
  // Poses have 5 mm and 5 mrad of noise.
  CHECK(largest_residual(problem, truth, Quantity::kAhead) < 0.04);
  CHECK(largest_residual(problem, truth, Quantity::kTurn) < 0.04);
}

TEST_CASE("a commanded acceleration acts after its delay, times the gain, less the resistances") {
  Subject subject;
  subject.car = rb2();
  subject.car.rolling_resistance = 0.0;
  subject.car.drag_area_m2 = 0.0;
  subject.car.speed_delay_s = 0.1;
  subject.acceleration_gain = 0.8;
  Drive drive;
  for (int k = 0; k < 100; ++k) {
    drive.commands.t_s.push_back(0.04 * k);
    drive.commands.steering_rad.push_back(0.0);
    drive.commands.speed_mps.push_back(NAN);
    drive.commands.acceleration_mps2.push_back(k < 50 ? 0.0 : 1.5);
  }
  Played played;
  Stretch stretch{0, 0.0, 1.0, 3.5, 1.0, true, 1.0, NAN};
  REQUIRE(play(drive, stretch, subject, {}, played).ok());
  CHECK(played.at(2.05).speed_mps == doctest::Approx(1.0).epsilon(1e-3));
  CHECK(played.at(3.1).speed_mps == doctest::Approx(1.0 + 0.8 * 1.5 * 1.0).epsilon(2e-3));
}

TEST_CASE("a run without commands, without motion, or with too little of it is refused with the reason") {
  Subject truth;
  truth.car = rb2();
  const auto refused = [&](const Drive& drive) { return make_problem(truth.car, {drive}, {}).error().message; };
  Drive drive = record(truth, lively, quiet(20.0));
  Drive silent = drive;
  silent.commands = {};
  CHECK(refused(silent).find("no commands") != std::string::npos);
  Drive blind = drive;
  blind.series.clear();
  CHECK(refused(blind).find("nothing measured") != std::string::npos);
  CHECK(refused(record(
                    truth,
                    [](double) {
                      return Asked{0.1, 0.0};
                    },
                    quiet(30.0)))
            .find("0 s of motion") != std::string::npos);
  CHECK(refused(record(truth, lively, quiet(8.0))).find("needed: 10 s") != std::string::npos);
}

TEST_CASE("every third stretch is held out, and no pose increment goes across a break of the track") {
  Subject truth;
  truth.car = rb2();
  RecordOptions options = quiet(40.0);
  options.poses = true;
  Drive drive = record(truth, lively, options);
  drive.track->x_m[800] = NAN;
  for (std::size_t k = 801; k < drive.track->x_m.size(); ++k) drive.track->x_m[k] += 5.0;
  const Problem problem = make_problem(truth.car, {drive}, {}).value();
  REQUIRE(problem.pieces.size() > 8);
  for (std::size_t k = 0; k < problem.pieces.size(); ++k) CHECK(problem.pieces[k].held_out == (k % 3 == 2));
  CHECK(largest_residual(problem, truth, Quantity::kAhead) < 0.1);
}

TEST_CASE("a grid puts the true combination first, counts in ticks, and says when the best is at an edge") {
  Subject truth;
  truth.car = rb2();
  truth.car.speed_delay_s = 0.05;
  truth.car.steering_delay_s = 0.075;
  truth.car.speed_loop_brake_gain_per_s = 4.0;
  const Problem problem = make_problem(rb2(), {record(truth, lively, quiet(20.0))}, {}).value();
  const std::vector<Parameter> parameters = parameters_of(rb2());
  std::vector<GridAxis> axes;
  for (const char* text : {"speed_delay_ticks=1,2,4", "speed_loop_brake_gain_per_s=2,4,8", "steering_delay_ticks=1,3,5"}) {
    axes.push_back(parse_axis(text, parameters, 0.025).value());
  }
  const Grid grid = search_grid(problem, parameters, axes, 2, {}).value();
  REQUIRE(grid.points.size() == 27);
  CHECK(grid.points[0].values == std::vector<double>{2.0, 4.0, 3.0});
  CHECK_FALSE(grid.points[0].at_edge);
  CHECK(grid.points[0].score < 0.3);
  CHECK(std::is_sorted(grid.points.begin(), grid.points.end(), [](const GridPoint& a, const GridPoint& b) { return a.score < b.score; }));
  const Grid alone = search_grid(problem, parameters, axes, 1, {}).value();
  CHECK(alone.points[7].score == grid.points[7].score);
  GridAxis wide = axes[0];
  wide.values.assign(1001, 1.0);
  GridAxis other = axes[2];
  other.values.assign(1000, 1.0);
  CHECK(search_grid(problem, parameters, {wide, other}, 1, {}).error().message.find("combinations") != std::string::npos);
  CHECK(search_grid(problem, parameters, {axes[0], axes[0]}, 1, {}).error().message.find("given twice") != std::string::npos);
  CHECK(parse_axis("speed_dely_ticks=1", parameters, 0.025).error().message.find("did you mean") != std::string::npos);
  CHECK(parse_axis("speed_delay_ticks=1,x", parameters, 0.025).error().message.find("no number") != std::string::npos);
  CHECK(parse_axis("speed_delay_ticks=99", parameters, 0.025).error().message.find("allowed: 0 .. 20") != std::string::npos);
}

TEST_CASE("a profile takes the values of a fit, but not over what somebody set by hand") {
  FitResult result;
  for (Parameter& p : std::vector<Parameter>(parameters_of(rb2()))) {
    Fitted f;
    f.parameter = p;
    f.value = p.prior;
    f.low = f.high = p.prior;
    if (p.name == "steering_delay_s") f.verdict = Verdict::kIdentified, f.value = 0.0712345;
    if (p.name == "speed_delay_s") f.verdict = Verdict::kUnidentified;
    if (p.name == "steering_servo_gain_per_s") f.verdict = Verdict::kAtBound, f.value = 100.0;
    if (p.name == "mount_yaw_rad") f.verdict = Verdict::kIdentified, f.value = 0.02;
    result.parameters.push_back(f);
  }
  result.after.car = rb2();
  const auto entries = fragment_of(result, {"run7", "2026-10-19", "lab"});
  REQUIRE(entries.size() == 2);
  CHECK(to_line(entries[0]).starts_with("steering_servo_gain_per_s: {value: 100, unit: 1/s, provenance: ESTIMATED"));
  CHECK(to_line(entries[1])
            .starts_with("steering_delay_s: {value: 0.071235, unit: s, provenance: MEASURED, source: \"fit_sim run7, 2026-10-19, lab: "
                         "0.071235, 95 %"));
  const std::string estimated = "steering_delay_s: {value: 0.1, unit: s, provenance: ESTIMATED, source: \"a guess\"}\n# end\n";
  const std::string once = with_entries(estimated, "c.yaml", entries, false).value();
  CHECK(once.find("0.071235") < once.find("# end"));
  CHECK(with_entries(once, "c.yaml", entries, false).ok());
  std::string edited = once;
  edited.replace(edited.find("value: 0.071235"), 15, "value: 0.08    ");
  CHECK(with_entries(edited, "c.yaml", entries, false).error().message.find("c.yaml:1: steering_delay_s was set by hand") !=
        std::string::npos);
  CHECK(with_entries(edited, "c.yaml", entries, true).ok());
  const std::string taped = "steering_delay_s: {value: 0.1, unit: s, provenance: MEASURED, source: \"oscilloscope\"}\n";
  CHECK_FALSE(with_entries(taped, "c.yaml", entries, false).ok());
}

}  // namespace pitwall::fit
