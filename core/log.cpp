// SPDX-License-Identifier: Apache-2.0
#include "core/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>

namespace pitwall::log {
namespace {

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto made = std::make_shared<spdlog::logger>("pitwall", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%v");
    return made;
  }();
  return *instance;
}

}  // namespace

// Whole texts, no format: fmt 9 and g++ 13 (Ubuntu 24.04) do not agree on array bounds.
void info(std::string_view message) { logger().info(message); }
void warn(std::string_view message) { logger().warn("warning: " + std::string(message)); }
void error(std::string_view message) { logger().error("error: " + std::string(message)); }
void set_quiet(bool quiet) { logger().set_level(quiet ? spdlog::level::warn : spdlog::level::info); }

}  // namespace pitwall::log
