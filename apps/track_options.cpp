// SPDX-License-Identifier: Apache-2.0
#include "apps/track_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "apps/car_choice.hpp"
#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "apps/verdict.hpp"
#include "core/fields.hpp"
#include "core/log.hpp"

namespace pitwall::apps {

void TrackFlags::add_to(CLI::App& app) {
  app.add_option("--wheels", tracks.wheels, "Wheel odometry: a topic, an edge of /tf as PARENT->CHILD, or match");
  app.add_option("--scans", tracks.scans, "Odometry by scans, likewise; match: the recorded scans, matched here");
  app.add_option("--run-car", tracks.car, "Which car of a run folder with several");
  app.add_option("--car", car, "Profile of the car whose speed and steering bound the motion (default: PITWALL_CAR, else f1tenth)");
  app.add_option("--max-speed", max_speed_mps, "A limit of speed that was in force, m/s (default: the car's own)");
  CLI::Option* wheel_speed =
      app.add_option("--wheel-speed", wheel_speed_mps, "Instead of a car: two driven wheels of at most this speed, m/s");
  app.add_option("--wheel-separation", wheel_separation_m, "Their distance, m")->needs(wheel_speed)->capture_default_str();
  app.add_option("--friction", friction, "Of the floor, for a car's fastest turn")->check(CLI::Range(0.05, 3.0))->capture_default_str();
  app.add_option("--tol", tolerance, "The bound over what the vehicle can do")->check(CLI::Range(1.0, 10.0))->capture_default_str();
  tracks.progress = [](std::uint64_t /*done*/, std::uint64_t /*total*/) { return !interrupted(); };
}

Result<localization::MotionEnvelope> TrackFlags::vehicle() {
  if (wheel_speed_mps) {
    if (!(*wheel_speed_mps > 0.0) || !(wheel_separation_m > 0.0)) return Error{"--wheel-speed and --wheel-separation are above 0"};
    const auto envelope = localization::MotionEnvelope::differential(*wheel_speed_mps, wheel_separation_m);
    if (const Status good = check_fields("--wheel-speed, --wheel-separation", envelope); !good) return good.error();
    return envelope;
  }
  const auto profile = load_chosen_car(car);
  if (!profile) return profile.error();
  tracks.T_base_lidar = profile->parameters.lidar_mount();
  CarParameters limited = profile->parameters;
  if (max_speed_mps) {
    if (!(*max_speed_mps > 0.0)) return Error{"--max-speed is above 0"};
    limited.speed_max_mps = std::min(limited.speed_max_mps, *max_speed_mps);
    limited.speed_min_mps = std::max(limited.speed_min_mps, -*max_speed_mps);
  }
  return localization::MotionEnvelope::ackermann(limited, friction);
}

int finish(const analysis::GatedReport& report, bool json) {
  if (interrupted()) return kInterrupted;
  for (const std::string& warning : report.document.warnings) log::warn(warning);
  if (!report.document.sections.empty()) {
    const std::string text = json ? analysis::to_json(report.document) : analysis::to_markdown(report.document);
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  for (const std::string& file : report.written) log::info("wrote " + file);
  const int code = verdict(report.gate);
  for (const std::string& refusal : report.refused) bad_input(Error{refusal});
  if (!report.refused.empty()) return kBadInput;
  return code;
}

}  // namespace pitwall::apps
