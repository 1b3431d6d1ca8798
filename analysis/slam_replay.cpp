// SPDX-License-Identifier: Apache-2.0
#include "analysis/slam_replay.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "analysis/slam_player.hpp"
#include "core/files.hpp"
#include "core/sha256.hpp"
#include "core/text.hpp"
#include "recording/run_folder.hpp"

namespace pitwall::analysis {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kOwnEngine = "pitwall";
constexpr const char* kSettingsFile = "slam.yaml";

bool is_exact_mode(const SlamReplayOptions& options) { return options.mode != ReplayMode::kRate; }

std::string label_of(const SlamReplayOptions& options) {
  if (!options.label.empty()) return options.label;
  if (options.mode == ReplayMode::kAdmitted) return "exact";
  if (options.mode == ReplayMode::kAllScans) return "all-scans";
  return "rate-" + format_number(options.rate, 4);
}

/// Which poses the run has, and that each has its scan.
Result<PosesByStamp> admissions(const SlamRecording& run, const SlamReplayOptions& options) {
  PosesByStamp poses;
  for (const PublishedPose& each : run.poses) poses.try_emplace(each.stamp, each.pose);
  if (!is_exact_mode(options)) return poses;
  if (poses.empty()) return Error{run.path.string() + ": no /pose: an exact replay needs the stamps of the scans that were taken in"};
  std::set<Time> scans;
  const Status read = each_scan(run, [&](const LaserScan& scan, const std::string&, Time) { return scans.insert(scan.stamp), true; });
  if (!read) return read.error();
  std::vector<std::string> without;
  for (const auto& [stamp, pose] : poses) {
    if (!scans.contains(stamp)) without.push_back(std::to_string(stamp.ns));
  }
  if (without.empty()) return poses;
  constexpr std::size_t kNamed = 3;
  const std::string count = std::to_string(without.size());
  without.resize(std::min(kNamed, without.size()));
  return Error{run.path.string() + ": " + count + " of " + std::to_string(poses.size()) +
               " poses have no scan of their stamp, the first at " + join(without) + " ns"};
}

Result<RecordedSettings> settings_for(const SlamRecording& run, const SlamReplayOptions& options) {
  Result<RecordedSettings> settings = recorded_settings(run);
  if (!settings || options.profile.empty()) return settings;
  const auto node = load_yaml(options.profile);
  if (!node) return node.error();
  if (const Status loaded = load_fields(*node, "slam", settings->parameters); !loaded) return loaded.error();
  settings->source += ", " + options.profile.string();
  return settings;
}

/// What the SLAM of the run itself left behind; nothing where it is not one of ours.
Result<std::optional<SlamRecord>> recorded_record(const fs::path& run) {
  std::error_code failed;
  if (!fs::exists(run / "slam.json", failed)) return std::optional<SlamRecord>();
  const auto json = read_file(run / "slam.json");
  if (!json) return json.error();
  auto record = parse_slam_record(*json, (run / "slam.json").string());
  if (!record) return record.error();
  return std::optional<SlamRecord>(*std::move(record));
}

PosesByStamp settled_poses(const SlamRecord& record) {
  PosesByStamp poses;
  for (const RecordedNode& node : record.nodes) poses.try_emplace(node.stamp, recording::Pose3::of(node.settled));
  return poses;
}

/// All that one replay knows.
struct SlamReplayed {
  SlamRecord record;
  PoseSequenceError sequence;
  std::optional<PoseSequenceError> settled;  ///< against the poses at the end of the run, where it has them
  std::string status;                        ///< "exact", "differs", "done", "failed"
  std::string map_saved;                     ///< "yes", or why not
  std::uint64_t given = 0;
  double worst_latency_s = 0.0;
  std::vector<Time> gave_up_after;
  bool must_be_exact = false;
};

Json json_of(const PoseSequenceError& e) {
  return {{"compared", e.compared},
          {"max_position_m", e.max_position_m},
          {"max_heading_deg", e.max_heading_deg},
          {"missing", e.missing},
          {"extra", e.extra}};
}

std::string replay_json(const SlamRecording& run, const SlamReplayOptions& options, const std::string& settings, const SlamReplayed& r) {
  std::size_t busy = 0;
  for (const DroppedScan& drop : r.record.dropped) busy += drop.cause == "busy" ? 1 : 0;
  Json json{{"status", r.status},
            {"mode", options.mode == ReplayMode::kAdmitted   ? "exact"
                     : options.mode == ReplayMode::kAllScans ? "all-scans"
                                                             : "rate"},
            {"source", run.path.string()},
            {"engine", r.record.engine},
            {"engine_version", r.record.version},
            {"build", recording::build_id()},
            {"settings", settings},
            {"odom_frame", run.odom_frame},
            {"base_frame", run.base_frame},
            {"scans", run.scans},
            {"scans_given", r.given},
            {"dropped_busy", busy},
            {"dropped_no_transform", r.record.dropped.size() - busy},
            {"pose_sequence_error", json_of(r.sequence)}};
  if (r.settled) json["settled_pose_error"] = json_of(*r.settled);
  if (options.mode == ReplayMode::kRate) {
    json["rate"] = options.rate;
    json["cost_ms"] = options.cost_ms;
    json["worst_latency_s"] = r.worst_latency_s;
  }
  json["map_saved"] = r.map_saved == "yes" ? Json(true) : Json(r.map_saved);
  json["pose_sha256"] = r.record.pose_sha256;
  Json stamps = Json::array();
  for (const Time stamp : r.gave_up_after) stamps.push_back(stamp.ns);
  json["gave_up_after_ns"] = stamps;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Map, graph and trajectory; says in `map_saved` how the map went.
Status write_products(const SlamEngine& engine, const fs::path& folder, const SlamRecord& record, std::string& map_saved) {
  const auto map = engine.map();
  map_saved = !map ? map.error().message : *map ? "yes" : "the engine makes none";
  if (map && *map) {
    if (const Status saved = tracks::save_map(**map, folder / "map.yaml"); !saved) return saved;
  }
  if (const auto graph = engine.graph()) {
    if (const Status written = write_file(folder / "graph.g2o", recording::to_g2o(*graph)); !written) return written;
    std::vector<recording::StampedPose> trajectory;
    for (const RecordedNode& node : record.nodes) trajectory.push_back({node.stamp, recording::Pose3::of(node.settled)});
    if (const Status written = write_file(folder / "trajectory.tum", recording::to_tum(trajectory)); !written) return written;
  }
  return write_file(folder / "slam.json", to_json(record));
}

Status write_manifest(const SlamRecording& run, const ReplayBag& bag, const std::string& settings_yaml, const fs::path& folder) {
  if (const Status written = write_file(folder / "metadata" / "files" / kSettingsFile, settings_yaml); !written) return written;
  recording::RunManifest manifest = run.manifest.value_or(recording::RunManifest{});
  manifest.run_id = folder.stem().string();
  if (!run.manifest) {
    manifest.clock = "system";
    manifest.start = run.origin;
    manifest.end = run.origin + from_seconds(run.duration_s);
  }
  if (manifest.cars.empty()) manifest.cars.push_back({"car", "", ""});
  manifest.finished = true;
  manifest.build = recording::build_id();
  manifest.trace_hash.clear();
  manifest.files = {{kSettingsFile, "slam_replay", sha256_hex(settings_yaml)}};
  manifest.topics.clear();
  for (const recording::Topic& topic : bag.topics()) {
    const double rate_hz = run.duration_s > 0.0 ? static_cast<double>(topic.message_count) / run.duration_s : 0.0;
    manifest.topics.push_back({topic.name, topic.type, topic.message_count, rate_hz});
  }
  return write_file(folder / "run.json", recording::to_json(manifest));
}

std::string status_of(const SlamReplayed& r, const SlamReplayOptions& options) {
  if (!r.gave_up_after.empty()) return "failed";
  if (!is_exact_mode(options)) return "done";
  return r.sequence.exact() && (!r.settled || r.settled->exact()) ? "exact" : "differs";
}

/// The truth of a simulated run, for the report.
Status copy_truth(const fs::path& run, const fs::path& folder) {
  std::error_code failed;
  const fs::path file = run / "internal.mcap";
  if (!fs::exists(file, failed)) return {};
  if (!fs::copy_file(file, folder / "internal.mcap", failed)) return Error{file.string() + ": cannot be copied: " + failed.message()};
  return {};
}

/// Plays, and writes everything but the name of the folder.
Result<SlamReplayed> replay_into(const fs::path& folder, const SlamRecording& run, const SlamReplayOptions& options,
                                 const RecordedSettings& settings, const PosesByStamp& recorded, const std::optional<SlamRecord>& before) {
  auto bag = ReplayBag::create(folder / "bag", run.odom_frame);
  if (!bag) return bag.error();
  slam::SlamParameters parameters = settings.parameters;
  if (options.mode == ReplayMode::kAdmitted) parameters.admission.mode = slam::AdmissionMode::kEvery;
  SlamPlayer player(run, options, parameters, recorded, *bag);
  if (const Status played = player.play(); !played) return played.error();
  if (player.engine() == nullptr) return Error{run.path.string() + ": no scan could be given: odometry covers none of them"};
  if (const Status closed = bag->close(); !closed) return closed.error();
  SlamReplayed r;
  r.record = player.engine()->record();
  r.record.odom_frame = run.odom_frame;
  r.record.base_frame = run.base_frame;
  r.record.dropped = player.dropped();
  r.given = player.given();
  r.worst_latency_s = player.worst_latency_s();
  r.gave_up_after = player.gave_up_after();
  r.sequence = pose_sequence_error(recorded, player.poses());
  const bool same_engine = before && before->engine == r.record.engine && before->version == r.record.version;
  if (same_engine && is_exact_mode(options)) r.settled = pose_sequence_error(settled_poses(*before), settled_poses(r.record));
  r.must_be_exact = options.profile.empty() && is_exact_mode(options) && (same_engine || options.engine == ReplayEngine::kRecorded);
  r.status = status_of(r, options);
  if (const Status written = write_products(*player.engine(), folder, r.record, r.map_saved); !written) return written.error();
  if (const Status copied = copy_truth(run.path, folder); !copied) return copied.error();
  // The settings as recorded: what a replay of the replay needs.
  if (const Status written = write_manifest(run, *bag, to_yaml(save_fields(settings.parameters)), folder); !written) return written.error();
  if (const Status written = write_file(folder / "replay.json", replay_json(run, options, settings.source, r)); !written)
    return written.error();
  return r;
}

Section section_of(const fs::path& folder, const SlamRecording& run, const SlamReplayOptions& options, const RecordedSettings& settings,
                   const SlamReplayed& r) {
  Section s;
  s.key = "slam_replay";
  s.title = run.path.string();
  s.notes.push_back(
      "how to read it: exact means that every pose came again with the very same numbers; another engine than that of the run, other "
      "settings, or --rate give other poses, and the differences below are then what that changed");
  s.facts = {{"status", "status", text(r.status)},
             {"out", "written to", text(folder.string())},
             {"engine", "engine", text(r.record.engine)},
             {"settings", "settings", text(settings.source)},
             {"odom_frame", "odometry frame", text(run.odom_frame)},
             {"scans", "scans recorded", number(static_cast<double>(run.scans), 0)},
             {"scans_given", "of them given to the engine", number(static_cast<double>(r.given), 0)},
             {"dropped", "dropped", count(r.record.dropped.size())},
             {"poses", "poses compared", count(r.sequence.compared)},
             {"missing", "recorded, but not replayed", count(r.sequence.missing)},
             {"extra", "replayed, but not recorded", count(r.sequence.extra)},
             {"max_position_m", "largest difference of position [m]", number(r.sequence.max_position_m, 6)},
             {"max_heading_deg", "of heading [deg]", number(r.sequence.max_heading_deg, 6)}};
  if (r.settled) {
    s.facts.push_back({"settled_max_position_m", "of the poses at the end [m]", number(r.settled->max_position_m, 6)});
    s.facts.push_back({"settled_max_heading_deg", "of the headings at the end [deg]", number(r.settled->max_heading_deg, 6)});
  }
  if (options.mode == ReplayMode::kRate) {
    s.facts.push_back({"worst_latency_s", "latest pose after its scan, by the stated cost [s]", number(r.worst_latency_s, 4)});
  }
  s.facts.push_back({"map_saved", "map saved", text(r.map_saved)});
  s.facts.push_back({"pose_sha256", "SHA-256 of the poses", text(r.record.pose_sha256)});
  return s;
}

void judge(GatedReport& report, const SlamReplayOptions& options, const SlamReplayed& r) {
  const auto stamp_text = [](Time t) { return std::to_string(t.ns); };
  if (!r.gave_up_after.empty()) {
    std::vector<std::string> stamps;
    std::transform(r.gave_up_after.begin(), r.gave_up_after.end(), std::back_inserter(stamps), stamp_text);
    report.gate.at_most("poses in a row that did not come (" + join(stamps) + " ns)", 0.0, static_cast<double>(stamps.size()));
  }
  if (r.must_be_exact)
    report.gate.at_most("replays that are not exact, with engine and settings of the run", 0.0, r.status == "exact" ? 0.0 : 1.0);
  report.gate.at_most("difference of a pose", options.max_position_m, r.sequence.max_position_m, "m");
  report.gate.at_most("poses missing", options.max_missing, static_cast<double>(r.sequence.missing));
}

}  // namespace

fs::path slam_replay_folder(const fs::path& run, const SlamRecording& recording, const SlamReplayOptions& options) {
  fs::path source = fs::absolute(run).lexically_normal();
  if (!source.has_filename()) source = source.parent_path();
  std::string odom = recording.odom_frame;
  std::replace(odom.begin(), odom.end(), '/', '-');
  const fs::path root = options.out_root.empty() ? source.parent_path() : options.out_root;
  return root / (source.stem().string() + "-replay-" + odom + "-" + label_of(options));
}

GatedReport slam_replay(const fs::path& run, const SlamReplayOptions& options) {
  GatedReport report;
  report.document.title = "SLAM, replayed";
  const auto refuse = [&report](const Error& error) {
    report.refused.push_back(error.message);
    return report;
  };
  const auto recording = load_slam_recording(run, {options.odom_frame, options.progress});
  if (!recording) return refuse(recording.error());
  if (recording->scan_topic.empty()) return refuse({run.string() + ": no scans: neither /scan nor one other topic of their type"});
  const fs::path folder = slam_replay_folder(run, *recording, options);
  std::error_code failed;
  if (fs::exists(folder, failed)) return refuse({folder.string() + ": exists; give another --label or --out-root"});
  const auto settings = settings_for(*recording, options);
  if (!settings) return refuse(settings.error());
  const auto before = recorded_record(run);
  if (!before) return refuse(before.error());
  const auto poses = admissions(*recording, options);
  if (!poses) return refuse(poses.error());

  const fs::path beside = folder.string() + ".part";
  fs::remove_all(beside, failed);
  Result<SlamReplayed> replayed = replay_into(beside, *recording, options, *settings, *poses, *before);
  if (replayed) {
    fs::rename(beside, folder, failed);
    if (failed) replayed = Error{folder.string() + ": cannot be made: " + failed.message()};
  }
  if (!replayed) {
    fs::remove_all(beside, failed);
    return refuse(replayed.error());
  }
  report.document.warnings = recording->warnings;
  report.document.sections.push_back(section_of(folder, *recording, options, *settings, *replayed));
  report.written.push_back(folder.string());
  judge(report, options, *replayed);
  report.gate.add_to(report.document);
  return report;
}

}  // namespace pitwall::analysis
