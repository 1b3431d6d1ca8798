// SPDX-License-Identifier: Apache-2.0
#include "calibration/car_profile.hpp"

#include <algorithm>
#include <system_error>

#include "core/fields.hpp"
#include "core/files.hpp"
#include "core/text.hpp"

namespace pitwall::calibration {
namespace {

constexpr std::string_view kSerials = "serials";

bool is_yaml(const std::filesystem::path& path) { return path.extension() == ".yaml" || path.extension() == ".yml"; }

std::string key_of(const std::string& id, std::string_view name) { return id + "." + std::string(name); }

/// What an entry of that name is: its unit, and whether it belongs to the hardware.
struct Known {
  std::string name;
  std::string unit;
  bool hardware = false;
};

std::vector<Known> known_entries() {
  std::vector<Known> known;
  for (const FieldDescription& field : describe_fields(CarParameters{})) known.push_back({field.name, field.unit, false});
  for (const FieldDescription& field : describe_fields(Hardware{})) known.push_back({field.name, field.unit, true});
  known.push_back({std::string(kSerials), "", true});
  return known;
}

const Known* find_known(const std::vector<Known>& known, std::string_view name) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const Known& k) { return k.name == name; });
  return found == known.end() ? nullptr : &*found;
}

/// A scalar of the entry's map; the error says which one is missing.
Result<std::string> text_of(const Node& entry, const std::string& key, std::string_view part) {
  const Node* found = entry.find(part);
  if (found == nullptr || !found->is_scalar()) {
    return Error{(found == nullptr ? entry : *found).where() + ": " + key + ": '" + std::string(part) +
                 "' is missing; an entry is {value, unit, provenance, source}"};
  }
  return found->scalar;
}

Result<Provenance> provenance_of(const Node& entry, const std::string& key) {
  const Result<std::string> text = text_of(entry, key, "provenance");
  if (!text) return text.error();
  for (std::size_t i = 0; i < kProvenanceNames.size(); ++i) {
    if (*text == kProvenanceNames[i]) return static_cast<Provenance>(i);
  }
  const std::vector<std::string> names(kProvenanceNames.begin(), kProvenanceNames.end());
  return Error{entry.where() + ": " + key + ": " + unknown_name("provenance", *text, names)};
}

Result<Entry> entry_of(const std::string& id, const std::string& name, const Node& node, const std::vector<Known>& known) {
  const std::string key = key_of(id, name);
  const Known* expected = find_known(known, name);
  if (expected == nullptr) {
    std::vector<std::string> names;
    names.reserve(known.size());
    for (const Known& k : known) names.push_back(key_of(id, k.name));
    return Error{node.where() + ": " + unknown_name("key", key, names)};
  }
  if (!node.is_map()) return Error{node.where() + ": " + key + ": must be {value, unit, provenance, source}"};
  static const std::vector<std::string> kParts = {"value", "unit", "provenance", "source"};
  for (const auto& [part, value] : node.entries) {
    if (std::find(kParts.begin(), kParts.end(), part) == kParts.end()) {
      return Error{value.where() + ": " + key + ": " + unknown_name("key", part, kParts)};
    }
  }
  Entry entry;
  entry.name = name;
  const Node* value = node.find("value");
  if (value == nullptr || value->is_null()) return Error{node.where() + ": " + key + ": 'value' is missing"};
  entry.value = *value;
  const Result<std::string> unit = text_of(node, key, "unit");
  if (!unit) return unit.error();
  if (*unit != expected->unit) {
    return Error{node.where() + ": " + key + ": unit '" + *unit + "': allowed: '" + expected->unit + "'"};
  }
  entry.unit = *unit;
  const Result<Provenance> provenance = provenance_of(node, key);
  if (!provenance) return provenance.error();
  entry.provenance = *provenance;
  const Result<std::string> source = text_of(node, key, "source");
  if (!source) return source.error();
  entry.source = std::string(trim(*source));
  if (entry.source.empty()) return Error{node.where() + ": " + key + ": 'source' is empty; say where the value comes from"};
  return entry;
}

Result<std::vector<std::string>> serials_of(const Entry& entry, const std::string& key) {
  std::vector<std::string> serials;
  if (!entry.value.is_list()) return Error{entry.value.where() + ": " + key + ": must be a list of serial numbers"};
  for (const Node& item : entry.value.items) {
    if (!item.is_scalar() || trim(item.scalar).empty()) return Error{item.where() + ": " + key + ": must be a list of serial numbers"};
    serials.emplace_back(trim(item.scalar));
  }
  return serials;
}

Status require_all(const CarProfile& profile, const std::vector<Known>& known, const std::string& file) {
  const bool exists =
      std::any_of(known.begin(), known.end(), [&](const Known& k) { return k.hardware && profile.find(k.name) != nullptr; });
  for (const Known& k : known) {
    if ((!k.hardware || exists) && profile.find(k.name) == nullptr) {
      return Error{file + ": " + key_of(profile.id, k.name) + " is missing; " +
                   (k.hardware ? "hardware is given completely or not at all" : "a profile gives every parameter of the car")};
    }
  }
  return {};
}

Status read_values(CarProfile& profile, const std::vector<Known>& known) {
  Node parameters = Node::map();
  Node hardware = Node::map();
  for (const Entry& entry : profile.entries) {
    if (entry.name != kSerials) (find_known(known, entry.name)->hardware ? hardware : parameters).set(entry.name, entry.value);
  }
  if (Status status = load_fields(parameters, profile.id, profile.parameters); !status) return status;
  const Entry* serials = profile.find(kSerials);
  if (serials == nullptr) return {};
  profile.hardware.emplace();
  if (Status status = load_fields(hardware, profile.id, *profile.hardware); !status) return status;
  if (profile.hardware->servo_gain_per_rad == 0.0 || profile.hardware->vesc_speed_sign == 0) {
    const std::string_view name = profile.hardware->servo_gain_per_rad == 0.0 ? "servo_gain_per_rad" : "vesc_speed_sign";
    return Error{profile.find(name)->value.where() + ": " + key_of(profile.id, name) + " = 0: must not be zero"};
  }
  Result<std::vector<std::string>> list = serials_of(*serials, key_of(profile.id, kSerials));
  if (!list) return list.error();
  profile.hardware->serials = *std::move(list);
  return {};
}

Result<CarProfile> load_file(const std::filesystem::path& path) {
  const Result<Node> document = load_yaml(path);
  if (!document) return document.error();
  CarProfile profile;
  profile.id = path.stem().string();
  profile.file = path;
  if (!document->is_map()) return Error{path.string() + ": a car profile is a list of named entries"};
  const std::vector<Known> known = known_entries();
  for (const auto& [name, node] : document->entries) {
    Result<Entry> entry = entry_of(profile.id, name, node, known);
    if (!entry) return entry.error();
    profile.entries.push_back(*std::move(entry));
  }
  if (const Status status = require_all(profile, known, path.string()); !status) return status.error();
  if (const Status status = read_values(profile, known); !status) return status.error();
  return profile;
}

}  // namespace

std::string_view to_string(Provenance provenance) { return kProvenanceNames[static_cast<std::size_t>(provenance)]; }

const Entry* CarProfile::find(std::string_view name) const {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

int CarProfile::count(Provenance provenance) const {
  return static_cast<int>(std::count_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.provenance == provenance; }));
}

std::vector<std::string> CarProfile::stock_names() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries) {
    if (entry.provenance == Provenance::kStock) names.push_back(entry.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::filesystem::path cars_folder() { return data_folder() / "cars"; }

std::vector<std::string> known_cars(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& item : std::filesystem::directory_iterator(folder, failed)) {
    if (item.path().extension() == ".yaml") names.push_back(item.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<CarProfile> load_car(const std::string& name, const std::filesystem::path& folder) {
  if (is_yaml(name)) return load_file(name);
  const std::vector<std::string> known = known_cars(folder);
  if (known.empty()) return Error{"car '" + name + "': no car profiles in " + folder.string()};
  if (std::find(known.begin(), known.end(), name) == known.end()) return Error{unknown_name("car", name, known)};
  return load_file(folder / (name + ".yaml"));
}

Result<CarProfile> find_by_serial(std::string_view serial, const std::filesystem::path& folder) {
  // The device tree ends its strings with a NUL.
  const std::string_view wanted = trim(serial.substr(0, serial.find('\0')));
  const std::vector<std::string> known = known_cars(folder);
  std::optional<CarProfile> match;
  for (const std::string& name : known) {
    Result<CarProfile> profile = load_car(name, folder);
    if (!profile) return profile.error();
    if (wanted.empty() || !profile->hardware) continue;
    const std::vector<std::string>& serials = profile->hardware->serials;
    if (std::find(serials.begin(), serials.end(), wanted) == serials.end()) continue;
    if (match) return Error{"board serial number '" + std::string(wanted) + "' is claimed by " + match->id + " and " + profile->id};
    match = *std::move(profile);
  }
  if (!match) {
    return Error{"unknown car: no profile lists the board serial number '" + std::string(wanted) + "'; known: " + join(known)};
  }
  return *std::move(match);
}

}  // namespace pitwall::calibration
