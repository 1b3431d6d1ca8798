// SPDX-License-Identifier: Apache-2.0
#include "scenarios/law_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "controllers/make.hpp"
#include "core/controller.hpp"
#include "core/text.hpp"

namespace pitwall::scenarios {
namespace {

constexpr double kFarthest_m = 0.5;
constexpr double kAllowance = 1.05;

std::string run_name(const LawRow& row) { return row.track + " (" + row.raceline + "), seed " + std::to_string(row.seed); }

bool same_run(const LawRow& a, const LawRow& b) { return a.track == b.track && a.raceline == b.raceline && a.seed == b.seed; }

Status check_matched(const std::vector<LawRow>& rows, const std::vector<LawRow>& others, const char* whose) {
  for (const LawRow& row : rows) {
    const auto matches = [&](const LawRow& other) { return same_run(row, other); };
    if (std::count_if(rows.begin(), rows.end(), matches) != 1)
      return Error{"unmatched: " + run_name(row) + " is there twice in the " + whose};
    if (std::count_if(others.begin(), others.end(), matches) == 0)
      return Error{"unmatched: only the " + std::string(whose) + " has " + run_name(row)};
  }
  return {};
}

Status check_finite(const std::vector<LawRow>& rows) {
  for (const LawRow& row : rows) {
    for (const double x : {row.mean_cross_track_m, row.p95_cross_track_m, row.max_cross_track_m, row.lap_time_s.value_or(0.0)}) {
      if (!std::isfinite(x)) return Error{"non-finite: a figure of " + run_name(row)};
    }
  }
  return {};
}

/// What breaks the first condition.
std::vector<std::string> unsound_runs(const std::vector<LawRow>& rows) {
  std::vector<std::string> found;
  for (const LawRow& row : rows) {
    const auto blame = [&](const std::string& what) { found.push_back("1: " + run_name(row) + ": " + what); };
    if (row.laps < 1 || !row.lap_time_s) blame("no lap");
    if (row.collision) blame("contact");
    if (!(row.max_cross_track_m < kFarthest_m))
      blame("up to " + format_number(row.max_cross_track_m, 3) + " m from the line, allowed below 0.5 m");
    if (row.law_fail_steps > 0) blame("the law failed on " + std::to_string(row.law_fail_steps) + " ticks");
  }
  return found;
}

struct Means {
  double cross_track_m = 0.0;
  double lap_s = 0.0;
};

Means means_of(const std::vector<LawRow>& rows) {
  Means sum;
  for (const LawRow& row : rows) {
    sum.cross_track_m += row.mean_cross_track_m;
    sum.lap_s += row.lap_time_s.value_or(0.0);
  }
  const auto n = static_cast<double>(rows.size());
  return {sum.cross_track_m / n, sum.lap_s / n};
}

}  // namespace

LawRow law_row(const Outcome& o) {
  LawRow row{o.track,
             o.raceline,
             o.seed,
             o.laps,
             o.collision || o.off_map,
             o.mean_cross_track_m,
             o.p95_cross_track_m,
             o.max_cross_track_m,
             o.lap_time_s,
             0,
             std::nullopt};
  for (const auto& [reason, count] : o.reasons) {
    if (reason == name(Reason::kSteeringLawFailed)) row.law_fail_steps = count;
  }
  for (const auto& [counter, value] : o.counters) {
    if (counter == kHostP99_us) row.host_p99_us = value;
  }
  return row;
}

Result<Verdict> judge_law(const std::vector<LawRow>& baseline, const std::vector<LawRow>& candidate) {
  if (baseline.empty() || candidate.empty()) return Error{"unmatched: no runs"};
  if (const Status ok = check_matched(baseline, candidate, "baseline"); !ok) return ok.error();
  if (const Status ok = check_matched(candidate, baseline, "candidate"); !ok) return ok.error();
  for (const auto* rows : {&baseline, &candidate}) {
    if (const Status ok = check_finite(*rows); !ok) return ok.error();
  }
  if (std::vector<std::string> unsound = unsound_runs(baseline); !unsound.empty()) return Verdict{Promotion::kInvalid, std::move(unsound)};

  Verdict verdict{Promotion::kPromote, unsound_runs(candidate)};
  // Lap times of runs that finished no lap have no mean.
  if (verdict.reasons.empty()) {
    const Means base = means_of(baseline);
    const Means with = means_of(candidate);
    const std::string figures = "mean distance " + format_number(with.cross_track_m, 4) + " m against " +
                                format_number(base.cross_track_m, 4) + " m, mean lap " + format_number(with.lap_s, 5) + " s against " +
                                format_number(base.lap_s, 5) + " s";
    if (!(with.cross_track_m < base.cross_track_m) && !(with.lap_s < base.lap_s))
      verdict.reasons.push_back("2: neither is better: " + figures);
    if (with.cross_track_m > kAllowance * base.cross_track_m)
      verdict.reasons.push_back("3: more than 5 % farther from the line: " + figures);
    if (with.lap_s > kAllowance * base.lap_s) verdict.reasons.push_back("3: more than 5 % slower: " + figures);
  }
  if (!verdict.reasons.empty()) verdict.promotion = Promotion::kReject;
  return verdict;
}

Result<std::vector<LawRuns>> compare_laws(const ValidationOptions& options, const std::vector<std::string>& laws, int jobs,
                                          const std::atomic<bool>& stop,
                                          const std::function<void(const std::string& law, const Outcome&)>& on_finished) {
  const RunMany run_many = [&](const std::vector<ResolvedRun>& runs, const std::function<void(const Finished&)>& finished) {
    return run_all(runs, jobs, stop, finished);
  };
  return compare_laws(options, laws, stop, run_many, on_finished);
}

Result<std::vector<LawRuns>> compare_laws(const ValidationOptions& options, const std::vector<std::string>& laws,
                                          const std::atomic<bool>& stop, const RunMany& run_many,
                                          const std::function<void(const std::string& law, const Outcome&)>& on_finished) {
  std::vector<std::string> wanted{std::string(kBaselineLaw)};
  const std::vector<std::string> known = controllers::steering_laws();
  for (const std::string& law : laws) {
    if (std::find(known.begin(), known.end(), law) == known.end()) return Error{"--compare: " + unknown_name("steering law", law, known)};
    if (std::find(wanted.begin() + 1, wanted.end(), law) != wanted.end()) return Error{"--compare: '" + law + "' is named twice"};
    wanted.push_back(law);
  }
  if (options.scenario != "all" && options.scenario != "pure")
    return Error{"--compare: drives scenario 'pure', not '" + options.scenario + "'; leave out --scenario"};
  if (options.fidelity == plant::Fidelity::kLegacy)
    return Error{"--compare: not with --fidelity legacy, whose tyres never slide; allowed: plant, car"};
  if (!options.steering_law.empty()) return Error{"--compare: names the laws, leave out --steering-law"};
  if (!options.law_parameters.empty() && laws.size() != 1) return Error{"--law-param: with --compare only for a single law"};

  std::vector<LawRuns> compared;
  for (std::size_t i = 0; i < wanted.size() && !stop.load(); ++i) {
    ValidationOptions with = options;
    with.scenario = "pure";
    with.steering_law = wanted[i];
    // The baseline is never tuned.
    if (i == 0) with.law_parameters.clear();
    const Result<std::vector<ResolvedRun>> runs = resolve(with);
    if (!runs) return runs.error();
    LawRuns of_law{wanted[i], {}, std::nullopt};
    const Status ran = run_many(*runs, [&](const Finished& finished) {
      of_law.outcomes.push_back(finished.outcome);
      on_finished(wanted[i], finished.outcome);
    });
    if (!ran) return ran.error();
    compared.push_back(std::move(of_law));
  }
  if (stop.load()) return compared;
  const auto rows = [](const LawRuns& runs) {
    std::vector<LawRow> out;
    for (const Outcome& o : runs.outcomes) out.push_back(law_row(o));
    return out;
  };
  for (std::size_t i = 1; i < compared.size(); ++i) {
    Result<Verdict> verdict = judge_law(rows(compared.front()), rows(compared[i]));
    if (!verdict) return Error{compared[i].law + ": " + verdict.error().message};
    compared[i].verdict = *std::move(verdict);
  }
  return compared;
}

namespace {

/// The runs of one law on one track.
struct OnTrack {
  std::string track;
  int runs = 0;
  int finished = 0;
  double lap_s = 0.0;  // of the finished
  double mean_m = 0.0;
  double p95_m = 0.0;
  double max_m = 0.0;
  std::int64_t fails = 0;               // ticks
  std::optional<double> host_p99_us{};  // of the slowest run
};

std::vector<OnTrack> by_track(const LawRuns& law) {
  std::vector<OnTrack> all;
  for (const Outcome& o : law.outcomes) {
    const auto same = [&](const OnTrack& t) { return t.track == o.track; };
    if (std::none_of(all.begin(), all.end(), same)) all.push_back({o.track});
    OnTrack& t = *std::find_if(all.begin(), all.end(), same);
    t.runs += 1;
    if (o.passed && o.lap_time_s) {
      t.finished += 1;
      t.lap_s += *o.lap_time_s;
    }
    t.mean_m += o.mean_cross_track_m;
    t.p95_m += o.p95_cross_track_m;
    t.max_m = std::max(t.max_m, o.max_cross_track_m);
    const LawRow row = law_row(o);
    t.fails += row.law_fail_steps;
    if (row.host_p99_us) t.host_p99_us = std::max(t.host_p99_us.value_or(0.0), *row.host_p99_us);
  }
  for (OnTrack& t : all) {
    if (t.finished > 0) t.lap_s /= t.finished;
    t.mean_m /= t.runs;
    t.p95_m /= t.runs;
  }
  return all;
}

}  // namespace

std::string comparison_markdown(const std::vector<LawRuns>& laws) {
  std::string text =
      "| law | track | passed | lap, mean of passed (s) | distance mean (m) | p95 (m) | max (m) | law failed (ticks) | tick p99 (us, this "
      "host) "
      "|\n|---|---|---|---|---|---|---|---|---|\n";
  for (const LawRuns& law : laws) {
    for (const OnTrack& t : by_track(law)) {
      text += "| " + law.law + " | " + t.track + " | " + std::to_string(t.finished) + "/" + std::to_string(t.runs) + " | " +
              (t.finished > 0 ? format_fixed(t.lap_s, 2) : "-") + " | " + format_fixed(t.mean_m, 3) + " | " + format_fixed(t.p95_m, 3) +
              " | " + format_fixed(t.max_m, 3) + " | " + std::to_string(t.fails) + " | " +
              (t.host_p99_us ? format_fixed(*t.host_p99_us, 0) : "-") + " |\n";
    }
  }
  for (const LawRuns& law : laws) {
    if (!law.verdict) continue;
    text += "\n" + std::string(kPromotionNames[static_cast<std::size_t>(law.verdict->promotion)]) + " " + law.law;
    for (const std::string& reason : law.verdict->reasons) text += "\n  " + reason;
  }
  return text;
}

std::string comparison_json(const std::vector<LawRuns>& laws) {
  using Json = nlohmann::json;
  Json json = {{"baseline", kBaselineLaw}, {"laws", Json::array()}};
  for (const LawRuns& law : laws) {
    Json entry = {{"law", law.law}, {"rows", Json::array()}, {"verdict", nullptr}};
    for (const Outcome& o : law.outcomes) {
      const LawRow row = law_row(o);
      entry["rows"].push_back({{"track", row.track},
                               {"raceline", row.raceline},
                               {"seed", row.seed},
                               {"passed", o.passed},
                               {"laps", row.laps},
                               {"collision", row.collision},
                               {"mean_cross_track_m", row.mean_cross_track_m},
                               {"p95_cross_track_m", row.p95_cross_track_m},
                               {"max_cross_track_m", row.max_cross_track_m},
                               {"lap_time_s", row.lap_time_s ? Json(*row.lap_time_s) : Json(nullptr)},
                               {"law_fail_steps", row.law_fail_steps},
                               {"host_cpu_p99_us", row.host_p99_us ? Json(*row.host_p99_us) : Json(nullptr)},
                               {"trace_hash", o.trace_hash}});
    }
    if (law.verdict) {
      entry["verdict"] = {{"promotion", kPromotionNames[static_cast<std::size_t>(law.verdict->promotion)]},
                          {"reasons", law.verdict->reasons}};
    }
    json["laws"].push_back(std::move(entry));
  }
  return json.dump();
}

}  // namespace pitwall::scenarios
