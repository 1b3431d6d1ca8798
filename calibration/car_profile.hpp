// SPDX-License-Identifier: Apache-2.0
// Car profiles as data: every number of a car with its unit, how far it can be trusted, and where it comes from.
//
//   wheelbase_m: {value: 0.36, unit: m, provenance: MEASURED, source: "tape measure, 24 Aug 2026"}
//
// One file per car, cars/NAME.yaml, a flat list of such entries: all fields of core's CarParameters, and for a car that
// exists all of Hardware and `serials`. A number without a source cannot be written down.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibration/hardware.hpp"
#include "core/car.hpp"
#include "core/node.hpp"
#include "core/result.hpp"

namespace pitwall::calibration {

/// Where a value comes from, least trusted first: another car's default; a guess or an unpublished fit; a data sheet or
/// configuration; computed from other entries; measured on this car.
enum class Provenance { kStock, kEstimated, kSpec, kDerived, kMeasured };
inline constexpr std::array<std::string_view, 5> kProvenanceNames = {"STOCK", "ESTIMATED", "SPEC", "DERIVED", "MEASURED"};

/// The name as the files spell it.
std::string_view to_string(Provenance provenance);

/// One value of a profile.
struct Entry {
  std::string name;
  Node value;  ///< a scalar, or a list of scalars
  std::string unit;
  Provenance provenance = Provenance::kStock;
  std::string source;
};

/// One car.
struct CarProfile {
  std::string id;  ///< file name without .yaml
  std::filesystem::path file;
  std::vector<Entry> entries;  ///< in the order of the file
  CarParameters parameters;
  std::optional<Hardware> hardware;  ///< none for a car that only exists in the simulator

  [[nodiscard]] const Entry* find(std::string_view name) const;
  [[nodiscard]] int count(Provenance provenance) const;
  /// How many entries are taken from another car, and which (sorted).
  [[nodiscard]] int stock_count() const { return count(Provenance::kStock); }
  [[nodiscard]] std::vector<std::string> stock_names() const;
};

/// The folder of the profiles that ship.
std::filesystem::path cars_folder();

/// Names of the profiles in a folder, sorted; none if there is no such folder.
std::vector<std::string> known_cars(const std::filesystem::path& folder);

/// The profile `name` of the folder, or the file that `name` is the path of (it ends in .yaml or .yml). Unknown car: the
/// list of known ones and the nearest. A missing, unknown, ill-typed or out-of-range entry, another unit than expected,
/// an unknown provenance or an empty source: an error naming file, line and key.
Result<CarProfile> load_car(const std::string& name, const std::filesystem::path& folder);

/// The car whose `serials` hold that board serial number (surrounding blanks and NULs ignored); "unknown car" with the
/// list of known ones if none does, an error too if two do.
Result<CarProfile> find_by_serial(std::string_view serial, const std::filesystem::path& folder);

}  // namespace pitwall::calibration
