// SPDX-License-Identifier: Apache-2.0
#include "scenarios/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/car.hpp"
#include "core/text.hpp"

namespace pitwall::scenarios {
namespace {

using Json = nlohmann::json;

/// Names of files may hold bytes that are no UTF-8, which JSON cannot.
std::string text_of(const Json& json, int indent = -1) { return json.dump(indent, ' ', false, Json::error_handler_t::replace); }

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

/// JSON has no infinities: null stands for "none".
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json contact_json(const Outcome& outcome) {
  Json json = Json::object();
  const auto& contact = outcome.contact;
  json["contact_at_s"] = contact ? number(contact->at_s) : Json(nullptr);
  json["contact_partner"] = contact ? Json(contact->partner) : Json(nullptr);
  json["contact_point_m"] = contact ? Json{contact->point_map.x, contact->point_map.y} : Json(nullptr);
  json["contact_closing_speed_mps"] = contact ? number(contact->closing_speed_mps) : Json(nullptr);
  json["contact_speed_mps"] = contact ? number(contact->speed_mps) : Json(nullptr);
  const bool with_car = contact && contact->partner_in_car;
  json["contact_longitudinal_m"] = with_car ? number(contact->partner_in_car->x) : Json(nullptr);
  json["contact_lateral_m"] = with_car ? number(contact->partner_in_car->y) : Json(nullptr);
  json["contact_during_overtake"] = contact ? Json(contact->during_overtake) : Json(nullptr);
  json["contact_safety_tier"] = contact ? Json(contact->layer) : Json(nullptr);
  json["contact_forward_scan_m"] = contact ? number(contact->forward_scan_m) : Json(nullptr);
  return json;
}

Json grip_json(const GripSummary& grip) {
  return {{"grip_limit_mps2", number(grip.limit_mps2)},
          {"grip_limit_g", number(grip.limit_mps2 / kGravity_mps2)},
          {"grip_limited_steps", grip.limited_steps},
          {"grip_limited_fraction", grip.steps > 0 ? static_cast<double>(grip.limited_steps) / static_cast<double>(grip.steps) : 0.0},
          {"max_demanded_lateral_mps2", number(grip.max_demanded_lateral_mps2)},
          {"max_allowed_lateral_mps2", number(grip.max_allowed_lateral_mps2)},
          {"min_lateral_budget_mps2", number(grip.min_lateral_budget_mps2)}};
}

Json failure_json(const std::optional<Failure>& failure) {
  if (!failure) return nullptr;
  return {{"what", failure->what},
          {"at_s", number(failure->at_s)},
          {"track_s_m", number(failure->track_s_m)},
          {"where_m", {number(failure->where.x), number(failure->where.y)}}};
}

Json optional_number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

Json faults_json(const std::vector<FaultOutcome>& faults) {
  Json json = Json::array();
  for (const FaultOutcome& f : faults) {
    json.push_back({{"name", f.name},
                    {"kind", f.kind},
                    {"car", f.car},
                    {"start_s", number(f.start_s)},
                    {"length_s", number(f.length_s)},
                    {"size", number(f.size)},
                    {"seed", f.seed},
                    {"expect", f.expect},
                    {"began_s", optional_number(f.began_s)},
                    {"ended_s", optional_number(f.ended_s)},
                    {"answered_s", optional_number(f.answered_s)},
                    {"allowed_s", optional_number(f.allowed_s)},
                    {"answer", f.answer},
                    {"resumed", f.resumed},
                    {"max_cross_track_m", number(f.max_cross_track_m)},
                    {"passed", f.passed}});
  }
  return json;
}

Json course_json(const CourseOutcome& course) {
  Json phases = Json::array();
  for (const auto& [name, at_s] : course.phases) phases.push_back({{"phase", name}, {"at_s", optional_number(at_s)}});
  return {{"phases", phases},
          {"distance_m", number(course.distance_m)},
          {"raced_m", number(course.raced_m)},
          {"raced_s", number(course.raced_s)},
          {"laps_mapped", course.laps_mapped},
          {"line_length_m", number(course.line_length_m)},
          {"line_clearance_m", number(course.line_clearance_m)},
          {"scans_dropped", course.scans_dropped}};
}

/// "  fault scan_loss: scan_stale after 0.500 s (allowed 0.525 s)".
std::string fault_text(const FaultOutcome& f) {
  std::string text = "  fault " + f.kind + ": ";
  if (!f.began_s) return text + "never acted";
  if (f.expect == "nothing") return text + "driven through";
  if (!f.answered_s) return text + (f.expect == "stop" ? "not answered" : "not recovered");
  text += (f.expect == "stop" ? f.answer : std::string("back on the line")) + " after " + format_fixed(*f.answered_s, 3) + " s";
  return text + " (allowed " + (f.allowed_s ? format_fixed(*f.allowed_s, 3) : std::string("-")) + " s)";
}

double counter(const Outcome& outcome, std::string_view wanted) {
  for (const auto& [name, value] : outcome.counters) {
    if (name == wanted) return value;
  }
  return 0.0;
}

/// What the controller says of itself: everything under "controller", and at the top the names that reports have always had.
Json counters_json(const Outcome& outcome) {
  Json json = {{"controller", Json::object()}, {"overtake_active_at_end", counter(outcome, "overtake_active") != 0.0}};
  for (const auto& [name, value] : outcome.counters) json["controller"][name] = number(value);
  for (const char* name : {"avoid_steps", "detection_steps", "overtake_starts", "declined_overtakes"})
    json[name] = number(counter(outcome, name));
  const double side = counter(outcome, "last_pass_side");
  json["last_pass_side"] = side > 0.0 ? Json("left") : side < 0.0 ? Json("right") : Json(nullptr);
  return json;
}

Json outcome_json(const Outcome& o) {
  Json json = {
      {"scenario", o.scenario},
      {"track", o.track},
      {"raceline", o.raceline},
      {"car", o.car},
      {"fidelity_profile", o.fidelity_profile},
      {"seed", o.seed},
      {"passed", o.passed},
      {"interrupted", o.interrupted},
      {"failure", failure_json(o.failure)},
      {"faults", faults_json(o.faults)},
      {"trace_hash", o.trace_hash},
      {"steps", o.steps},
      {"sim_time_s", number(o.sim_time_s)},
      {"wall_time_s", number(o.wall_time_s)},
      {"cpu_time_s", number(o.cpu_time_s)},
      {"collision", o.collision},
      {"off_map", o.off_map},
      {"contact_steps", o.contact_steps},
      {"opponent_collision", o.opponent_collision},
      {"laps", o.laps},
      {"lap_time_s", o.lap_time_s ? number(*o.lap_time_s) : Json(nullptr)},
      {"accumulated_progress_m", number(o.accumulated_progress_m)},
      {"track_length_m", number(o.track_length_m)},
      {"progress_laps", o.track_length_m > 0.0 ? number(o.accumulated_progress_m / o.track_length_m) : Json(nullptr)},
      {"opponent_laps", o.opponent_laps},
      {"completed_passes", o.completed_passes},
      {"max_cross_track_m", number(o.max_cross_track_m)},
      {"mean_cross_track_m", number(o.mean_cross_track_m)},
      {"p95_cross_track_m", number(o.p95_cross_track_m)},
      {"line_length_m", number(o.line_length_m)},
      {"profile_min_mps", number(o.profile_min_mps)},
      {"profile_max_mps", number(o.profile_max_mps)},
      {"estimated_lap_time_s", number(o.estimated_lap_time_s)},
      {"min_clearance_m", number(o.min_clearance_m)},
      {"min_forward_scan_m", number(o.min_forward_scan_m)},
      {"mean_corridor_offset_m", number(o.mean_corridor_offset_m)},
      {"corridor_samples", o.corridor_samples},
      {"stop_steps", o.stop_steps},
      {"reasons", Json::object()},
      {"min_commanded_speed_mps", number(o.min_commanded_speed_mps)},
      {"max_commanded_speed_mps", number(o.max_commanded_speed_mps)},
      {"final_speed_mps", number(o.final_speed_mps)},
      {"final_pose", {number(o.final_pose.x), number(o.final_pose.y), number(o.final_pose.yaw)}},
      {"max_pose_error_m", number(o.max_pose_error_m)},
      {"dropped_beams", o.dropped_beams},
  };
  for (const auto& [reason, count] : o.reasons) json["reasons"][reason] = count;
  json["cars"] = Json::array();
  for (const CarOutcome& car : o.cars) {
    json["cars"].push_back({{"name", car.name},
                            {"laps", car.laps},
                            {"progress_m", number(car.progress_m)},
                            {"wall_contacts", car.wall_contacts},
                            {"car_contacts", car.car_contacts},
                            {"lead_changes", car.lead_changes},
                            {"longest_stall_s", number(car.longest_stall_s)}});
  }
  if (o.course) json["course"] = course_json(*o.course);
  if (!o.replay.empty()) json["replay"] = o.replay;
  json.update(counters_json(o));
  json.update(grip_json(o.grip));
  json.update(contact_json(o));
  return json;
}

std::string xml_escaped(const std::string& text) {
  std::string escaped;
  // XML is UTF-8 too; what is none is replaced just as in JSON.
  for (const char c : Json::parse(text_of(text)).get<std::string>()) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        // XML has no control characters, not even escaped.
        escaped += c >= 0 && c < ' ' && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return escaped;
}

std::string failure_text(const Failure& failure) {
  return failure.what + " at t = " + format_fixed(failure.at_s, 2) + " s, s = " + format_fixed(failure.track_s_m, 1) + " m, (" +
         format_fixed(failure.where.x, 2) + ", " + format_fixed(failure.where.y, 2) + ")";
}

}  // namespace

bool Report::passed() const {
  return !results.empty() && static_cast<std::int64_t>(results.size()) == planned &&
         std::all_of(results.begin(), results.end(), [](const Outcome& o) { return o.passed; });
}

std::string human_line(const Outcome& o) {
  std::string line = o.passed ? "PASS" : o.interrupted ? "STOP" : "FAIL";
  line += "  " + padded(o.scenario, 12) + "  " + padded(o.track, 14) + "  seed " + std::to_string(o.seed);
  line += "  lap " + (o.lap_time_s ? format_fixed(*o.lap_time_s, 2) + " s" : std::string("-"));
  line += "  cross-track max " + format_fixed(o.max_cross_track_m, 3) + " m";
  line += "  clearance " + format_fixed(o.min_clearance_m, 2) + " m";
  line += "  stops " + std::to_string(o.stop_steps);
  if (o.completed_passes > 0 || o.scenario.find("traffic") != std::string::npos) line += "  passes " + std::to_string(o.completed_passes);
  if (o.course) {
    line += "  mapped " + std::to_string(o.course->laps_mapped) + " laps, raced " + format_fixed(o.course->raced_m, 1) + " m in " +
            format_fixed(o.course->raced_s, 1) + " s, in all " + format_fixed(o.course->distance_m, 1) + " m";
  }
  for (const FaultOutcome& fault : o.faults) line += fault_text(fault);
  if (o.failure) line += "  | " + failure_text(*o.failure);
  return line;
}

std::string human_summary(const Report& report) {
  const auto passed = std::count_if(report.results.begin(), report.results.end(), [](const Outcome& o) { return o.passed; });
  std::string text = std::to_string(passed) + " of " + std::to_string(report.planned) + " scenarios passed";
  if (report.interrupted) text += " (interrupted after " + std::to_string(report.results.size()) + ")";
  text += "; car " + report.car + ", profile " + report.fidelity_profile;
  double simulated_s = 0.0;
  double cpu_s = 0.0;
  for (const Outcome& o : report.results) {
    simulated_s += o.sim_time_s;
    cpu_s += o.cpu_time_s;
  }
  if (cpu_s > 0.0)
    text += "; " + format_fixed(simulated_s, 0) + " s simulated at " + format_fixed(simulated_s / cpu_s, 0) + " x real time (one core)";
  text += ".\n";
  text += "A pass in simulation is not sign-off for the car: " + std::to_string(report.unmeasured_parameters.size()) + " of " +
          std::to_string(report.parameters_total) + " values of this car are STOCK (see `calibration --car " + report.car + "`).";
  return text;
}

std::string json_line(const Outcome& outcome) { return text_of(outcome_json(outcome)); }

std::string json_summary(const Report& report) {
  const auto passed = std::count_if(report.results.begin(), report.results.end(), [](const Outcome& o) { return o.passed; });
  return text_of(Json{{"summary", report.passed() ? "PASS" : "FAIL"},
                      {"scenarios", report.planned},
                      {"passed", passed},
                      {"interrupted", report.interrupted}});
}

std::string json_report(const Report& report) {
  const Outcome first = report.results.empty() ? Outcome{} : report.results.front();
  Json json = {
      {"schema_version", 2},
      {"program", "pitwall run_validation " PITWALL_VERSION},
      {"seed", report.seed},
      {"control_rate_hz", report.control_rate_hz},
      {"fidelity_profile", report.fidelity_profile},
      {"car", report.car},
      {"lidar_beams", first.lidar_beams},
      {"surface_friction", number(first.surface_friction)},
      {"grip_limit_mps2", number(first.grip.limit_mps2)},
      {"unmeasured_parameters", report.unmeasured_parameters},
      {"parameters_total", report.parameters_total},
      {"note", "A pass in simulation is not sign-off for the car: " + std::to_string(report.unmeasured_parameters.size()) + " of " +
                   std::to_string(report.parameters_total) + " values are STOCK."},
      {"interrupted", report.interrupted},
      {"scenarios", report.planned},
      {"passed", report.passed()},
      {"results", Json::array()},
  };
  for (const Outcome& outcome : report.results) json["results"].push_back(outcome_json(outcome));
  return text_of(json, 2) + "\n";
}

std::string junit_xml(const Report& report) {
  const auto failed = std::count_if(report.results.begin(), report.results.end(), [](const Outcome& o) { return !o.passed; });
  double total_s = 0.0;
  for (const Outcome& o : report.results) total_s += o.wall_time_s;
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"run_validation\" tests=\"" +
                    std::to_string(report.results.size()) + "\" failures=\"" + std::to_string(failed) + "\" time=\"" +
                    format_fixed(total_s, 3) + "\">\n";
  for (const Outcome& o : report.results) {
    xml += "  <testcase classname=\"" + xml_escaped(o.scenario) + "\" name=\"" + xml_escaped(o.track) + " seed " + std::to_string(o.seed) +
           "\" time=\"" + format_fixed(o.wall_time_s, 3) + "\">\n";
    if (!o.passed) {
      const std::string why = o.failure ? failure_text(*o.failure) : "interrupted";
      xml += "    <failure message=\"" + xml_escaped(why) + "\"/>\n";
    }
    xml += "    <system-out>" + xml_escaped(human_line(o)) + "\ntrace_hash " + o.trace_hash + "</system-out>\n  </testcase>\n";
  }
  return xml + "</testsuite>\n";
}

}  // namespace pitwall::scenarios
