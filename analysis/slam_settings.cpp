// SPDX-License-Identifier: Apache-2.0
// With which settings a recorded SLAM ran.
#include <array>
#include <string_view>
#include <system_error>

#include "analysis/slam_recording.hpp"
#include "analysis/slam_replay.hpp"
#include "core/text.hpp"

namespace pitwall::analysis {

namespace {

struct ToolboxNumber {
  std::string_view name;
  double* value;
};

// What slam_toolbox and our engine both have.
bool take_toolbox(const SlamRecording& run, slam::SlamParameters& p) {
  double throttle = static_cast<double>(p.admission.toolbox_throttle_scans);
  const std::array<ToolboxNumber, 6> numbers{{{"minimum_travel_distance", &p.admission.toolbox_min_distance_m},
                                              {"minimum_travel_heading", &p.admission.toolbox_min_heading_rad},
                                              {"minimum_time_interval", &p.admission.toolbox_min_interval_s},
                                              {"throttle_scans", &throttle},
                                              {"resolution", &p.map.resolution_m},
                                              {"max_laser_range", &p.map.max_range_m}}};
  bool any = false;
  for (const ToolboxNumber& number : numbers) {
    const auto found = run.slam_parameters.find(std::string(number.name));
    const auto value = found == run.slam_parameters.end() ? std::nullopt : parse_double(found->second);
    if (!value) continue;
    *number.value = *value;
    any = true;
  }
  p.admission.toolbox_throttle_scans = static_cast<std::int64_t>(throttle);
  if (any) p.admission.mode = slam::AdmissionMode::kSlamToolbox;
  return any;
}

}  // namespace

Result<RecordedSettings> recorded_settings(const SlamRecording& run) {
  RecordedSettings settings;
  const std::filesystem::path file = run.path / "metadata" / "files" / "slam.yaml";
  std::error_code failed;
  if (std::filesystem::exists(file, failed)) {
    const auto node = load_yaml(file);
    if (!node) return node.error();
    if (const Status loaded = load_fields(*node, "slam", settings.parameters); !loaded) return loaded.error();
    settings.source = "metadata/files/slam.yaml";
    return settings;
  }
  settings.source = take_toolbox(run, settings.parameters) ? "slam_toolbox by /parameter_events" : "defaults";
  if (const Status checked = check_fields("slam", settings.parameters); !checked)
    return Error{run.path.string() + ": " + checked.error().message};
  return settings;
}

}  // namespace pitwall::analysis
