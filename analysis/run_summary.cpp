// SPDX-License-Identifier: Apache-2.0
#include "analysis/run_summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "analysis/run_texts.hpp"
#include "core/files.hpp"
#include "recording/bag_reader.hpp"
#include "recording/run_folder.hpp"
#include "recording/run_messages.hpp"
#include "ros_messages/message.hpp"

namespace pitwall::analysis {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShownErrors = 25;

bool is_there(const fs::path& path) {
  std::error_code failed;
  return fs::exists(path, failed);
}

/// What a complete folder has, and what is lost without it.
struct Artifact {
  const char* name;
  const char* without;
};
constexpr Artifact kOfARaceStack[] = {
    {"launch.log", "phases, watchdogs, gates of the lap and errors of the stack are unknown: ROS's own log keeps only a fraction"},
    {"events.jsonl", "how late the pose was, and when topics came and went, is unknown"},
    {"probe.log", "the probe's events have no form for reading"},
    {"bag", "nothing can be measured or replayed"},
    {"map.pgm", "no map was saved"},
    {"raceline_profiled.csv", "no racing line was made"}};
constexpr Artifact kOfOurs[] = {{"run.json", "what ran, and with which files, is unknown"},
                                {"params.json", "the parameters at the start are unknown"},
                                {"internal.mcap", "why the car stopped has to be guessed from commands (analyze_run)"},
                                {"bag", "nothing can be measured or replayed"}};

Section artifacts_of(const fs::path& folder, bool ours, std::vector<std::string>& warnings) {
  Section section{"artifacts", "What is there", {"What is missing decides which sections below can be trusted to be complete."}, {}, {},
                  {}};
  Table table{
      "files", "Files", "found: there at all, not that it is sound", {{"file", "file"}, {"found", "found"}, {"without", "without it"}}, {}};
  const auto add = [&](const Artifact& artifact, bool needed) {
    const bool found = is_there(folder / artifact.name);
    table.rows.push_back({text(artifact.name), flag(found), found ? nothing() : text(artifact.without)});
    if (needed && !found) warnings.push_back(std::string(artifact.name) + " is missing: " + artifact.without);
  };
  if (ours) {
    for (const Artifact& artifact : kOfOurs) add(artifact, true);
  }
  for (const Artifact& artifact : kOfARaceStack) {
    if (!ours || std::string_view(artifact.name) != "bag") add(artifact, !ours);
  }
  section.tables.push_back(std::move(table));
  return section;
}

Section manifest_section(const recording::RunManifest& run) {
  Section section{"manifest", "The run", {"From run.json, written by the recorder; finished is no where it died."}, {}, {}, {}};
  section.facts = {{"run_id", "run", text(run.run_id)},
                   {"scenario", "scenario", run.scenario.empty() ? nothing() : text(run.scenario)},
                   {"track", "track", run.track.empty() ? nothing() : text(run.track)},
                   {"car", "car", text(run.car_id)},
                   {"clock", "clock", text(run.clock)},
                   {"finished", "finished", flag(run.finished)},
                   {"duration_s", "duration [s]", run.finished ? number((run.end - run.start).seconds()) : nothing()},
                   {"build", "build", text(run.build)}};
  Table cars{"cars", "Cars", "who drove", {{"car", "car"}, {"controller", "controller"}, {"topics", "topics begin with"}}, {}};
  for (const recording::RecordedCar& car : run.cars) cars.rows.push_back({text(car.name), text(car.controller), text(car.prefix + "/")});
  section.tables.push_back(std::move(cars));
  return section;
}

/// Stops of one car by one reason and layer.
struct Stops {
  std::size_t ticks = 0;
  std::size_t stops = 0;
  double first_s = 0.0;
  double longest_s = 0.0;
};

struct CarTicks {
  std::size_t ticks = 0;
  std::size_t contacts = 0;
  std::map<std::pair<std::string, std::string>, Stops> stops;
  std::pair<std::string, std::string> now;  ///< of the stop that goes on; empty while driving
  double since_s = 0.0;

  void take(const recording::Tick& tick, double t_s) {
    ++ticks;
    const bool stopped = tick.speed_mps == 0.0F;
    const std::pair<std::string, std::string> key = stopped ? std::pair{tick.reason, tick.layer} : std::pair<std::string, std::string>{};
    if (!now.first.empty()) stops[now].longest_s = std::max(stops[now].longest_s, t_s - since_s);
    if (stopped) {
      Stops& these = stops[key];
      if (these.ticks++ == 0) these.first_s = t_s;
      if (key != now) {
        ++these.stops;
        since_s = t_s;
      }
    }
    now = key;
  }
};

/// The first few things that are wrong with a recording, and how many more there are.
void warn_of(const std::vector<recording::Finding>& findings, std::vector<std::string>& warnings) {
  constexpr std::size_t kShown = 3;
  std::size_t wrong = 0;
  for (const recording::Finding& finding : findings) {
    if (finding.severity == recording::Severity::kNote) continue;
    if (wrong++ < kShown) warnings.push_back(finding.text());
  }
  if (wrong > kShown) warnings.push_back(std::to_string(wrong - kShown) + " more of these: see `bag check`");
}

Result<Section> stops_section(const fs::path& folder, const recording::RunManifest& run, std::vector<std::string>& warnings) {
  Result<recording::BagReader> reader = recording::BagReader::open(folder / "internal.mcap");
  if (!reader) return reader.error();
  std::map<std::string, CarTicks> cars;
  for (const recording::RecordedCar& car : run.cars) cars[car.name];
  recording::Tick tick;
  recording::ContactRecord contact;
  while (const recording::BagMessage* message = reader->next()) {
    const std::string& topic = reader->topics()[message->topic].name;
    const std::string_view bytes = recording::as_text(message->data);
    if (topic == recording::kTickTopic && ros_messages::read(bytes, tick))
      cars[tick.car].take(tick, (Time{tick.now_ns} - run.start).seconds());
    if (topic == recording::kContactTopic && ros_messages::read(bytes, contact)) ++cars[contact.car].contacts;
  }
  warn_of(reader->findings(), warnings);
  Section section{"stops",
                  "Stops",
                  {"Ticks with zero speed commanded, by the reason and layer that the controller itself gave; analyze_run judges each."},
                  {},
                  {},
                  {}};
  Table per_car{"cars",
                "Ticks",
                "calls of each controller; contacts: beginnings of a touch",
                {{"car", "car"}, {"ticks", "ticks"}, {"stop_ticks", "of them stops"}, {"contacts", "contacts"}},
                {}};
  Table table{"rows",
              "Reasons",
              "stops: unbroken rows of ticks with the same reason; the longest reaches to the first tick after it",
              {{"car", "car"},
               {"reason", "reason"},
               {"layer", "layer"},
               {"ticks", "ticks"},
               {"stops", "stops"},
               {"first_s", "first at [s]"},
               {"longest_s", "longest [s]"}},
              {}};
  for (const auto& [car, seen] : cars) {
    std::size_t stop_ticks = 0;
    for (const auto& [key, these] : seen.stops) {
      stop_ticks += these.ticks;
      table.rows.push_back({text(car), text(key.first), text(key.second), count(these.ticks), count(these.stops), number(these.first_s),
                            number(these.longest_s)});
    }
    per_car.rows.push_back({text(car), count(seen.ticks), count(stop_ticks), count(seen.contacts)});
  }
  section.tables = {std::move(per_car), std::move(table)};
  return section;
}

Section topics_section(const std::vector<recording::RecordedTopic>& topics) {
  Section section{
      "topics", "What was recorded", {"A topic that is missing or has few messages explains most gaps of a later analysis."}, {}, {}, {}};
  Table table{"rows", "Topics", "messages in the bag", {{"topic", "topic"}, {"type", "type"}, {"messages", "messages"}}, {}};
  for (const recording::RecordedTopic& topic : topics) table.rows.push_back({text(topic.name), text(topic.type), count(topic.count)});
  section.tables.push_back(std::move(table));
  return section;
}

Section phases_section(const RunTexts& texts) {
  Section section{"phases",
                  "How far it came",
                  {"In order; the first that is missing is where to look. A phase whose line says that it failed is not reached."},
                  {},
                  {},
                  {}};
  Table table{"rows",
              "Phases",
              "t: by the clock of the line that first shows it",
              {{"phase", "phase"}, {"reached", "reached"}, {"where", "seen in"}, {"t_s", "t [s]"}},
              {}};
  std::string first_missing;
  for (const std::string_view phase : kRunPhases) {
    const auto found = texts.phases.find(phase);
    const bool reached = found != texts.phases.end();
    if (!reached && first_missing.empty()) first_missing = phase;
    table.rows.push_back({text(std::string(phase)), flag(reached), reached ? text(found->second.where) : nothing(),
                          reached ? number(found->second.t_s) : nothing()});
  }
  section.facts = {{"reached", "reached", count(texts.phases.size())},
                   {"first_missing", "first missing", first_missing.empty() ? nothing() : text(first_missing)}};
  section.tables.push_back(std::move(table));
  return section;
}

Cell lag_verdict(double lag_s) {
  if (std::isnan(lag_s)) return nothing();
  return text(lag_s < 0.15 ? "ok" : lag_s < 0.5 ? "marginal" : "bad");
}

Section pose_section(const RunTexts& texts) {
  Section section{
      "pose", "Pose", {"A late pose shifts what the car sees by about speed times lag: below 0.15 s ok, below 0.5 s marginal, else bad."},
      {},     {},     {}};
  if (!texts.has_events) section.notes.emplace_back("Unknown without events.jsonl.");
  const auto counted = [&](std::size_t n) { return texts.has_events ? count(n) : nothing(); };
  const auto events = [&](std::string_view category) {
    const auto found = texts.event_counts.find(category);
    return counted(found == texts.event_counts.end() ? 0 : found->second);
  };
  section.facts = {{"lag_max_sec", "worst lag [s]", number(texts.lag_max_s)},
                   {"verdict", "verdict", lag_verdict(texts.lag_max_s)},
                   {"lag_high_alerts", "alerts of a high lag", events("pose_lag_high")},
                   {"status_samples", "status samples", counted(texts.status_samples)},
                   {"frozen_samples", "of them with a frozen pose", counted(texts.frozen_samples)},
                   {"tf_lost_events", "losses of map->base_link", events("tf_lost")}};
  Table topics{"topics_ever_seen", "Topics ever seen", "by the probe", {{"topic", "topic"}}, {}};
  for (const std::string& topic : texts.topics_seen) topics.rows.push_back({text(topic)});
  section.tables.push_back(std::move(topics));
  return section;
}

Section watchdog_section(const RunTexts& texts) {
  Section section{
      "watchdogs",
      "What stopped it",
      {"Lines of the log, not stops: a stack that repeats itself counts often. Watchdog: the car no longer trusted its pose, line or way."},
      {},
      {},
      {}};
  Table table{"rows", "Reasons", "the x of STOP [x]", {{"reason", "reason"}, {"count", "lines"}, {"watchdog", "watchdog"}}, {}};
  for (const auto& [reason, n] : texts.watchdogs) table.rows.push_back({text(reason), count(n), flag(true)});
  for (const auto& [reason, n] : texts.stops) table.rows.push_back({text(reason), count(n), flag(false)});
  section.tables.push_back(std::move(table));
  return section;
}

Section gate_section(const RunTexts& texts) {
  Section section{"lap_gate_blocking",
                  "What keeps the lap open",
                  {"The last report on a lap that was not closed afterwards; the gate is the first that is not met."},
                  {},
                  {},
                  {}};
  const auto& last = texts.last_progress;
  section.facts = {{"lap", "lap", last ? text(last->lap) : nothing()},
                   {"gate", "gate", last && !last->gate.empty() ? text(last->gate) : nothing()},
                   {"detail", "detail", last && !last->gate.empty() ? text(last->detail) : nothing()},
                   {"unreadable_reports", "reports that could not be read", count(texts.unreadable_progress)}};
  Table table{"gates",
              "Gates",
              "reports that each gate was the first to block, over the whole run",
              {{"gate", "gate"}, {"reports", "reports"}},
              {}};
  for (const auto& [gate, n] : texts.gates) table.rows.push_back({text(gate), count(n)});
  section.tables.push_back(std::move(table));
  return section;
}

Section errors_section(const RunTexts& texts) {
  Section section{"errors",
                  "Errors",
                  {"In order of first appearance; later ones often follow from the first. Lines that differ in their stamp only are one."},
                  {},
                  {},
                  {}};
  const std::size_t shown = std::min(texts.errors.size(), kShownErrors);
  section.facts = {{"different", "different", count(texts.errors.size())}, {"not_shown", "not shown", count(texts.errors.size() - shown)}};
  Table table{"rows", "Errors", "times: how often", {{"where", "first in"}, {"count", "times"}, {"message", "message"}}, {}};
  for (std::size_t i = 0; i < shown; ++i)
    table.rows.push_back({text(texts.errors[i].where), count(texts.errors[i].count), text(texts.errors[i].text)});
  section.tables.push_back(std::move(table));
  return section;
}

Section counts_section(const RunTexts& texts) {
  Section section{
      "event_counts",
      "Events",
      {"Every line counts, also where the stack throttled what it passed on; the two files see the same run and are not to be added."},
      {},
      {},
      {}};
  section.facts = {
      {"malformed_lines", "lines of events.jsonl that are no event", texts.has_events ? count(texts.malformed_events) : nothing()}};
  Table table{"rows",
              "Counts",
              "-: the file is not there",
              {{"category", "category"}, {"launch_log", "launch.log"}, {"events_jsonl", "events.jsonl"}},
              {}};
  std::map<std::string, std::pair<std::size_t, std::size_t>> both;
  for (const auto& [category, n] : texts.log_counts) both[category].first = n;
  for (const auto& [category, n] : texts.event_counts) both[category].second = n;
  for (const auto& [category, n] : both) {
    table.rows.push_back({text(category), texts.has_log ? count(n.first) : nothing(), texts.has_events ? count(n.second) : nothing()});
  }
  section.tables.push_back(std::move(table));
  return section;
}

/// Nothing where it is not there; a file that is there and cannot be read is said.
std::optional<std::string> text_of(const fs::path& file, std::vector<std::string>& warnings) {
  if (!is_there(file)) return std::nullopt;
  auto bytes = read_file(file);
  if (bytes) return std::move(bytes).value();
  warnings.push_back(bytes.error().message);
  return std::nullopt;
}

void add_recorded(const fs::path& folder, const std::optional<recording::RunManifest>& run, Document& document) {
  if (run && is_there(folder / "internal.mcap")) {
    auto stops = stops_section(folder, *run, document.warnings);
    if (stops) {
      document.sections.push_back(std::move(stops).value());
    } else {
      document.warnings.push_back(stops.error().message);
    }
  }
  if (!is_there(folder / "bag")) return;
  const auto bag = recording::BagReader::open(folder / "bag");
  if (!bag) return document.warnings.push_back(bag.error().message);
  warn_of(bag->findings(), document.warnings);
  std::vector<recording::RecordedTopic> topics;
  for (const recording::Topic& topic : bag->topics()) topics.push_back({topic.name, topic.type, topic.message_count, 0.0});
  document.sections.push_back(topics_section(topics));
}

}  // namespace

GatedReport summarize_run(const fs::path& folder) {
  GatedReport report;
  std::error_code failed;
  if (!fs::is_directory(folder, failed)) {
    report.refused.push_back(folder.string() + (is_there(folder) ? ": is no folder" : ": no such file or folder"));
    return report;
  }
  Document& document = report.document;
  document.title = "Summary of " + folder.string();
  std::optional<recording::RunManifest> run;
  const bool ours = is_there(folder / "run.json");
  if (ours) {
    auto loaded = recording::load_manifest(folder);
    if (loaded) {
      run = std::move(loaded).value();
      if (!run->finished) document.warnings.emplace_back("run.json: the recorder did not finish");
      for (const std::string& changed : recording::changed_files(folder, *run)) document.warnings.push_back(changed);
      document.sections.push_back(manifest_section(*run));
    } else {
      document.warnings.push_back(loaded.error().message);
    }
  }
  document.sections.push_back(artifacts_of(folder, ours, document.warnings));
  const auto launch_log = text_of(folder / "launch.log", document.warnings);
  const auto events = text_of(folder / "events.jsonl", document.warnings);
  if (launch_log || events) {
    const RunTexts texts = read_run_texts(launch_log, events);
    for (const auto& make : {phases_section, pose_section, watchdog_section, gate_section, errors_section, counts_section}) {
      document.sections.push_back(make(texts));
    }
    if (texts.malformed_events > 0)
      document.warnings.push_back("events.jsonl: " + std::to_string(texts.malformed_events) + " lines are no events");
    if (texts.unreadable_progress > 0) {
      document.warnings.push_back(std::to_string(texts.unreadable_progress) + " reports on a lap are of a form that is not known");
    }
  }
  add_recorded(folder, run, document);
  return report;
}

}  // namespace pitwall::analysis
