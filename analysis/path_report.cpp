// SPDX-License-Identifier: Apache-2.0
#include "analysis/path_report.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/bag_messages.hpp"
#include "analysis/odometry_tracks.hpp"
#include "core/files.hpp"
#include "core/signal.hpp"
#include "core/text.hpp"
#include "ros_messages/graph.hpp"
#include "tracks/track.hpp"

namespace pitwall::analysis {

namespace {

namespace fs = std::filesystem;
namespace ros = ros_messages;
using tracks::PathSample;

constexpr double kCommandHeld_s = 0.5;

double degrees(double rad) { return rad * 180.0 / math::kPi; }

/// What the recording has to say about a plan.
struct Recorded {
  RunData run;
  std::vector<TimedPlan> plans;
  std::string plan_frame;
  std::vector<PathSample> samples;
  Track odometry;  ///< as recorded: without the corrections of a localiser, which are no way
  std::vector<std::string> warnings;
};

bool has_topic(const fs::path& path, const std::string& name) {
  const auto bag = recording::BagReader::open(path);
  return bag && std::any_of(bag->topics().begin(), bag->topics().end(),
                            [&](const recording::Topic& t) { return t.name == name && t.message_count > 0; });
}

/// Poses of the wheel odometry in `frame`, by /tf at each stamp; nothing where no chain leads there.
Result<std::optional<Track>> odometry_in(const fs::path& path, const std::string& topic, const std::string& frame, StampClock& clock,
                                         Track& odometry) {
  std::vector<double> t_s, edge_s;
  std::vector<Pose2> poses, edge;
  std::string odom_frame;
  Status read = each_message<ros::Odometry>(path, topic, [&](const ros::Odometry& wire, Time arrival) {
    const Odometry m = ros::from_ros(wire);
    odom_frame = wire.header.frame_id;
    t_s.push_back(clock.seconds(wire.header.stamp, arrival));
    poses.push_back({m.position.x, m.position.y, yaw_of(m.orientation)});
  });
  if (!read) return read.error();
  odometry = track_of(topic, t_s, poses);
  if (odom_frame == frame) return std::optional(odometry);
  for (const char* name : {"/tf", "/tf_static"}) {
    if (!has_topic(path, name)) continue;
    read = each_message<ros::TFMessage>(path, name, [&](const ros::TFMessage& m, Time arrival) {
      for (const ros::TransformStamped& each : m.transforms) {
        if (each.header.frame_id != frame || each.child_frame_id != odom_frame) continue;
        const auto& q = each.transform.rotation;
        edge_s.push_back(clock.seconds(each.header.stamp, arrival));
        edge.push_back({each.transform.translation.x, each.transform.translation.y, yaw_of({q.z, q.w})});
      }
    });
    if (!read) return read.error();
  }
  const Track correction = track_of(frame + "->" + odom_frame, edge_s, edge);
  if (correction.size() == 0) return std::optional<Track>{};
  Track out;
  out.source = topic + " in " + frame;
  for (std::size_t i = 0; i < odometry.size(); ++i) {
    // Before the first correction nobody knows; between two it is interpolated, after the last it holds.
    const double at_s = odometry.t_s[i];
    if (at_s < correction.t_s.front()) continue;
    const Pose2 T = correction.at(at_s, 1e9).value_or(correction.pose.back());
    out.t_s.push_back(at_s);
    out.pose.push_back(T * odometry.pose[i]);
  }
  return std::optional(std::move(out));
}

/// The poses in `frame`: wheel odometry through /tf, else those of a localiser.
Result<Track> poses_in(const fs::path& path, const RunData& run, const std::string& frame, StampClock& clock, Track& recorded) {
  if (const UsedTopic* topic = run.topic("odometry"); topic != nullptr) {
    Result<std::optional<Track>> odometry = odometry_in(path, topic->name, frame, clock, recorded);
    if (!odometry) return odometry.error();
    if (*odometry) return **std::move(odometry);
  }
  if (run.pose.size() > 0 && frame == "map") {
    std::vector<Pose2> poses;
    for (std::size_t i = 0; i < run.pose.size(); ++i) poses.push_back({run.pose.x_m[i], run.pose.y_m[i], run.pose.yaw_rad[i]});
    return track_of(run.topic("pose")->name, run.pose.t_s, poses);
  }
  if (run.topic("odometry") == nullptr) return Error{path.string() + ": no odometry and no pose in frame '" + frame + "'"};
  return Error{path.string() + ": the plan is in frame '" + frame + "', and /tf has no transform from there to the frame of " +
               run.topic("odometry")->name};
}

template <class Series>
std::vector<double> sorted_values(const Series& order, const std::vector<double>& values) {
  std::vector<double> out;
  for (const std::size_t i : order) out.push_back(values[i]);
  return out;
}

/// Speed and command at each pose.
std::vector<PathSample> samples_of(const Track& track, const RunData& run) {
  const auto by = [&](const std::vector<double>& t_s, const std::vector<double>& values, signals::Between between, double gap_s) {
    const auto order = sorted_by_stamp(t_s);
    if (order.empty()) return std::vector<double>(track.size(), NAN);
    return signals::resample(sorted_values(order, t_s), sorted_values(order, values), track.t_s, between, gap_s);
  };
  const auto speed = by(run.odometry.t_s, run.odometry.speed_mps, signals::Between::kLinear, 0.5);
  const auto command = by(run.command.t_s, run.command.speed_mps, signals::Between::kHeld, kCommandHeld_s);
  std::vector<PathSample> samples;
  for (std::size_t i = 0; i < track.size(); ++i) {
    PathSample s;
    s.time_s = track.t_s[i];
    s.pose = track.pose[i];
    s.pose.yaw = wrap_angle(s.pose.yaw);
    const std::size_t a = i > 0 ? i - 1 : i;
    const std::size_t b = i > 0 ? i : std::min(i + 1, track.size() - 1);
    const double along =
        b > a ? dot(track.pose[b].position() - track.pose[a].position(), unit_vector(s.pose.yaw)) / (track.t_s[b] - track.t_s[a]) : 0.0;
    s.speed_mps = std::isfinite(speed[i]) ? speed[i] : along;
    if (std::isfinite(command[i])) s.commanded_mps = command[i];
    samples.push_back(s);
  }
  return samples;
}

Result<Recorded> record_of(const fs::path& path, const PathReportOptions& options) {
  Recorded r;
  LoadOptions load;
  load.car = options.car;
  Result<RunData> run = load_run(path, load);
  if (!run) return run.error();
  r.run = *std::move(run);
  r.plan_frame = "map";
  StampClock clock(r.run.origin);
  if (options.line.empty()) {
    if (!has_topic(path, options.plan_topic)) {
      return Error{path.string() + ": no plan: there is no " + options.plan_topic +
                   " with messages (--plan TOPIC, or --line FILE for a line of your own)"};
    }
    const Status read = each_message<ros::Path>(path, options.plan_topic, [&](const ros::Path& m, Time arrival) {
      TimedPlan plan{clock.seconds(m.header.stamp, arrival), {}};
      for (const ros::PoseStamped& pose : m.poses) plan.points.push_back({pose.pose.position.x, pose.pose.position.y});
      if (plan.points.empty()) return;
      r.plan_frame = m.header.frame_id;
      r.plans.push_back(std::move(plan));
    });
    if (!read) return read.error();
    if (r.plans.empty()) return Error{path.string() + ": no plan: every message of " + options.plan_topic + " is empty or unreadable"};
  }
  const Result<Track> track = poses_in(path, r.run, r.plan_frame, clock, r.odometry);
  if (!track) return track.error();
  if (track->size() == 0) return Error{path.string() + ": no pose in frame '" + r.plan_frame + "'"};
  r.samples = samples_of(*track, r.run);
  if (track->left_out > 0) r.warnings.push_back(path.string() + ": " + std::to_string(track->left_out) + " poses left out");
  if (r.run.damaged) r.warnings.push_back(path.string() + " is damaged: what can be read is used");
  return r;
}

/// The way of the odometry between two times, in pieces of 1 cm or more.
double way_between(const Track& odometry, double from_s, double to_s) {
  constexpr double kJitter_m = 0.01;
  double way = 0.0;
  std::optional<Vec2> last;
  for (std::size_t i = 0; i < odometry.size(); ++i) {
    if (odometry.t_s[i] < from_s || odometry.t_s[i] > to_s) continue;
    const Vec2 p = odometry.pose[i].position();
    if (last && distance(*last, p) < kJitter_m) continue;
    if (last) way += distance(*last, p);
    last = p;
  }
  return way;
}

Result<std::vector<PathGoal>> measured(const fs::path& path, const Recorded& r, const PathReportOptions& options) {
  Result<std::vector<PathGoal>> goals = std::vector<PathGoal>{};
  if (options.line.empty()) {
    goals = goals_of(r.plans, r.samples, r.run.origin);
  } else {
    const Result<tracks::Line> line = tracks::load_line(options.line, !options.open_line);
    if (!line) return line.error();
    goals = laps_of(line->path, r.samples, r.run.origin);
  }
  if (!goals) return Error{path.string() + ": " + goals.error().message};
  if (r.odometry.size() == 0) return goals;
  // Poses in the map jitter with the localiser's corrections: their way is too long.
  for (PathGoal& goal : *goals) {
    const double start_s = seconds_since(r.run.origin, goal.start);
    goal.stretch.driven_m = way_between(r.odometry, start_s, start_s + goal.stretch.time_s);
  }
  return goals;
}

HistoryLine line_of(const fs::path& path, const PathGoal& g) {
  const tracks::PathStretch& s = g.stretch;
  return {path.string(),
          g.kind,
          g.start.ns,
          g.number,
          g.planned_m,
          s.driven_m,
          s.time_s,
          s.cross_track_m.mean_abs,
          s.cross_track_m.rms,
          s.cross_track_m.p95,
          s.cross_track_m.max,
          degrees(s.heading_rad.mean_abs)};
}

Cell maybe(const std::optional<double>& value, int digits) { return value ? number(*value, digits) : nothing(); }

Table goals_table(const std::vector<PathGoal>& goals, bool racing) {
  Table table{
      "goals",
      racing ? "Laps" : "Goals",
      "cross-track: signed distance from the segments of the plan, left positive, weighted by distance; bias is its mean, mean that of its "
      "amount; driven over planned below 1: corners are cut",
      {{"kind", "what"},
       {"number", "no"},
       {"samples", "n"},
       {"time_s", "time [s]"},
       {"planned_m", "planned [m]"},
       {"driven_m", "driven [m]"},
       {"driven_of_planned", "driven / planned"},
       {"bias_m", "bias [m]"},
       {"cte_mean_m", "mean [m]"},
       {"cte_rms_m", "rms [m]"},
       {"cte_p95_m", "p95 [m]"},
       {"cte_max_m", "max [m]"},
       {"cte_sd_m", "sd [m]"},
       {"heading_mean_deg", "heading [deg]"},
       {"heading_max_deg", "max [deg]"},
       {"speed_mps", "progress [m/s]"},
       {"speed_of_commanded", "of commanded"},
       {"reversals", "reversals"},
       {"grade", "cross-track is"},
       {"heading_grade", "heading is"},
       {"way_grade", "way is"}},
      {}};
  for (const PathGoal& g : goals) {
    const tracks::PathStretch& s = g.stretch;
    const tracks::ErrorSpread& e = s.cross_track_m;
    const bool judged = e.samples > 0;
    const auto grade = [&](tracks::Grade of) {
      return judged ? text(std::string(tracks::kGradeNames[static_cast<std::size_t>(of)])) : nothing();
    };
    const auto of = [judged](double value, int digits) { return judged ? number(value, digits) : nothing(); };
    const auto ratio = g.driven_of_planned();
    table.rows.push_back({text(g.kind),
                          count(g.number),
                          number(static_cast<double>(s.samples), 0),
                          number(s.time_s, 2),
                          number(g.planned_m, 2),
                          number(s.driven_m, 2),
                          maybe(ratio, 3),
                          of(e.mean, 3),
                          of(e.mean_abs, 3),
                          of(e.rms, 3),
                          of(e.p95, 3),
                          of(e.max, 3),
                          of(e.sd, 3),
                          of(degrees(s.heading_rad.mean_abs), 2),
                          of(degrees(s.heading_rad.max), 2),
                          maybe(s.progress_speed_mps, 3),
                          maybe(s.speed_of_commanded, 3),
                          count(g.reversals),
                          grade(racing ? tracks::grade_racing(e) : tracks::grade_indoor_distance(e.mean_abs)),
                          grade(tracks::grade_heading(s.heading_rad.mean_abs)),
                          ratio && *ratio > 0.0 ? grade(tracks::grade_way(*ratio)) : nothing()});
  }
  return table;
}

/// Change of the mean cross-track error per line, by least squares; NaN of fewer than two.
double slope_of(const std::vector<HistoryLine>& lines) {
  const double n = static_cast<double>(lines.size());
  if (lines.size() < 2) return NAN;
  double xy = 0.0;
  double xx = 0.0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const double x = static_cast<double>(i) - 0.5 * (n - 1.0);
    xy += x * lines[i].cte_mean_m;
    xx += x * x;
  }
  return xy / xx;
}

Section trend_of(const std::vector<HistoryLine>& lines, const std::vector<bool>& current, const PathReportOptions& options) {
  constexpr std::size_t kShown = 20;
  Section s;
  s.key = "trend";
  s.title = "Trend";
  s.notes.push_back(
      "how to read it: one line for each goal or lap, the newest last; a slope that is small against the spread of the lines is none");
  s.facts = {{"lines", "goals and laps", count(lines.size())},
             {"slope_mm", "change of the mean cross-track error per line [mm]", number(1000.0 * slope_of(lines), 2)}};
  if (options.max_cte_m) {
    s.facts.push_back({"max_cte_m", "allowed mean [m]", number(*options.max_cte_m)});
    s.facts.push_back({"longest_bad_run", "longest run above it that this recording is part of",
                       count(longest_bad_run(lines, current, *options.max_cte_m))});
  }
  Table table{"history",
              "The last of them",
              "mean, 95th percentile and maximum of the cross-track error",
              {{"recording", "recording"},
               {"kind", "what"},
               {"number", "no"},
               {"cte_mean_m", "mean [m]"},
               {"cte_p95_m", "p95 [m]"},
               {"cte_max_m", "max [m]"},
               {"new", "this one"}},
              {}};
  for (std::size_t i = lines.size() > kShown ? lines.size() - kShown : 0; i < lines.size(); ++i) {
    const HistoryLine& l = lines[i];
    table.rows.push_back({text(l.recording), text(l.kind), count(l.number), number(l.cte_mean_m), number(l.cte_p95_m), number(l.cte_max_m),
                          flag(current[i])});
  }
  s.tables.push_back(std::move(table));
  return s;
}

/// The history with these lines in it; one that is there already is replaced.
Result<std::vector<HistoryLine>> with_history(const std::vector<HistoryLine>& now, const fs::path& file, std::vector<bool>& current) {
  std::vector<HistoryLine> lines;
  std::error_code failed;
  if (!file.empty() && fs::exists(file, failed)) {
    const Result<std::string> old = read_file(file);
    if (!old) return old.error();
    auto parsed = parse_history(*old, file.string());
    if (!parsed) return parsed.error();
    lines = *std::move(parsed);
  }
  current.assign(lines.size(), false);
  for (const HistoryLine& each : now) {
    const auto same = std::find_if(lines.begin(), lines.end(), [&](const HistoryLine& line) { return line.same_as(each); });
    if (same != lines.end()) {
      *same = each;
      current[static_cast<std::size_t>(same - lines.begin())] = true;
    } else {
      lines.push_back(each);
      current.push_back(true);
    }
  }
  return lines;
}

}  // namespace

GatedReport path_report(const fs::path& recording, const PathReportOptions& options) {
  GatedReport report;
  report.document.title = "Path tracking";
  const auto refuse = [&report](const Error& error) {
    report.refused.push_back(error.message);
    return report;
  };
  const Result<Recorded> recorded = record_of(recording, options);
  if (!recorded) return refuse(recorded.error());
  const Result<std::vector<PathGoal>> goals = measured(recording, *recorded, options);
  if (!goals) return refuse(goals.error());
  report.document.warnings = recorded->warnings;
  std::vector<HistoryLine> now;
  for (const PathGoal& goal : *goals) {
    if (goal.stretch.cross_track_m.samples > 0) {
      now.push_back(line_of(recording, goal));
    } else {
      report.document.warnings.push_back(recording.string() + ": " + goal.kind + " " + std::to_string(goal.number) +
                                         ": the vehicle never got going along the path, so that nothing is judged");
    }
  }
  Section section;
  section.key = "path_metrics";
  section.title = recording.string();
  section.notes.push_back("how to read it: compare runs along one plan at one speed; the mean hides corners, p95 and max show them");
  section.facts = {{"recording", "recording", text(recording.string())},
                   {"plan", "plan", text(options.line.empty() ? options.plan_topic : options.line.string())},
                   {"frame", "frame", text(recorded->plan_frame)}};
  section.tables.push_back(goals_table(*goals, !options.line.empty()));
  report.document.sections.push_back(std::move(section));

  std::vector<bool> current;
  const auto lines = with_history(now, options.history, current);
  if (!lines) return refuse(lines.error());
  if (!options.history.empty()) {
    if (const Status written = write_file(options.history, history_text(*lines)); !written) return refuse(written.error());
    report.written.push_back(options.history.string());
  }
  report.document.sections.push_back(trend_of(*lines, current, options));
  if (options.max_cte_m) {
    const std::size_t bad = longest_bad_run(*lines, current, *options.max_cte_m);
    if (bad >= options.consecutive || now.empty()) {
      report.failures.push_back(recording.string() + ": " +
                                (now.empty() ? std::string("nothing could be judged")
                                             : "mean cross-track error above " + format_number(*options.max_cte_m, 4) + " m for " +
                                                   std::to_string(bad) + " goals or laps in a row, too many are " +
                                                   std::to_string(options.consecutive)));
    }
  }
  return report;
}

}  // namespace pitwall::analysis
