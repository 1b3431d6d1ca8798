// SPDX-License-Identifier: Apache-2.0
#include "calibration/fit/fragment.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/fields.hpp"
#include "core/node.hpp"
#include "core/text.hpp"

namespace pitwall::fit {
namespace {

using calibration::Entry;
using calibration::Provenance;

constexpr std::string_view kOurs = "fit_sim ";
constexpr int kDigits = 5;

std::string unit_of(const std::string& name) {
  for (const FieldDescription& field : describe_fields(CarParameters{})) {
    if (field.name == name) return field.unit;
  }
  return "";
}

std::string beginning(const FragmentSource& source) {
  std::string text = std::string(kOurs) + source.runs;
  if (!source.date.empty()) text += ", " + source.date;
  if (!source.surface.empty()) text += ", " + source.surface;
  return text + ": ";
}

Entry entry(const std::string& name, double value, Provenance provenance, std::string source) {
  Entry e;
  e.name = name;
  e.value = Node(format_number(value, kDigits));
  e.unit = unit_of(name);
  e.provenance = provenance;
  e.source = std::move(source);
  return e;
}

std::string interval(const Fitted& f) { return "95 % " + format_number(f.low, 4) + " .. " + format_number(f.high, 4); }

/// The two axles, from the level and the gradient.
void add_stiffness(const FitResult& result, const FragmentSource& source, std::vector<Entry>& entries) {
  const Fitted* level = result.find("cornering_stiffness");
  const Fitted* gradient = result.find("understeer_gradient");
  const bool level_known = level != nullptr && level->verdict == Verdict::kIdentified;
  const bool gradient_known = gradient != nullptr && gradient->verdict == Verdict::kIdentified;
  const Fitted* friction = result.find("surface_friction");
  const bool friction_known = friction != nullptr && friction->verdict == Verdict::kIdentified;
  if (!level_known && !gradient_known && !friction_known) return;
  std::string why;
  // The stiffness is per friction: what it is on this floor stays, whatever the friction turned out to be.
  if (!level_known && !gradient_known) why = "the stiffness on this floor as it was, over the friction that was found";
  if (level_known) why += "stiffness on this floor " + format_number(level->value, 4) + " per rad, " + interval(*level);
  if (gradient_known) {
    why += (why.empty() ? "" : "; ") + std::string("understeer gradient ") + format_number(gradient->value, 4) + " rad s^2/m, " +
           interval(*gradient);
  }
  const bool both = level_known && gradient_known;
  const Provenance provenance = both                            ? Provenance::kMeasured
                                : level_known || gradient_known ? Provenance::kDerived
                                                                : Provenance::kEstimated;
  for (const auto& [name, value] : {std::pair{"cornering_stiffness_front", result.after.car.cornering_stiffness_front},
                                    std::pair{"cornering_stiffness_rear", result.after.car.cornering_stiffness_rear}}) {
    entries.push_back(entry(name, value, provenance, beginning(source) + format_number(value, kDigits) + ", from " + why));
  }
}

/// The entry of one line of a profile; nothing where it is none.
struct Found {
  std::string name;
  Node node;
};
std::optional<Found> entry_on(const std::string& line) {
  const std::size_t colon = line.find(": {");
  if (colon == std::string::npos || line.empty() || line[0] == '#' || line[0] == ' ') return std::nullopt;
  const Result<Node> parsed = parse_yaml(line, "line");
  if (!parsed || !parsed->is_map() || parsed->entries.size() != 1) return std::nullopt;
  return Found{parsed->entries.front().first, parsed->entries.front().second};
}

std::string scalar(const Node& node, std::string_view key) {
  const Node* found = node.find(key);
  return found == nullptr ? "" : found->scalar;
}

bool set_by_hand(const Node& node) {
  const std::string source = scalar(node, "source");
  const std::string provenance = scalar(node, "provenance");
  if (!source.starts_with(kOurs)) return provenance != "STOCK" && provenance != "ESTIMATED";
  // Our own source tells the value that it was written with.
  const std::size_t at = source.find(": ");
  return at == std::string::npos || !source.substr(at + 2).starts_with(scalar(node, "value"));
}

}  // namespace

std::vector<Entry> fragment_of(const FitResult& result, const FragmentSource& source) {
  std::vector<Entry> found;
  for (const Fitted& f : result.parameters) {
    const Parameter& p = f.parameter;
    if (!p.of_car || unit_of(p.name) != p.unit) continue;  // not a field of the profile
    if (p.name == "cornering_stiffness" || p.name == "understeer_gradient") continue;
    const std::string begin = beginning(source) + format_number(f.value, kDigits) + ", ";
    if (f.verdict == Verdict::kIdentified) found.push_back(entry(p.name, f.value, Provenance::kMeasured, begin + interval(f)));
    if (f.verdict == Verdict::kUnidentified && format_number(f.value, kDigits) != format_number(p.prior, kDigits)) {
      found.push_back(entry(p.name, f.value, Provenance::kEstimated, begin + "best fit, not identified: " + interval(f)));
    }
    if (f.verdict == Verdict::kAtBound && f.value != p.prior) {
      found.push_back(entry(p.name, f.value, Provenance::kEstimated, begin + "at the bound of the fit, which the runs do not limit"));
    }
  }
  add_stiffness(result, source, found);
  std::vector<Entry> ordered;
  for (const FieldDescription& field : describe_fields(CarParameters{})) {
    for (Entry& e : found) {
      if (e.name == field.name) ordered.push_back(std::move(e));
    }
  }
  return ordered;
}

std::string to_line(const Entry& e) {
  return e.name + ": {value: " + e.value.scalar + ", unit: " + (e.unit.empty() ? "\"\"" : e.unit) +
         ", provenance: " + std::string(calibration::to_string(e.provenance)) + ", source: \"" + e.source + "\"}";
}

Result<std::string> with_entries(const std::string& profile, const std::string& file, const std::vector<Entry>& entries, bool force) {
  std::vector<bool> used(entries.size(), false);
  std::string text;
  std::size_t number = 0;
  for (std::size_t from = 0; from < profile.size();) {
    const std::size_t end = std::min(profile.find('\n', from), profile.size());
    std::string line = profile.substr(from, end - from);
    from = end + 1;
    ++number;
    if (const auto found = entry_on(line)) {
      for (std::size_t k = 0; k < entries.size(); ++k) {
        if (entries[k].name != found->name) continue;
        if (!force && set_by_hand(found->node)) {
          return Error{file + ":" + std::to_string(number) + ": " + found->name + " was set by hand (" + scalar(found->node, "provenance") +
                       ", \"" + scalar(found->node, "source") + "\"); --force overwrites it"};
        }
        line = to_line(entries[k]);
        used[k] = true;
      }
    }
    text += line + "\n";
  }
  for (std::size_t k = 0; k < entries.size(); ++k) {
    if (!used[k]) text += to_line(entries[k]) + "\n";
  }
  return text;
}

}  // namespace pitwall::fit
