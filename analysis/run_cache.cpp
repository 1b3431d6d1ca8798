// SPDX-License-Identifier: Apache-2.0
#include "analysis/run_cache.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace pitwall::analysis {

namespace {

using RunJson = nlohmann::json;

/// Shows every column of a series with its name, one group a call; the sizes within a group agree.
template <class Gathered, class Visit>
void each_gathered_column(Gathered& g, Visit visit) {
  using Column = std::conditional_t<std::is_const_v<Gathered>, const std::vector<double>, std::vector<double>>;
  using Columns = std::vector<std::pair<const char*, Column*>>;
  const auto command = [&](const std::string& name, auto& s) {
    visit(name, Columns{{"t_s", &s.t_s},
                        {"arrival_s", &s.arrival_s},
                        {"speed_mps", &s.speed_mps},
                        {"steering_rad", &s.steering_rad},
                        {"yaw_rate_radps", &s.yaw_rate_radps},
                        {"acceleration_mps2", &s.acceleration_mps2}});
  };
  command("command", g.run.command);
  command("drive", g.run.drive);
  command("teleop", g.run.teleop);
  auto& o = g.run.odometry;
  visit("odometry", Columns{{"t_s", &o.t_s},
                            {"arrival_s", &o.arrival_s},
                            {"x_m", &o.x_m},
                            {"y_m", &o.y_m},
                            {"yaw_rad", &o.yaw_rad},
                            {"speed_mps", &o.speed_mps},
                            {"yaw_rate_radps", &o.yaw_rate_radps}});
  auto& i = g.run.imu;
  visit("imu", Columns{{"t_s", &i.t_s},
                       {"arrival_s", &i.arrival_s},
                       {"gyro_x", &i.gyro_x},
                       {"gyro_y", &i.gyro_y},
                       {"gyro_z", &i.gyro_z},
                       {"accel_x", &i.accel_x},
                       {"accel_y", &i.accel_y},
                       {"accel_z", &i.accel_z}});
  auto& p = g.run.pose;
  visit("pose", Columns{{"t_s", &p.t_s}, {"arrival_s", &p.arrival_s}, {"x_m", &p.x_m}, {"y_m", &p.y_m}, {"yaw_rad", &p.yaw_rad}});
  visit("joy", Columns{{"arrival_s", &g.run.joy.arrival_s}, {"pressed", &g.run.joy.pressed}});
  visit("scan", Columns{{"t_s", &g.run.scan.t_s}, {"arrival_s", &g.run.scan.arrival_s}, {"beams", &g.run.scan.beams}});
  auto& t = g.run.truth;
  visit("truth", Columns{{"t_s", &t.t_s},
                         {"x_m", &t.x_m},
                         {"y_m", &t.y_m},
                         {"yaw_rad", &t.yaw_rad},
                         {"speed_mps", &t.speed_mps},
                         {"lateral_mps", &t.lateral_mps},
                         {"yaw_rate_radps", &t.yaw_rate_radps},
                         {"steering_rad", &t.steering_rad}});
  auto& m = g.motion;
  visit("motion", Columns{{"begin_s", &m.begin_s},
                          {"end_s", &m.end_s},
                          {"speed_mps", &m.speed_mps},
                          {"lateral_mps", &m.lateral_mps},
                          {"yaw_rate_radps", &m.yaw_rate_radps},
                          {"speed_sigma_mps", &m.speed_sigma_mps},
                          {"yaw_sigma_radps", &m.yaw_sigma_radps},
                          {"speed_seen", &m.speed_seen},
                          {"yaw_seen", &m.yaw_seen},
                          {"residual_m", &m.residual_m}});
  if (!g.replayed) return;
  auto& d = g.replayed->calls;
  visit("calls", Columns{{"t_s", &d.t_s},
                         {"recorded_steering_rad", &d.recorded_steering_rad},
                         {"recorded_speed_mps", &d.recorded_speed_mps},
                         {"recorded_reason", &d.recorded_reason},
                         {"recorded_layer", &d.recorded_layer},
                         {"recorded_beam", &d.recorded_beam},
                         {"steering_rad", &d.steering_rad},
                         {"speed_mps", &d.speed_mps},
                         {"reason", &d.reason},
                         {"layer", &d.layer},
                         {"beam", &d.beam},
                         {"ttc_s", &d.ttc_s}});
}

/// The numbers of a stop, each a column of its own.
template <class Stop, class Visit>
void each_number(Stop& s, Visit visit) {
  visit("ttc_s", s.ttc_s);
  visit("measured_speed_mps", s.measured_speed_mps);
  visit("steering_rad", s.steering_rad);
  visit("bearing_rad", s.geometry.bearing_rad);
  visit("range_m", s.geometry.range_m);
  visit("x_m", s.geometry.point_base.x);
  visit("y_m", s.geometry.point_base.y);
  visit("path_offset_m", s.geometry.path_offset_m);
  visit("outside_m", s.geometry.outside_m);
  visit("curvature_1pm", s.geometry.curvature);
  visit("clear_m", s.geometry.clear_m);
  visit("clear_padded_m", s.geometry.clear_padded_m);
  visit("speed_mps", s.geometry.speed_mps);
  visit("stopping_m", s.geometry.stopping_m);
}

RunJson notes_of(const StopEvent& s) {
  return {{"first", s.first},
          {"last", s.last},
          {"layer", s.layer},
          {"reason", s.reason},
          {"speed_is_command", s.speed_is_command},
          {"beam", s.geometry.beam},
          {"clear_beam", s.geometry.clear_beam},
          {"verdict", static_cast<int>(s.geometry.verdict)},
          {"scan",
           {s.scan.stamp.ns, s.scan.angle_min, s.scan.angle_max, s.scan.angle_increment, s.scan.time_increment, s.scan.scan_time,
            s.scan.range_min, s.scan.range_max}},
          {"beams", s.scan.ranges.size()}};
}

void read_notes(const RunJson& note, StopEvent& s) {
  s.first = note.at("first").get<std::size_t>();
  s.last = note.at("last").get<std::size_t>();
  s.layer = note.at("layer").get<std::string>();
  s.reason = note.at("reason").get<std::string>();
  s.speed_is_command = note.at("speed_is_command").get<bool>();
  s.geometry.beam = note.at("beam").get<std::int32_t>();
  s.geometry.clear_beam = note.at("clear_beam").get<std::int32_t>();
  s.geometry.verdict = static_cast<Verdict>(note.at("verdict").get<int>());
  const RunJson& scan = note.at("scan");
  s.scan.stamp.ns = scan.at(0).get<std::int64_t>();
  s.scan.angle_min = scan.at(1).get<float>();
  s.scan.angle_max = scan.at(2).get<float>();
  s.scan.angle_increment = scan.at(3).get<float>();
  s.scan.time_increment = scan.at(4).get<float>();
  s.scan.scan_time = scan.at(5).get<float>();
  s.scan.range_min = scan.at(6).get<float>();
  s.scan.range_max = scan.at(7).get<float>();
}

RunJson notes_of(const GatheredRun& g) {
  RunJson notes;
  const RunData& run = g.run;
  notes["run"] = {
      {"path", run.path.string()}, {"origin_ns", run.origin.ns}, {"duration_s", run.duration_s}, {"scan_period_s", run.scan_period_s},
      {"messages", run.messages},  {"has_ticks", run.has_ticks}, {"damaged", run.damaged},       {"findings", run.findings}};
  notes["car"] = {run.car.name, run.car.controller, run.car.prefix};
  if (run.T_base_lidar) notes["mount"] = {run.T_base_lidar->x, run.T_base_lidar->y, run.T_base_lidar->yaw};
  notes["topics"] = RunJson::array();
  for (const UsedTopic& t : run.topics) {
    notes["topics"].push_back({t.role, t.name, t.type, t.count, t.unreadable, t.zero_stamps, t.backward_stamps, t.rate_hz, t.worst_gap_s,
                               t.median_latency_s, t.clock_shift_s});
  }
  notes["missing"] = RunJson::array();
  for (const MissingTopic& m : run.missing) notes["missing"].push_back({m.role, m.why, m.consequence});
  notes["changes"] = RunJson::array();
  for (const recording::ParameterChange& c : run.parameter_changes) notes["changes"].push_back({c.at.ns, c.name, c.value});
  notes["motion"] = {g.motion.scans, g.motion.out_of_order, g.motion.gaps, g.motion.failed};
  notes["no_replay"] = g.no_replay;
  if (!g.replayed) return notes;
  const DecisionSeries& calls = g.replayed->calls;
  notes["calls"] = {{"approximate", calls.approximate},
                    {"differing", calls.differing},
                    {"first_difference", calls.first_difference},
                    {"notes", calls.notes}};
  notes["stops"] = RunJson::array();
  for (const StopEvent& stop : g.replayed->stops) notes["stops"].push_back(notes_of(stop));
  return notes;
}

void read_notes(const RunJson& notes, GatheredRun& g) {
  RunData& run = g.run;
  const RunJson& about = notes.at("run");
  run.path = about.at("path").get<std::string>();
  run.origin.ns = about.at("origin_ns").get<std::int64_t>();
  run.duration_s = about.at("duration_s").get<double>();
  run.scan_period_s = about.at("scan_period_s").get<double>();
  run.messages = about.at("messages").get<std::uint64_t>();
  run.has_ticks = about.at("has_ticks").get<bool>();
  run.damaged = about.at("damaged").get<bool>();
  run.findings = about.at("findings").get<std::vector<std::string>>();
  const RunJson& car = notes.at("car");
  run.car = {car.at(0).get<std::string>(), car.at(1).get<std::string>(), car.at(2).get<std::string>()};
  if (notes.contains("mount")) {
    const RunJson& mount = notes.at("mount");
    run.T_base_lidar = Pose2{mount.at(0).get<double>(), mount.at(1).get<double>(), mount.at(2).get<double>()};
  }
  for (const RunJson& t : notes.at("topics")) {
    run.topics.push_back({t.at(0).get<std::string>(), t.at(1).get<std::string>(), t.at(2).get<std::string>(), t.at(3).get<std::uint64_t>(),
                          t.at(4).get<std::uint64_t>(), t.at(5).get<std::uint64_t>(), t.at(6).get<std::uint64_t>(), t.at(7).get<double>(),
                          t.at(8).get<double>(), t.at(9).get<double>(), t.at(10).get<double>()});
  }
  for (const RunJson& m : notes.at("missing")) {
    run.missing.push_back({m.at(0).get<std::string>(), m.at(1).get<std::string>(), m.at(2).get<std::string>()});
  }
  for (const RunJson& c : notes.at("changes")) {
    run.parameter_changes.push_back({{c.at(0).get<std::int64_t>()}, c.at(1).get<std::string>(), c.at(2).get<std::string>()});
  }
  const RunJson& motion = notes.at("motion");
  g.motion.scans = motion.at(0).get<std::int64_t>();
  g.motion.out_of_order = motion.at(1).get<std::int64_t>();
  g.motion.gaps = motion.at(2).get<std::int64_t>();
  g.motion.failed = motion.at(3).get<std::int64_t>();
  g.no_replay = notes.at("no_replay").get<std::string>();
  if (!notes.contains("calls")) return;
  g.replayed.emplace();
  const RunJson& calls = notes.at("calls");
  g.replayed->calls.approximate = calls.at("approximate").get<bool>();
  g.replayed->calls.differing = calls.at("differing").get<double>();
  g.replayed->calls.first_difference = calls.at("first_difference").get<std::string>();
  g.replayed->calls.notes = calls.at("notes").get<std::vector<std::string>>();
  for (const RunJson& note : notes.at("stops")) read_notes(note, g.replayed->stops.emplace_back());
}

Status read_stops(const NpzReader& arrays, const RunJson& notes, std::vector<StopEvent>& stops) {
  const auto ranges = arrays.floats("stops/ranges");
  if (!ranges) return Error{"no stops/ranges"};
  std::size_t at = 0;
  for (std::size_t k = 0; k < stops.size(); ++k) {
    const auto beams = notes.at("stops").at(k).at("beams").get<std::size_t>();
    if (beams > ranges->size() - at) return Error{"stops/ranges is too short"};
    stops[k].scan.ranges.assign(ranges->begin() + static_cast<std::ptrdiff_t>(at),
                                ranges->begin() + static_cast<std::ptrdiff_t>(at + beams));
    at += beams;
  }
  StopEvent names;
  Status status;
  each_number(names, [&](const char* name, double& /*value*/) {
    const auto column = arrays.doubles(std::string("stops/") + name);
    if (!column || column->size() != stops.size()) {
      status = Error{std::string("stops/") + name + " is missing or too short"};
      return;
    }
    for (std::size_t k = 0; k < stops.size(); ++k) {
      each_number(stops[k], [&](const char* each, double& value) {
        if (std::string_view(each) == name) value = (*column)[k];
      });
    }
  });
  return status;
}

}  // namespace

NpzWriter pack(const GatheredRun& gathered) {
  NpzWriter writer;
  each_gathered_column(gathered, [&](const std::string& group, const auto& columns) {
    for (const auto& [name, values] : columns) writer.add(group + "/" + name, *values);
  });
  writer.add_text("notes", notes_of(gathered).dump(-1, ' ', false, RunJson::error_handler_t::replace));
  if (!gathered.replayed) return writer;
  const std::vector<StopEvent>& stops = gathered.replayed->stops;
  const StopEvent names;
  each_number(names, [&](const char* name, const double& /*value*/) {
    std::vector<double> column;
    for (const StopEvent& stop : stops) {
      each_number(stop, [&](const char* each, const double& value) {
        if (std::string_view(each) == name) column.push_back(value);
      });
    }
    writer.add(std::string("stops/") + name, column);
  });
  std::vector<float> ranges;
  for (const StopEvent& stop : stops) ranges.insert(ranges.end(), stop.scan.ranges.begin(), stop.scan.ranges.end());
  writer.add("stops/ranges", ranges);
  return writer;
}

Result<GatheredRun> unpack(const NpzReader& arrays) {
  const auto text = arrays.text("notes");
  if (!text) return Error{"no notes"};
  const RunJson notes = RunJson::parse(*text, nullptr, false);
  if (notes.is_discarded()) return Error{"the notes cannot be read"};
  GatheredRun gathered;
  Status status;
  try {
    read_notes(notes, gathered);
    if (gathered.replayed) status = read_stops(arrays, notes, gathered.replayed->stops);
  } catch (const RunJson::exception& wrong) {
    return Error{std::string("the notes are not as expected: ") + wrong.what()};
  }
  each_gathered_column(gathered, [&](const std::string& group, const auto& columns) {
    for (const auto& [name, values] : columns) {
      auto column = arrays.doubles(group + "/" + name);
      if (column) *values = *std::move(column);
      const bool same = column && values->size() == columns.front().second->size();
      if (!same && status) status = Error{group + "/" + name + " is missing or of another length"};
    }
  });
  if (!status) return status.error();
  return gathered;
}

}  // namespace pitwall::analysis
