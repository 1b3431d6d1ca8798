// SPDX-License-Identifier: Apache-2.0
#include "analysis/decisions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/run_data.hpp"
#include "core/text.hpp"

namespace pitwall::analysis {

namespace {

using controllers::SafetyStage;
using controllers::ScanView;

/// Changes of the driver's own parameters, by the names that the controller knows; what is somebody else's is left out, what is unknown
/// noted.
std::vector<recording::ParameterChange> own_changes(const ReplayRequest& request, const Driver& driver, std::vector<std::string>& notes) {
  std::vector<recording::ParameterChange> own;
  for (const recording::ParameterChange& change : request.changes) {
    const std::size_t slash = change.name.rfind('/');
    const std::string node = change.name.substr(0, slash);
    const std::string name = change.name.substr(slash + 1);
    if (node.find(driver.controller) == std::string::npos) continue;
    if (driver.parameters.find(name) == nullptr) {
      notes.push_back("the live change " + name + "=" + change.value + " at " + recording::time_text(change.at) +
                      " was not applied: " + driver.controller + " of this build has no such parameter");
      continue;
    }
    own.push_back({change.at, name, change.value});
  }
  return own;
}

/// Takes down each call, and the geometry of each stop where it begins.
class Scribe {
 public:
  Scribe(const ReplayRequest& request, const Driver& driver)
      : request_(request), driver_(driver), safety_(driver.safety(), driver.car), view_(driver.car) {
    view_.reset();
  }

  void take_down(const recording::ReplayedCall& call, Time origin) {
    DecisionSeries& to = result_.calls;
    to.t_s.push_back(seconds_since(origin, call.seen.now));
    to.recorded_steering_rad.push_back(static_cast<double>(call.recorded_steering_rad));
    to.recorded_speed_mps.push_back(static_cast<double>(call.recorded_speed_mps));
    to.recorded_reason.push_back(call.recorded != nullptr ? number_of<Reason>(call.recorded->reason, 64) : -1.0);
    to.recorded_layer.push_back(call.recorded != nullptr ? number_of<Layer>(call.recorded->layer, 4) : -1.0);
    to.recorded_beam.push_back(call.recorded != nullptr ? static_cast<double>(call.recorded->beam) : -1.0);
    to.steering_rad.push_back(static_cast<double>(call.replayed.steering_angle_rad));
    to.speed_mps.push_back(static_cast<double>(call.replayed.speed_mps));
    to.reason.push_back(static_cast<double>(call.replayed.reason));
    to.layer.push_back(static_cast<double>(call.replayed.layer));
    to.beam.push_back(static_cast<double>(call.replayed.beam));
    to.ttc_s.push_back(static_cast<double>(call.replayed.ttc_s));
    if (request_.geometry && to.recorded_stop(to.size() - 1)) take_down_stop(call);
    last_ = call.replayed;
    last_now_ = call.seen.now;
  }
  Replayed result() { return std::move(result_); }

 private:
  void take_down_stop(const recording::ReplayedCall& call) {
    const std::size_t i = result_.calls.size() - 1;
    const bool explained = call.replayed.speed_mps == 0.0F;
    const std::string layer = explained ? std::string(name(call.replayed.layer)) : "unexplained";
    const std::string reason = explained ? std::string(name(call.replayed.reason)) : "the replay drives on";
    if (!result_.stops.empty()) {
      StopEvent& before = result_.stops.back();
      if (before.last + 1 == i && before.layer == layer && before.reason == reason) {
        before.last = i;
        return;
      }
    }
    StopEvent stop;
    stop.first = stop.last = i;
    stop.layer = layer;
    stop.reason = reason;
    stop.ttc_s = static_cast<double>(call.replayed.ttc_s);
    // A stop holds the steering where it was: that is the arc being driven.
    stop.steering_rad = static_cast<double>(call.replayed.steering_angle_rad);
    if (call.seen.odometry.message != nullptr) stop.measured_speed_mps = call.seen.odometry.message->speed_mps;
    if (call.seen.scan.message != nullptr && view_.update(*call.seen.scan.message)) {
      judge(call, stop);
      constexpr std::size_t kMostScans = 2000;
      if (result_.stops.size() < kMostScans) stop.scan = *call.seen.scan.message;
    }
    result_.stops.push_back(std::move(stop));
  }

  void judge(const recording::ReplayedCall& call, StopEvent& stop) {
    controllers::SafetyMotion motion;
    motion.measured_mps = stop.measured_speed_mps;
    motion.commanded_mps = static_cast<double>(last_.speed_mps);
    if (last_now_) motion.command_age_s = (call.seen.now - *last_now_).seconds();
    const double speed = safety_.effective_speed_mps(motion);
    stop.speed_is_command = speed != std::abs(stop.measured_speed_mps);
    stop.geometry =
        judge_stop(view_, driver_.car, stop.steering_rad, speed, call.replayed.beam,
                   {safety_.parameters().stopping_decel_mps2, safety_.parameters().stopping_response_s + driver_.car.speed_delay_s});
    // A sensor that is silent, or the operator, is no matter of geometry.
    if (stop.layer != name(Layer::kSafety) && stop.reason != name(Reason::kNoSafeGap)) stop.geometry.verdict = Verdict::kNone;
  }

  template <class Enum>
  static double number_of(const std::string& text, int count) {
    for (int k = 0; k < count; ++k) {
      if (is_known<Enum>(k) && name(static_cast<Enum>(k)) == text) return k;
    }
    return -1.0;
  }
  template <class Enum>
  static bool is_known(int k) {
    if constexpr (std::is_same_v<Enum, Reason>) return k <= static_cast<int>(Reason::kRecover);
    return true;
  }

  const ReplayRequest& request_;
  const Driver& driver_;
  SafetyStage safety_;
  ScanView view_;
  Replayed result_;
  Command last_;
  std::optional<Time> last_now_;
};

}  // namespace

Result<Replayed> replay_decisions(const ReplayRequest& request, const Driver& driver, const recording::BagProgress& progress) {
  auto controller = driver.make();
  if (!controller) return controller.error();
  const Result<recording::BagReader> bag = recording::BagReader::open(request.run);
  if (!bag) return bag.error();
  const Time origin = bag->start().value_or(Time{});
  std::vector<std::string> notes;
  Scribe scribe(request, driver);
  recording::ReplayWatch watch;
  watch.progress = progress;
  watch.call = [&](const recording::ReplayedCall& call) { scribe.take_down(call, origin); };
  watch.changes = own_changes(request, driver, notes);
  watch.fixed = request.fixed;
  const auto replayed = recording::replay(request.run, request.car, **controller, watch);
  if (!replayed) return replayed.error();
  if (!replayed->complete) return Error{"interrupted"};
  Replayed result = scribe.result();
  result.calls.approximate = replayed->approximate;
  result.calls.differing = static_cast<double>(replayed->differing);
  if (replayed->first) result.calls.first_difference = replayed->first->text();
  result.calls.notes = std::move(notes);
  return result;
}

}  // namespace pitwall::analysis
