// SPDX-License-Identifier: Apache-2.0
#include "analysis/slam_report.hpp"

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "core/files.hpp"

namespace pitwall::analysis {

namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& run, const SlamReportOptions& options) {
  if (!options.out.empty()) return options.out;
  std::error_code failed;
  return (fs::is_directory(run, failed) ? run : run.parent_path()) / "analysis" / "slam_report";
}

Status write_all(const fs::path& folder, const Document& document, const std::vector<std::pair<std::string, std::string>>& pictures,
                 GatedReport& report) {
  std::vector<std::pair<std::string, std::string>> files{{"slam_report.md", to_markdown(document)}, {"summary.json", to_json(document)}};
  files.insert(files.end(), pictures.begin(), pictures.end());
  for (const auto& [name, bytes] : files) {
    if (const Status written = write_file(folder / name, bytes); !written) return written;
    report.written.push_back((folder / name).string());
  }
  return {};
}

void judge(GatedReport& report, const SlamFacts& facts, const SlamReportOptions& options) {
  double car = 0.0;
  for (const Correction& c : facts.corrections) car = std::fmax(car, c.at_car_m);
  report.gate.at_most("largest move at the car", options.max_correction_m, car, "m");
  if (options.min_consistency_percent) {
    report.gate.at_most("ends of beams off the walls", 100.0 - *options.min_consistency_percent, 100.0 - facts.consistency.percent(), "%");
  }
}

/// Which of two is better, by the key of a fact; those that are not here are neither.
enum class Better { kLower, kHigher };
const std::map<std::string, Better>& better_of() {
  static const std::map<std::string, Better> all{
      {"final_deg", Better::kLower},   {"rms_deg", Better::kLower},           {"max_at_car_m", Better::kLower},
      {"jumps", Better::kLower},       {"relocations", Better::kLower},       {"on_walls_percent", Better::kHigher},
      {"crisp_cells", Better::kLower}, {"ate_rmse_m", Better::kLower},        {"ate_max_m", Better::kLower},
      {"step_mean_m", Better::kLower}, {"dropped", Better::kLower},           {"observable_percent", Better::kHigher},
      {"by_odometry", Better::kLower}, {"by_odometry_m", Better::kLower},     {"chi2_per_edge", Better::kLower},
      {"ghost_cells", Better::kLower}, {"scans_without_pose", Better::kLower}};
  return all;
}

std::string judged(const std::string& key, double a, double b) {
  const auto better = better_of().find(key);
  if (better == better_of().end() || !std::isfinite(a) || !std::isfinite(b)) return "-";
  const double x = std::abs(a);
  const double y = std::abs(b);
  if (x == y) return "same";
  return (x < y) == (better->second == Better::kLower) ? "A" : "B";
}

/// The numbers of two documents of the same kind side by side.
Table side_by_side(const Document& a, const Document& b) {
  Table table{"compare",
              "Side by side",
              "difference: B less A; better where more or less of it is better, whatever the sign",
              {{"section", "section"}, {"metric", "metric"}, {"a", "A"}, {"b", "B"}, {"difference", "B - A"}, {"better", "better"}},
              {}};
  for (const Section& section : a.sections) {
    const auto other = std::find_if(b.sections.begin(), b.sections.end(), [&](const Section& s) { return s.key == section.key; });
    if (other == b.sections.end()) continue;
    for (const Fact& fact : section.facts) {
      const auto same = std::find_if(other->facts.begin(), other->facts.end(), [&](const Fact& f) { return f.key == fact.key; });
      if (same == other->facts.end()) continue;
      const bool numbers = fact.value.kind == Cell::Kind::kNumber && same->value.kind == Cell::Kind::kNumber;
      table.rows.push_back({text(section.title), text(fact.title), fact.value, same->value,
                            numbers ? number(same->value.number - fact.value.number, fact.value.digits) : nothing(),
                            text(numbers ? judged(fact.key, fact.value.number, same->value.number) : "-")});
    }
  }
  return table;
}

Table laps_side_by_side(const SlamFacts& a, const SlamFacts& b) {
  Table table{"laps",
              "Lap by lap",
              "the same lap of both",
              {{"lap", "lap"},
               {"a_distance_m", "A distance [m]"},
               {"b_distance_m", "B distance [m]"},
               {"a_closest_m", "A from the start [m]"},
               {"b_closest_m", "B from the start [m]"},
               {"a_percent", "A ends on walls [%]"},
               {"b_percent", "B ends on walls [%]"}},
              {}};
  for (std::size_t k = 0; k < std::min(a.laps.size(), b.laps.size()); ++k) {
    table.rows.push_back({count(k + 1), number(a.laps[k].distance_m, 2), number(b.laps[k].distance_m, 2), number(a.laps[k].closest_m),
                          number(b.laps[k].closest_m), number(a.lap_consistency[k].percent(), 1),
                          number(b.lap_consistency[k].percent(), 1)});
  }
  return table;
}

/// Whether `inner` is `outer` or lies in it.
bool is_within(const fs::path& inner, const fs::path& outer) {
  std::error_code failed;
  const fs::path a = fs::weakly_canonical(fs::absolute(inner), failed);
  const fs::path b = fs::weakly_canonical(fs::absolute(outer), failed);
  const auto [end, unused] = std::mismatch(b.begin(), b.end(), a.begin(), a.end());
  return end == b.end();
}

}  // namespace

GatedReport slam_report(const fs::path& run, const SlamReportOptions& options) {
  GatedReport report;
  report.document.title = "SLAM";
  const auto refuse = [&report](const Error& error) {
    report.refused.push_back(error.message);
    return report;
  };
  const auto facts = slam_facts(run, options.facts);
  if (!facts) return refuse(facts.error());
  report.document = slam_document(*facts);
  std::vector<std::pair<std::string, std::string>> pictures;
  if (options.pictures) {
    pictures = {{"map.svg", map_picture(*facts)}, {"timeline.svg", timeline_picture(*facts)}};
    report.document.sections.front().pictures = {"map.svg", "timeline.svg"};
  }
  judge(report, *facts, options);
  report.gate.add_to(report.document);
  if (const Status written = write_all(folder_of(run, options), report.document, pictures, report); !written)
    return refuse(written.error());
  return report;
}

GatedReport slam_compare(const fs::path& a, const fs::path& b, const SlamReportOptions& options) {
  GatedReport report;
  report.document.title = "SLAM, two runs";
  const auto refuse = [&report](const Error& error) {
    report.refused.push_back(error.message);
    return report;
  };
  if (options.out.empty()) return refuse({"--compare needs --out DIR: nothing is written into the runs"});
  if (is_within(a, b) && is_within(b, a)) return refuse({a.string() + ": compared with itself"});
  for (const fs::path& run : {a, b}) {
    if (is_within(options.out, run)) return refuse({"--out " + options.out.string() + ": lies in the run " + run.string()});
  }
  const auto first = slam_facts(a, options.facts);
  if (!first) return refuse(first.error());
  const auto second = slam_facts(b, options.facts);
  if (!second) return refuse(second.error());
  report.document.warnings = first->run.warnings;
  report.document.warnings.insert(report.document.warnings.end(), second->run.warnings.begin(), second->run.warnings.end());
  Section s{"compare",
            "A: " + a.string() + ", B: " + b.string(),
            {"how to read it: compare runs over the same course; a difference below that of two runs with the same settings is none"},
            {},
            {side_by_side(slam_document(*first), slam_document(*second)), laps_side_by_side(*first, *second)},
            {}};
  std::vector<std::pair<std::string, std::string>> pictures;
  if (options.pictures) {
    pictures = {{"map.svg", map_picture(*first, *second)}, {"timeline.svg", timeline_picture(*first, *second)}};
    s.pictures = {"map.svg", "timeline.svg"};
  }
  report.document.sections.push_back(std::move(s));
  if (const Status written = write_all(options.out, report.document, pictures, report); !written) return refuse(written.error());
  return report;
}

}  // namespace pitwall::analysis
