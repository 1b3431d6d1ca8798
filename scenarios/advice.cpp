// SPDX-License-Identifier: Apache-2.0
#include "scenarios/advice.hpp"

#include <algorithm>
#include <cmath>

#include "controllers/make.hpp"
#include "core/controller.hpp"
#include "core/text.hpp"

namespace pitwall::scenarios {
namespace {

constexpr double kNear_m = 2.0;        // contacts within it are one place
constexpr double kLooseMean_m = 0.05;  // bands of 1:10 racing: beyond it a tracker is no longer excellent
constexpr double kLooseP95_m = 0.13;
constexpr double kSlow = 1.05;       // achieved over planned lap
constexpr double kNarrow_m = 0.05;   // clearance that a gust of noise uses up
constexpr double kStopShare = 0.02;  // of the decisions

/// Those of `parameters` that the controller has, in words.
class Known {
 public:
  explicit Known(const std::string& controller) {
    const auto rows = controllers::describe(controller);
    if (!rows) return;
    for (const FieldDescription& row : *rows) names_.push_back(row.name);
  }
  /// "raise a, lower b" of the pairs whose parameter exists; `otherwise` where none does.
  [[nodiscard]] std::string pick(const std::vector<std::pair<std::string, std::string>>& what, const std::string& otherwise) const {
    std::vector<std::string> found;
    for (const auto& [verb, name] : what) {
      const auto is = [&name = name](const std::string& known) { return known == name || known.ends_with("." + name); };
      const auto at = std::find_if(names_.begin(), names_.end(), is);
      if (at != names_.end()) found.push_back(verb + " " + *at);
    }
    return found.empty() ? otherwise : join(found, ", or ");
  }

 private:
  std::vector<std::string> names_;
};

double share_of(const Outcome& outcome, Reason reason) {
  for (const auto& [text, count] : outcome.reasons) {
    if (text == name(reason) && outcome.steps > 0) return static_cast<double>(count) / static_cast<double>(outcome.steps);
  }
  return 0.0;
}

/// A place on one track where runs ended.
struct Place {
  std::string track;
  double s_m;
  int runs;
  std::string what;
};

std::vector<Place> places_of(const std::vector<Outcome>& outcomes) {
  std::vector<Place> places;
  for (const Outcome& o : outcomes) {
    if (!o.failure || !(o.collision || o.off_map)) continue;
    const auto same = [&](const Place& p) { return p.track == o.track && std::fabs(p.s_m - o.failure->track_s_m) < kNear_m; };
    const auto at = std::find_if(places.begin(), places.end(), same);
    if (at == places.end()) {
      places.push_back({o.track, o.failure->track_s_m, 1, o.failure->what});
    } else {
      ++at->runs;
    }
  }
  return places;
}

void contacts(const Known& known, const std::vector<Outcome>& outcomes, std::vector<Advice>& all) {
  for (const Place& place : places_of(outcomes)) {
    const std::string symptom = std::to_string(place.runs) + " of " + std::to_string(outcomes.size()) +
                                " runs end at s = " + format_number(place.s_m, 4) + " m of " + place.track + ": " + place.what;
    if (place.what.find("the wall") == std::string::npos && place.what.find("left the map") == std::string::npos) {
      all.push_back(
          {symptom, "the other car was seen too late, or the gap beside it was too small",
           known.pick({{"raise", "follow_gap_m"}, {"raise", "body_gap_m"}, {"raise", "safety_margin_m"}, {"lower", "max_speed_mps"}},
                      "a lower speed")});
    } else if (place.runs > 1) {
      all.push_back({symptom, "always there: the line or the gap is too narrow for the distance that the law keeps from it",
                     known.pick({{"raise", "safety_margin_m"}, {"lower", "max_lateral_accel_mps2"}},
                                "a line with more --safety-margin (optimize_raceline), or a lower speed.lateral_mps2")});
    } else {
      all.push_back({symptom, "once: noise or delay at the limit",
                     known.pick({{"lower", "max_lateral_accel_mps2"}, {"lower", "max_speed_mps"}}, "a lower speed.lateral_mps2")});
    }
  }
}

void stalls(const Known& known, const std::vector<Outcome>& outcomes, std::vector<Advice>& all) {
  int stalled = 0;
  std::string where;
  for (const Outcome& o : outcomes) {
    if (!o.failure || (o.failure->what.find("stalled") == std::string::npos && o.failure->what.find("timeout") == std::string::npos))
      continue;
    ++stalled;
    if (where.empty()) where = o.track + " at s = " + format_number(o.failure->track_s_m, 4) + " m: " + o.failure->what;
  }
  if (stalled == 0) return;
  const std::string symptom = std::to_string(stalled) + " of " + std::to_string(outcomes.size()) + " runs get stuck (" + where + ")";
  const bool no_gap = where.find(name(Reason::kNoSafeGap)) != std::string::npos;
  const bool ttc = where.find(name(Reason::kTtcBrake)) != std::string::npos;
  if (no_gap) {
    all.push_back({symptom, "no gap is wide enough for car and margin",
                   known.pick({{"lower", "safety_margin_m"}, {"lower", "min_safety_margin_m"}, {"lower", "min_gap_distance_m"}},
                              "a wider corridor")});
  } else if (ttc) {
    all.push_back({symptom, "the stopping corridor takes walls beside the way for walls ahead",
                   known.pick({{"lower", "ttc_path_margin_m"}, {"lower", "ttc_threshold_s"}}, "a narrower stopping corridor")});
  } else {
    all.push_back(
        {symptom, "a stop that nothing lifts",
         known.pick({{"raise", "escape_creep_speed_mps"}, {"lower", "forward_stop_clearance_m"}}, "see the reasons in --output")});
  }
}

void tracking(const Known& known, const std::vector<Outcome>& outcomes, std::vector<Advice>& all) {
  double mean = 0.0;
  double p95 = 0.0;
  double slow = 0.0;
  int laps = 0;
  double narrow = 1e9;
  double failed = 0.0;
  double stopped = 0.0;
  for (const Outcome& o : outcomes) {
    mean += o.mean_cross_track_m / static_cast<double>(outcomes.size());
    p95 += o.p95_cross_track_m / static_cast<double>(outcomes.size());
    narrow = std::min(narrow, o.min_clearance_m);
    failed = std::max(failed, share_of(o, Reason::kSteeringLawFailed));
    stopped = std::max(stopped, o.steps > 0 ? static_cast<double>(o.stop_steps) / static_cast<double>(o.steps) : 0.0);
    if (o.lap_time_s && o.estimated_lap_time_s > 0.0) {
      slow += *o.lap_time_s / o.estimated_lap_time_s;
      ++laps;
    }
  }
  if (failed > 0.0) {
    all.push_back({"the law gave no angle on " + format_number(100.0 * failed, 2) + " % of the ticks",
                   "its problem had no solution, or an input was no number",
                   known.pick({{"lower", "horizon_stages"}, {"raise", "rate_radps"}}, "a lower speed; see its counters in --output")});
  }
  if (mean > kLooseMean_m && p95 > kLooseP95_m) {
    all.push_back(
        {"mean distance " + format_number(mean, 2) + " m, 95 % within " + format_number(p95, 2) + " m: loose",
         "gains too low, or a lookahead that cuts corners",
         known.pick({{"raise", "gain_per_s"}, {"lower", "lookahead_gain_s"}, {"lower", "min_lookahead_m"}, {"lower", "lateral_m"}},
                    "higher gains")});
  } else if (p95 > kLooseP95_m && p95 > 4.0 * mean) {
    all.push_back(
        {"mean distance " + format_number(mean, 2) + " m but 95 % only within " + format_number(p95, 2) + " m: swings",
         "the loop is near its delay margin, or the tyres slide at the entries",
         known.pick({{"lower", "gain_per_s"}, {"raise", "lookahead_gain_s"}, {"raise", "rate_radps"}, {"lower", "max_lateral_accel_mps2"}},
                    "lower gains or a lower speed.lateral_mps2")});
  }
  if (laps > 0 && slow / laps > kSlow) {
    all.push_back(
        {"laps take " + format_number(slow / laps, 4) + " of the planned time", "stops, or a command stage slower than the plan",
         known.pick({{"raise", "max_acceleration_mps2"}, {"raise", "max_braking_decel_mps2"}, {"raise", "max_lateral_accel_mps2"}},
                    "a speed plan within the command stage's limits")});
  }
  if (stopped > kStopShare) {
    all.push_back({format_number(100.0 * stopped, 2) + " % of the decisions of a run are stops",
                   "the safety stage answers to walls that the way passes by",
                   known.pick({{"lower", "ttc_path_margin_m"}, {"lower", "forward_stop_clearance_m"}}, "a line farther from the walls")});
  }
  if (narrow < kNarrow_m && narrow > 0.0) {
    all.push_back({"the chassis came within " + format_number(narrow, 2) + " m of a wall", "the next seed may touch it",
                   known.pick({{"raise", "safety_margin_m"}}, "a line with more --safety-margin (optimize_raceline)")});
  }
}

}  // namespace

std::vector<Advice> advise(const std::string& controller, const std::vector<Outcome>& outcomes) {
  std::vector<Advice> all;
  if (outcomes.empty()) return all;
  const Known known(controller);
  contacts(known, outcomes, all);
  stalls(known, outcomes, all);
  if (controller != "gap_follow") {
    tracking(known, outcomes, all);
  } else {
    const auto nearest = std::min_element(outcomes.begin(), outcomes.end(),
                                          [](const Outcome& a, const Outcome& b) { return a.min_clearance_m < b.min_clearance_m; });
    if (nearest->min_clearance_m > 0.0 && nearest->min_clearance_m < kNarrow_m) {
      all.push_back({"on " + nearest->track + " the chassis came within " + format_number(nearest->min_clearance_m, 2) + " m of a wall",
                     "the margin beside the car is used up in turns",
                     known.pick({{"raise", "safety_margin_m"}, {"lower", "corner_speed_mps"}}, "less speed")});
    }
  }
  return all;
}

std::string advice_text(const std::vector<Advice>& advice) {
  std::string text;
  for (const Advice& a : advice) text += "  symptom: " + a.symptom + " | likely cause: " + a.cause + " | try: " + a.to_try + "\n";
  return text;
}

}  // namespace pitwall::scenarios
