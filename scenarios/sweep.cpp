// SPDX-License-Identifier: Apache-2.0
#include "scenarios/sweep.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/files.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"
#include "scenarios/report.hpp"

namespace pitwall::scenarios {
namespace {

using Json = nlohmann::json;

double number(const Json& json, const char* key) {
  const Json& value = json.at(key);
  return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
}

std::vector<CarOutcome> cars_of(const Json& json) {
  std::vector<CarOutcome> cars;
  for (const Json& car : json.at("cars")) {
    cars.push_back({car.at("name"), car.at("laps"), car.at("progress_m"), car.at("wall_contacts"), car.at("car_contacts"),
                    car.at("lead_changes"), car.at("longest_stall_s")});
  }
  return cars;
}

Outcome outcome_of(const Json& json) {
  Outcome o;
  o.scenario = json.at("scenario");
  o.track = json.at("track");
  o.raceline = json.at("raceline");
  o.car = json.at("car");
  o.fidelity_profile = json.at("fidelity_profile");
  o.seed = json.at("seed");
  o.passed = json.at("passed");
  if (const Json& failure = json.at("failure"); !failure.is_null()) {
    o.failure = Failure{failure.at("what"),
                        number(failure, "at_s"),
                        number(failure, "track_s_m"),
                        {failure.at("where_m").at(0).get<double>(), failure.at("where_m").at(1).get<double>()}};
  }
  o.trace_hash = json.at("trace_hash");
  o.steps = json.at("steps");
  o.sim_time_s = number(json, "sim_time_s");
  o.collision = json.at("collision");
  o.off_map = json.at("off_map");
  o.contact_steps = json.at("contact_steps");
  o.opponent_collision = json.at("opponent_collision");
  o.laps = json.at("laps");
  if (const Json& lap = json.at("lap_time_s"); !lap.is_null()) o.lap_time_s = lap.get<double>();
  o.accumulated_progress_m = number(json, "accumulated_progress_m");
  o.track_length_m = number(json, "track_length_m");
  o.completed_passes = json.at("completed_passes");
  o.max_cross_track_m = number(json, "max_cross_track_m");
  o.mean_cross_track_m = number(json, "mean_cross_track_m");
  o.p95_cross_track_m = number(json, "p95_cross_track_m");
  o.line_length_m = number(json, "line_length_m");
  o.estimated_lap_time_s = number(json, "estimated_lap_time_s");
  o.min_clearance_m = number(json, "min_clearance_m");
  o.stop_steps = json.at("stop_steps");
  for (const auto& [reason, count] : json.at("reasons").items()) o.reasons.emplace_back(reason, count.get<std::int64_t>());
  for (const auto& [counter, value] : json.at("controller").items()) {
    if (value.is_number()) o.counters.emplace_back(counter, value.get<double>());
  }
  o.cars = cars_of(json);
  return o;
}

}  // namespace

Result<Outcome> outcome_of_json(const std::string& line) {
  try {
    return outcome_of(Json::parse(line));
  } catch (const Json::exception& error) {
    return Error{std::string("no outcome of a run: ") + error.what()};
  }
}

std::string run_key(const ResolvedRun& run) {
  Hash hash;
  hash.add(std::string_view(to_suite_yaml(run.scenario, run.scenario.id)));
  hash.add(std::string_view(PITWALL_VERSION));
  return to_hex(hash.value());
}

Result<Journal> Journal::open(const std::filesystem::path& file) {
  Journal journal;
  journal.file_ = file;
  if (file.empty() || !std::filesystem::exists(file)) return journal;
  const Result<std::string> text = read_file(file);
  if (!text) return text.error();
  int number = 0;
  const std::vector<std::string_view> lines = split(*text, '\n');
  for (const std::string_view line : lines) {
    ++number;
    if (line.empty()) continue;
    const std::size_t blank = line.find(' ');
    const bool last = number == static_cast<int>(lines.size());
    Result<Outcome> outcome = outcome_of_json(std::string(line.substr(blank == std::string_view::npos ? line.size() : blank + 1)));
    if (!outcome && last) break;
    if (!outcome)
      return Error{file.string() + ":" + std::to_string(number) + ": " + outcome.error().message + "; is it a journal of --resume?"};
    journal.known_.insert_or_assign(std::string(line.substr(0, blank)), *std::move(outcome));
  }
  // What was cut off goes, so that the next line begins on its own.
  if (!text->empty() && text->back() != '\n') {
    const Status mended = write_file(file, std::string_view(*text).substr(0, text->rfind('\n') + 1));
    if (!mended) return mended.error();
  }
  return journal;
}

const Outcome* Journal::find(const std::string& key) const {
  const auto found = known_.find(key);
  return found == known_.end() ? nullptr : &found->second;
}

Status Journal::add(const std::string& key, const Outcome& outcome) {
  known_.insert_or_assign(key, outcome);
  if (file_.empty()) return {};
  std::error_code ignored;
  if (file_.has_parent_path()) std::filesystem::create_directories(file_.parent_path(), ignored);
  std::ofstream out(file_, std::ios::app | std::ios::binary);
  out << key << ' ' << json_line(outcome) << '\n';
  out.flush();
  if (!out) return Error{file_.string() + ": cannot be written"};
  return {};
}

Status run_all_kept(const std::vector<ResolvedRun>& runs, int jobs, const std::atomic<bool>& stop, Journal& journal,
                    const std::function<void(const Finished&)>& on_finished, const RunOne& run_one) {
  std::vector<ResolvedRun> missing;
  std::vector<std::string> keys;
  for (const ResolvedRun& run : runs) {
    keys.push_back(run_key(run));
    if (journal.find(keys.back()) == nullptr) missing.push_back(run);
  }
  // The list's order: what was kept is handed over as soon as everything before it is there.
  std::size_t next = 0;
  const auto hand_over = [&] {
    for (; next < runs.size() && journal.find(keys[next]) != nullptr; ++next) on_finished({next, *journal.find(keys[next])});
  };
  Status kept;
  hand_over();
  const Status ran = run_all(
      missing, jobs, stop,
      [&](const Finished& finished) {
        const Status added = journal.add(run_key(missing[finished.index]), finished.outcome);
        if (kept.ok() && !added.ok()) kept = added;
        hand_over();
      },
      run_one);
  if (!ran) return ran;
  return kept;
}

}  // namespace pitwall::scenarios
