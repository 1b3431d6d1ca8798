// SPDX-License-Identifier: Apache-2.0
#include "analysis/run_texts.hpp"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/text.hpp"

namespace pitwall::analysis {

namespace {

constexpr std::size_t kErrorBytes = 400;
constexpr std::array<std::string_view, 6> kWatchdogs{"pose_frozen",     "pose_stale",         "body_contact",
                                                     "off_racing_line", "emergency_obstacle", "waiting_for_pose"};

bool has_any(std::string_view text, std::initializer_list<std::string_view> pieces) {
  return std::any_of(pieces.begin(), pieces.end(), [&](std::string_view piece) { return contains(text, piece); });
}

bool is_phase(std::string_view category) { return std::find(kRunPhases.begin(), kRunPhases.end(), category) != kRunPhases.end(); }

/// Without the colours of a terminal.
std::string plain(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b' && i + 1 < line.size() && line[i + 1] == '[') {
      i += 2;
      while (i < line.size() && (line[i] < '@' || line[i] > '~')) ++i;
    } else {
      out += line[i];
    }
  }
  return std::string(trim(out));
}

/// The first "[1785207335.25]" of a line.
struct StampInLine {
  std::size_t begin = 0;
  std::size_t size = 0;  ///< 0: there is none
  double t_s = NAN;
};
StampInLine stamp_of(std::string_view line) {
  for (std::size_t open = line.find('['); open != std::string_view::npos; open = line.find('[', open + 1)) {
    const std::size_t close = line.find(']', open);
    if (close == std::string_view::npos) break;
    const std::string_view inside = line.substr(open + 1, close - open - 1);
    if (inside.empty() || inside.find_first_not_of("0123456789.") != std::string_view::npos || !contains(inside, ".")) continue;
    if (const auto value = parse_double(inside)) return {open, close + 1 - open, *value};
  }
  return {};
}

std::string without_stamp(std::string_view line) {
  const StampInLine stamp = stamp_of(line);
  return std::string(line.substr(0, stamp.begin)) + std::string(line.substr(stamp.begin + stamp.size));
}

/// Not in the middle of a character.
std::string cut(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  return std::string(text.substr(0, bytes));
}

/// "91.2/15.0s" as value, limit and unit.
struct Against {
  double value = NAN;
  double limit = NAN;
  std::string detail(bool at_least, std::string_view unit) const {
    return format_exact(value) + (at_least ? " of at least " : " of at most ") + format_exact(limit) + " " + std::string(unit);
  }
};
std::optional<Against> against(std::string_view text, std::string_view unit) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || !text.ends_with(unit)) return std::nullopt;
  const auto value = parse_double(trim(text.substr(0, slash)));
  const auto limit = parse_double(trim(text.substr(slash + 1, text.size() - slash - 1 - unit.size())));
  if (!value || !limit || !std::isfinite(*value) || !std::isfinite(*limit)) return std::nullopt;
  return Against{*value, *limit};
}

/// Takes in what the log says, from launch.log or from events that pass its lines on.
class TextReader {
 public:
  explicit TextReader(RunTexts& into) : into_(into) {}

  void log_line(std::string_view raw, const std::string& where) {
    const std::string line = plain(raw);
    const std::string_view category = log_category(line);
    if (category.empty()) return;
    ++into_.log_counts[std::string(category)];
    take(category, line, {where, stamp_of(line).t_s});
  }

  void event_line(std::string_view raw, const std::string& where) {
    if (trim(raw).empty()) return;
    const Json event = Json::parse(raw, nullptr, false);
    if (!event.is_object() || !event.contains("category") || !event["category"].is_string()) {
      ++into_.malformed_events;
      return;
    }
    const std::string category = event["category"];
    ++into_.event_counts[category];
    probe_event(category, event);
    const Sighting sighting{where, number_in(event, "t")};
    if (is_phase(category)) into_.phases.try_emplace(category, sighting);
    if (into_.has_log) return;
    const std::string message = event.contains("message") && event["message"].is_string() ? event["message"].get<std::string>() : "";
    take(category, plain(message), sighting);
  }

 private:
  using Json = nlohmann::json;

  static double number_in(const Json& event, const char* key) {
    const auto found = event.find(key);
    return found != event.end() && found->is_number() ? found->get<double>() : NAN;
  }

  void probe_event(std::string_view category, const Json& event) {
    for (const char* key : {"lag_sec", "pose_lag_sec", "pose_lag_max_sec"})
      into_.lag_max_s = std::fmax(into_.lag_max_s, number_in(event, key));
    if (category == "status") {
      ++into_.status_samples;
      const auto frozen = event.find("pose_frozen");
      if (frozen != event.end() && frozen->is_boolean() && frozen->get<bool>()) ++into_.frozen_samples;
    }
    const auto topic = event.find("topic");
    if (category == "first_message" && topic != event.end() && topic->is_string()) into_.topics_seen.insert(topic->get<std::string>());
  }

  void take(std::string_view category, const std::string& line, const Sighting& sighting) {
    if (is_phase(category)) into_.phases.try_emplace(std::string(category), sighting);
    if (category == "lap_closed") into_.last_progress.reset();
    if (category == "watchdog") ++into_.watchdogs[std::string(stop_reason(line))];
    if (category == "stopped") ++into_.stops[std::string(stop_reason(line))];
    if (category == "lap_progress") progress(line);
    if (category == "error" || category == "node_death" || contains(line, "did not finish within")) error(line, sighting.where);
  }

  void progress(const std::string& line) {
    auto read = lap_progress(line);
    if (!read || !read->readable) {
      ++into_.unreadable_progress;
      return;
    }
    if (!read->gate.empty()) ++into_.gates[read->gate];
    into_.last_progress = std::move(read);
  }

  void error(const std::string& line, const std::string& where) {
    const auto [found, fresh] = error_index_.try_emplace(without_stamp(line), into_.errors.size());
    if (fresh) into_.errors.push_back({cut(line, kErrorBytes), where, 0});
    ++into_.errors[found->second].count;
  }

  RunTexts& into_;
  std::map<std::string, std::size_t> error_index_;
};

}  // namespace

std::string_view stop_reason(std::string_view line) {
  const std::size_t at = line.find("STOP [");
  if (at == std::string_view::npos) return {};
  const std::string_view rest = line.substr(at + 6);
  const std::size_t close = rest.find(']');
  return close == std::string_view::npos ? std::string_view{} : rest.substr(0, close);
}

std::string_view log_category(std::string_view line) {
  if (lap_progress(line)) return "lap_progress";  // first: what it counts may be called "rejected"
  const std::string small = to_lower(line);
  const bool dead = has_any(small, {"process has died", "traceback", "process exited"});
  const bool failed = dead || has_any(small, {"[error]", "[fatal]", "exception", "rejected", "could not", "failed"});
  if (!failed) {
    if (has_any(line, {"Configuring", "Using solver plugin", "Activating", "LifecycleLaunch"})) return "slam_lifecycle";
    if (contains(line, "Closed mapping lap")) return "lap_closed";
    if (contains(line, "racing profile at")) return "profile_generated";
    if (has_any(line, {"Profile loaded successfully", "pure_pursuit_node ready:"})) return "profile_loaded";
    if (contains(line, "Transition complete")) return "handover";
  }
  if (has_any(small, {"save requested", "saved successfully", "waiting for slam_toolbox to finish saving", "did not finish within"}))
    return "map_save";
  const std::string_view reason = stop_reason(line);
  if (std::find(kWatchdogs.begin(), kWatchdogs.end(), reason) != kWatchdogs.end()) return "watchdog";
  if (dead) return "node_death";
  if (has_any(small, {"could not transform", "lookup would require extrapolation", "waiting for transform"})) return "tf_missing";
  if (failed) return "error";
  if (contains(line, "Message Filter dropping message")) return "scan_dropped";
  return reason.empty() ? std::string_view{} : "stopped";
}

std::optional<LapProgress> lap_progress(std::string_view line) {
  for (std::size_t at = line.find("lap "); at != std::string_view::npos; at = line.find("lap ", at + 1)) {
    const std::size_t colon = line.find(':', at);
    if (colon == std::string_view::npos) return std::nullopt;
    const std::string_view lap = line.substr(at + 4, colon - at - 4);
    if (lap.empty() || lap.find_first_not_of("0123456789/") != std::string_view::npos || !contains(lap, "/")) continue;
    std::string pairs(line.substr(colon + 1));
    if (!contains(pairs, "samples=")) return std::nullopt;
    std::replace(pairs.begin(), pairs.end(), ';', ',');
    std::map<std::string, std::string_view, std::less<>> values;
    for (const std::string_view pair : split(pairs, ',')) {
      const std::size_t equals = pair.find('=');
      if (equals != std::string_view::npos) values.try_emplace(std::string(trim(pair.substr(0, equals))), trim(pair.substr(equals + 1)));
    }
    LapProgress progress{std::string(lap), true, "", ""};
    const auto block = [&](std::string_view gate, std::string detail) {
      if (!progress.gate.empty()) return;
      progress.gate = gate;
      progress.detail = std::move(detail);
    };
    const std::string_view departed = values["departed"];
    if (departed != "yes" && departed != "no") progress.readable = false;
    if (departed == "no") block("departed", "the car has not left the start");
    const auto judge = [&](const char* key, std::string_view gate, std::string_view unit, bool at_least, bool optional) {
      const auto found = values.find(key);
      if (found == values.end() && optional) return;
      const auto pair = found == values.end() ? std::nullopt : against(found->second, unit);
      if (!pair) {
        progress.readable = false;
      } else if (at_least ? pair->value < pair->limit : pair->value > pair->limit) {
        block(gate, pair->detail(at_least, unit));
      }
    };
    judge("distance", "distance", "m", true, false);
    judge("elapsed", "elapsed", "s", true, false);
    judge("start distance", "start_distance", "m", false, false);
    judge("heading error", "heading_error", "deg", false, false);
    judge("turn", "turn", "deg", true, true);
    return progress;
  }
  return std::nullopt;
}

RunTexts read_run_texts(const std::optional<std::string>& launch_log, const std::optional<std::string>& events_jsonl) {
  RunTexts texts;
  texts.has_log = launch_log.has_value();
  texts.has_events = events_jsonl.has_value();
  TextReader reader(texts);
  const auto numbered = [](const char* file, std::size_t line) { return std::string(file) + ":" + std::to_string(line); };
  if (launch_log) each_line(*launch_log, [&](std::size_t n, std::string_view line) { reader.log_line(line, numbered("launch.log", n)); });
  if (events_jsonl)
    each_line(*events_jsonl, [&](std::size_t n, std::string_view line) { reader.event_line(line, numbered("events.jsonl", n)); });
  return texts;
}

}  // namespace pitwall::analysis
