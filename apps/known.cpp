// SPDX-License-Identifier: Apache-2.0
#include "apps/known.hpp"

#include <cstdio>

#include "calibration/car_profile.hpp"
#include "controllers/make.hpp"
#include "core/text.hpp"
#include "scenarios/f1tenth_laps.hpp"
#include "scenarios/resolve.hpp"
#include "tracks/track.hpp"

namespace pitwall::apps {

Status print_list(const std::filesystem::path& data, const tracks::TrackLibrary& library) {
  const auto names = scenarios::scenario_names(data);
  if (!names) return names.error();
  std::printf("scenarios: all, %s\n", join(*names).c_str());
  std::printf("suites:    %s, %s\n", join(scenarios::suite_names(data)).c_str(), std::string(scenarios::kF1tenthLaps).c_str());
  std::printf("tracks:    %s\n", join(tracks::shipped_names(library)).c_str());
  const std::vector<std::string> own = tracks::own_names(library);
  if (!own.empty()) std::printf("your own:  %s\n", join(own).c_str());
  std::printf("cars:      %s\n", join(calibration::known_cars(data / "cars")).c_str());
  return {};
}

Status print_config() {
  const auto print = [](const std::string& prefix, const std::vector<FieldDescription>& rows) {
    for (const FieldDescription& row : rows) {
      const std::string range = row.range.empty() ? "" : "  [" + row.range + (row.unit.empty() ? "]" : " " + row.unit + "]");
      std::printf("%s = %s%s  %s\n", (prefix + row.name).c_str(), row.value.c_str(), range.c_str(), row.doc.c_str());
    }
  };
  std::printf("# Keys of --set and of suite files: key = default  [allowed]  meaning\n");
  print("", describe_fields(scenarios::Scenario{}));
  print("cars.NAME.", describe_fields(scenarios::CarSpec{}));
  print("obstacles.NAME.", describe_fields(scenarios::ObstacleSpec{}));
  print("faults.NAME.", describe_fields(scenarios::FaultSpec{}));
  print("sensor_settings.", describe_fields(sim::SensorSettings{}));
  for (const std::string& name : controllers::names()) {
    const auto rows = controllers::describe(name);
    if (!rows) return rows.error();
    print(name + ".", *rows);
  }
  print("car_parameters.", describe_fields(CarParameters{}));
  return {};
}

}  // namespace pitwall::apps
