// SPDX-License-Identifier: Apache-2.0
#include "scenarios/report.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

using namespace pitwall;
using nlohmann::json;

namespace {

scenarios::Outcome passed_lap() {
  scenarios::Outcome outcome;
  outcome.scenario = "pure_solo";
  outcome.track = "oval";
  outcome.seed = 7;
  outcome.passed = true;
  outcome.lap_time_s = 90.214;
  outcome.max_cross_track_m = 0.1234;
  outcome.min_clearance_m = 0.54321;
  outcome.trace_hash = "0123456789abcdef";
  outcome.reasons = {{"drive", 100}};
  outcome.counters = {{"avoid_steps", 3.0}};
  return outcome;
}

scenarios::Outcome failed_lap() {
  scenarios::Outcome outcome = passed_lap();
  outcome.passed = false;
  outcome.lap_time_s.reset();
  outcome.failure = scenarios::Failure{"ego touched <the wall> & \"stopped\"", 12.345, 33.36, {1.5, -2.25}};
  return outcome;
}

scenarios::Report report_of(std::vector<scenarios::Outcome> results) {
  scenarios::Report report;
  report.car = "f1tenth";
  report.fidelity_profile = "car";
  report.unmeasured_parameters = {"mass_kg"};
  report.parameters_total = 39;
  report.planned = static_cast<std::int64_t>(results.size());
  report.results = std::move(results);
  return report;
}

}  // namespace

TEST_CASE("a passed run is one line with its figures") {
  const std::string line = scenarios::human_line(passed_lap());
  CHECK(line.starts_with("PASS  pure_solo"));
  CHECK(line.find("lap 90.21 s") != std::string::npos);
  CHECK(line.find("cross-track max 0.123 m") != std::string::npos);
  CHECK(line.find("clearance 0.54 m") != std::string::npos);
  CHECK(line.find("stops 0") != std::string::npos);
  CHECK(line.find('\n') == std::string::npos);
}

TEST_CASE("a failed run says what, when and where") {
  const std::string line = scenarios::human_line(failed_lap());
  CHECK(line.starts_with("FAIL"));
  CHECK(line.find("lap -") != std::string::npos);
  CHECK(line.find("touched <the wall>") != std::string::npos);
  CHECK(line.find("t = 12.35 s") != std::string::npos);
  CHECK(line.find("s = 33.4 m") != std::string::npos);
  CHECK(line.find("(1.50, -2.25)") != std::string::npos);
}

TEST_CASE("a report passes only if every planned run finished and passed") {
  CHECK(report_of({passed_lap()}).passed());
  CHECK_FALSE(report_of({}).passed());
  CHECK_FALSE(report_of({passed_lap(), failed_lap()}).passed());
  scenarios::Report cut_short = report_of({passed_lap()});
  cut_short.planned = 2;
  CHECK_FALSE(cut_short.passed());
}

TEST_CASE("the summary says how many passed, and that a pass is no sign-off for the car") {
  const std::string text = scenarios::human_summary(report_of({passed_lap(), failed_lap()}));
  CHECK(text.find("1 of 2 scenarios passed") != std::string::npos);
  CHECK(text.find("not sign-off for the car") != std::string::npos);
  CHECK(text.find("1 of 39 values") != std::string::npos);
}

TEST_CASE("the JSON line has sorted keys, the controller's counters and null for what is infinite") {
  scenarios::Outcome outcome = passed_lap();
  outcome.min_forward_scan_m = INFINITY;
  const std::string line = scenarios::json_line(outcome);
  CHECK(line.find('\n') == std::string::npos);
  const json parsed = json::parse(line);
  CHECK(parsed["min_forward_scan_m"].is_null());
  CHECK(parsed["avoid_steps"] == 3.0);
  CHECK(parsed["controller"]["avoid_steps"] == 3.0);
  CHECK(parsed["overtake_starts"] == 0.0);
  CHECK(parsed["last_pass_side"].is_null());
  CHECK(parsed["reasons"]["drive"] == 100);
  CHECK(parsed["contact_at_s"].is_null());
  std::string last;
  for (const auto& [key, value] : parsed.items()) {
    CHECK(last < key);
    last = key;
  }
}

TEST_CASE("what a controller claims never replaces what was true") {
  scenarios::Outcome outcome = passed_lap();
  outcome.completed_passes = 0;
  outcome.counters = {{"completed_passes", 5.0}, {"last_pass_side", -1.0}};
  const json parsed = json::parse(scenarios::json_line(outcome));
  CHECK(parsed["completed_passes"] == 0);
  CHECK(parsed["controller"]["completed_passes"] == 5.0);
  CHECK(parsed["last_pass_side"] == "right");
}

TEST_CASE("a contact with a car carries where that car was") {
  scenarios::Outcome outcome = failed_lap();
  scenarios::ContactSummary contact;
  contact.at_s = 3.5;
  contact.partner = "opponent";
  contact.partner_in_car = Vec2{0.6, -0.1};
  contact.during_overtake = true;
  outcome.contact = contact;
  const json parsed = json::parse(scenarios::json_line(outcome));
  CHECK(parsed["contact_at_s"] == 3.5);
  CHECK(parsed["contact_longitudinal_m"] == 0.6);
  CHECK(parsed["contact_lateral_m"] == -0.1);
  CHECK(parsed["contact_during_overtake"] == true);
}

TEST_CASE("the report file has schema 2 and the verdict") {
  const json parsed = json::parse(scenarios::json_report(report_of({passed_lap(), failed_lap()})));
  CHECK(parsed["schema_version"] == 2);
  CHECK(parsed["passed"] == false);
  CHECK(parsed["results"].size() == 2);
  CHECK(parsed["unmeasured_parameters"][0] == "mass_kg");
  CHECK(json::parse(scenarios::json_summary(report_of({passed_lap()})))["summary"] == "PASS");
}

TEST_CASE("JUnit marks the failures and escapes what XML does not allow") {
  const std::string xml = scenarios::junit_xml(report_of({passed_lap(), failed_lap()}));
  CHECK(xml.find("tests=\"2\" failures=\"1\"") != std::string::npos);
  CHECK(xml.find("touched &lt;the wall&gt; &amp; &quot;stopped&quot;") != std::string::npos);
  CHECK(xml.find("touched <the") == std::string::npos);
}

TEST_CASE("faults are in the JSON and on the line of their run") {
  scenarios::Outcome outcome = passed_lap();
  scenarios::FaultOutcome fault;
  fault.name = "lost";
  fault.kind = "scan_loss";
  fault.car = "ego";
  fault.start_s = 5.0;
  fault.length_s = 1.5;
  fault.seed = 7;
  fault.expect = "stop";
  fault.began_s = 5.0;
  fault.ended_s = 6.5;
  fault.answered_s = 0.5;
  fault.allowed_s = 0.525;
  fault.answer = "scan_stale";
  fault.passed = true;
  outcome.faults = {fault};
  CHECK(scenarios::human_line(outcome).find("fault scan_loss: scan_stale after 0.500 s (allowed 0.525 s)") != std::string::npos);
  const json line = json::parse(scenarios::json_line(outcome));
  REQUIRE(line["faults"].size() == 1);
  CHECK(line["faults"][0]["name"] == "lost");
  CHECK(line["faults"][0]["start_s"] == 5.0);
  CHECK(line["faults"][0]["length_s"] == 1.5);
  CHECK(line["faults"][0]["size"] == 0.0);
  CHECK(line["faults"][0]["seed"] == 7);
  CHECK(line["faults"][0]["answered_s"] == 0.5);
  CHECK(line["faults"][0]["passed"] == true);
  outcome.faults[0].answered_s.reset();
  CHECK(scenarios::human_line(outcome).find("fault scan_loss: not answered") != std::string::npos);
  outcome.faults[0].began_s.reset();
  CHECK(scenarios::human_line(outcome).find("fault scan_loss: never acted") != std::string::npos);
  CHECK(json::parse(scenarios::json_line(outcome))["faults"][0]["began_s"].is_null());
}

TEST_CASE("bytes that are no text do not stop a report, in JSON nor in XML") {
  scenarios::Outcome outcome = failed_lap();
  outcome.track = "odd\xff\x01";
  CHECK(scenarios::json_line(outcome).find("odd\xEF\xBF\xBD\\u0001") != std::string::npos);
  CHECK(scenarios::json_report(report_of({outcome})).find("odd\xEF\xBF\xBD") != std::string::npos);
  CHECK(scenarios::junit_xml(report_of({outcome})).find("odd\xEF\xBF\xBD?") != std::string::npos);
}
