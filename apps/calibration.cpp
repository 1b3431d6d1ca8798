// SPDX-License-Identifier: Apache-2.0
// calibration: prints a car's values with their provenance, least trusted first.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/car_choice.hpp"
#include "apps/program.hpp"
#include "calibration/table.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

namespace {

using namespace pitwall;

struct Arguments {
  std::optional<std::string> car;
  std::optional<std::string> serial;
  bool this_board = false;
  bool json = false;
};

Result<calibration::CarProfile> find_car(const Arguments& arguments) {
  if (arguments.this_board) return apps::load_car_of_this_board();
  if (arguments.serial) return calibration::find_by_serial(*arguments.serial, calibration::cars_folder());
  return apps::load_chosen_car(arguments.car);
}

nlohmann::json json_of(const std::string& text) {
  const auto number = parse_double(text);
  return number ? nlohmann::json(*number) : nlohmann::json(text);
}

std::string to_json(const calibration::CarProfile& car) {
  nlohmann::json values = nlohmann::json::array();
  for (const calibration::Entry& entry : calibration::least_trusted_first(car)) {
    nlohmann::json value = json_of(entry.value.scalar);
    if (entry.value.is_list()) {
      value = nlohmann::json::array();
      for (const Node& item : entry.value.items) value.push_back(item.scalar);
    }
    values.push_back({{"name", entry.name},
                      {"value", value},
                      {"unit", entry.unit},
                      {"provenance", calibration::to_string(entry.provenance)},
                      {"source", entry.source}});
  }
  const nlohmann::json document = {
      {"car", car.id}, {"file", car.file.string()}, {"stock", car.stock_count()}, {"total", car.entries.size()}, {"values", values}};
  return document.dump(2) + "\n";
}

int run(const Arguments& arguments) {
  const Result<calibration::CarProfile> profile = find_car(arguments);
  if (!profile) return apps::bad_input(profile.error());
  const std::string text = arguments.json ? to_json(*profile) : calibration::to_table(*profile);
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written) log::error("cannot write to standard output");
  return written ? apps::kPassed : apps::kInternalError;
}

}  // namespace

int main(int argc, char** argv) {
  return apps::guarded([&] {
    CLI::App app{"Prints the values of a car with unit, provenance and source, least trusted first.", "calibration"};
    app.footer("Example: calibration --car rb2\nExit codes: 0 done, 2 bad usage or unknown car, 3 internal error.");
    Arguments arguments;
    CLI::Option* car = app.add_option("--car", arguments.car, "name of a car, or path of its .yaml (default: $PITWALL_CAR, else f1tenth)");
    CLI::Option* serial = app.add_option("--serial", arguments.serial, "the car that carries the board of this serial number");
    CLI::Option* board = app.add_flag("--this-board", arguments.this_board, "the car that carries the board this runs on");
    car->excludes(serial)->excludes(board);
    serial->excludes(board);
    app.add_flag("--json", arguments.json, "one JSON object instead of the table");
    if (const auto code = apps::parse(app, argc, argv)) return *code;
    return run(arguments);
  });
}
