// SPDX-License-Identifier: Apache-2.0
#include "recording/bag.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace pitwall::recording {

std::string Finding::text() const {
  std::string line = file + ": offset " + std::to_string(offset) + ": " + what;
  if (!kept.empty()) line += "; " + kept;
  return line;
}

void Findings::add(Finding finding) {
  damaged_ = damaged_ || finding.severity == Severity::kDamage;
  const bool said = std::any_of(all_.begin(), all_.end(), [&](const Finding& other) {
    return other.offset == finding.offset && other.what == finding.what && other.file == finding.file;
  });
  if (said) return;
  if (all_.size() < kMost) {
    all_.push_back(std::move(finding));
    return;
  }
  ++left_out_;
  all_.back() = {Severity::kDamage, finding.file, finding.offset, std::to_string(left_out_ + 1) + " more findings, up to here", ""};
}

std::string normalised_type(std::string_view type) {
  const std::size_t slash = type.find('/');
  if (slash == std::string_view::npos || type.find('/', slash + 1) != std::string_view::npos) return std::string(type);
  return std::string(type.substr(0, slash)) + "/msg/" + std::string(type.substr(slash + 1));
}

bool is_transient_local(std::string_view qos) {
  constexpr std::string_view kKey = "durability:";
  for (std::size_t at = qos.find(kKey); at != std::string_view::npos; at = qos.find(kKey, at + 1)) {
    const std::string_view rest = qos.substr(at + kKey.size());
    const std::string_view value = trim(rest.substr(0, std::min(rest.size(), rest.find_first_of("\n,}"))));
    if (value == "1" || value == "transient_local") return true;
  }
  return false;
}

}  // namespace pitwall::recording
