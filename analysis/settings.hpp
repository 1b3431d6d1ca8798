// SPDX-License-Identifier: Apache-2.0
// The setting that a result would replace, as a report prints it.
#pragma once

#include <string>

#include "core/fields.hpp"

namespace pitwall::analysis {

/// "steering_delay_s = 0.05", or nothing where `settings` has no such number.
template <class Settings>
std::string setting_of(const Settings& settings, const std::string& name) {
  if (name.empty()) return "";
  const Node all = save_fields(settings);
  const Node* value = all.find(name);
  return value == nullptr ? "" : name + " = " + value->scalar;
}

}  // namespace pitwall::analysis
