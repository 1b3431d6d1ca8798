// SPDX-License-Identifier: Apache-2.0
// The one Cyclone DDS domain that graphs of the same number in a process share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/result.hpp"
#include "ros_bridge/dds/settings.hpp"

namespace pitwall::ros_bridge {

/// A share of a domain. The last one ends it, with its sockets and threads.
class Domain {
 public:
  /// The first share's settings are those of all. Errors hold what Cyclone DDS says.
  static Result<std::unique_ptr<Domain>> open(const DdsSettings& settings);
  ~Domain();
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

 private:
  explicit Domain(std::uint32_t number) : number_(number) {}
  std::uint32_t number_;
};

}  // namespace pitwall::ros_bridge
