// SPDX-License-Identifier: Apache-2.0
#include "analysis/slam_record.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace pitwall::analysis {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Pose2& pose) { return Json::array({pose.x, pose.y, pose.yaw}); }

Pose2 pose_in(const Json& json) { return {json.at(0).get<double>(), json.at(1).get<double>(), json.at(2).get<double>()}; }

RecordedNode node_in(const Json& json) {
  return {Time{json.at("stamp_ns").get<std::int64_t>()},
          json.at("placement").get<std::string>(),
          json.at("degenerate").get<bool>(),
          json.at("flagged").get<bool>(),
          pose_in(json.at("odom")),
          pose_in(json.at("live")),
          pose_in(json.at("settled"))};
}

RecordedClosure closure_in(const Json& json) {
  return {json.at("node").get<std::int64_t>(),      json.at("other").get<std::int64_t>(),
          json.at("outcome").get<std::string>(),    json.at("searched").get<bool>(),
          json.at("coarse_response").get<double>(), json.at("response").get<double>(),
          json.at("ambiguity").get<double>(),       json.at("chi2").get<double>(),
          json.at("chi2_rise").get<double>()};
}

SlamRecord record_in(const Json& json) {
  SlamRecord record;
  record.engine = json.at("engine").get<std::string>();
  record.version = json.at("version").get<std::int64_t>();
  record.odom_frame = json.at("odom_frame").get<std::string>();
  record.base_frame = json.at("base_frame").get<std::string>();
  record.counts = json.at("counts").get<std::map<std::string, std::int64_t>>();
  for (const Json& node : json.at("nodes")) record.nodes.push_back(node_in(node));
  for (const Json& closure : json.at("closures")) record.closures.push_back(closure_in(closure));
  for (const Json& drop : json.at("dropped")) {
    record.dropped.push_back({Time{drop.at("arrival_ns").get<std::int64_t>()}, drop.at("cause").get<std::string>()});
  }
  record.edges = json.at("edges").get<std::int64_t>();
  record.chi2 = json.at("chi2").get<double>();
  const Json& unlinked = json.at("nearest_unlinked_m");
  record.nearest_unlinked_m = unlinked.is_null() ? NAN : unlinked.get<double>();
  record.ghost_cells = json.at("ghost_cells").get<std::int64_t>();
  record.pose_sha256 = json.at("pose_sha256").get<std::string>();
  return record;
}

}  // namespace

std::string to_json(const SlamRecord& record) {
  Json nodes = Json::array();
  for (const RecordedNode& n : record.nodes) {
    nodes.push_back({{"stamp_ns", n.stamp.ns},
                     {"placement", n.placement},
                     {"degenerate", n.degenerate},
                     {"flagged", n.flagged},
                     {"odom", json_of(n.T_odom_base)},
                     {"live", json_of(n.live)},
                     {"settled", json_of(n.settled)}});
  }
  Json closures = Json::array();
  for (const RecordedClosure& c : record.closures) {
    closures.push_back({{"node", c.node},
                        {"other", c.other},
                        {"outcome", c.outcome},
                        {"searched", c.searched},
                        {"coarse_response", c.coarse_response},
                        {"response", c.response},
                        {"ambiguity", c.ambiguity},
                        {"chi2", c.chi2},
                        {"chi2_rise", c.chi2_rise}});
  }
  Json dropped = Json::array();
  for (const DroppedScan& d : record.dropped) dropped.push_back({{"arrival_ns", d.arrival.ns}, {"cause", d.cause}});
  const Json json{{"schema", SlamRecord::kSchema},
                  {"engine", record.engine},
                  {"version", record.version},
                  {"odom_frame", record.odom_frame},
                  {"base_frame", record.base_frame},
                  {"counts", record.counts},
                  {"edges", record.edges},
                  {"chi2", record.chi2},
                  {"nearest_unlinked_m", record.nearest_unlinked_m},
                  {"ghost_cells", record.ghost_cells},
                  {"pose_sha256", record.pose_sha256},
                  {"closures", closures},
                  {"dropped", dropped},
                  {"nodes", nodes}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<SlamRecord> parse_slam_record(std::string_view text, const std::string& name) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return Error{name + ": is no JSON object"};
  try {
    if (const auto schema = json.at("schema").get<std::int64_t>(); schema != SlamRecord::kSchema) {
      return Error{name + ": schema " + std::to_string(schema) + " is not known; this build reads " + std::to_string(SlamRecord::kSchema)};
    }
    return record_in(json);
  } catch (const Json::exception& e) {
    return Error{name + ": " + e.what()};
  }
}

}  // namespace pitwall::analysis
