// SPDX-License-Identifier: Apache-2.0
#include "drivers/joystick_session.hpp"

#include <algorithm>

namespace pitwall::drivers {
namespace {

constexpr Duration kSecond = from_milliseconds(1'000);
constexpr int kMostControls = 256;  // what a joydev record can number

class FixedInputDevice final : public InputDevice {
 public:
  explicit FixedInputDevice(joystick::Identity identity) : identity_(std::move(identity)) {}
  Result<joystick::Identity> identity() override { return identity_; }
  Result<joystick::State> state() override {
    return joystick::State{std::vector<double>(static_cast<std::size_t>(identity_.axes)),
                           std::vector<int>(static_cast<std::size_t>(identity_.buttons))};
  }

 private:
  joystick::Identity identity_;
};

}  // namespace

std::unique_ptr<InputDevice> fixed_input_device(joystick::Identity identity) {
  return std::make_unique<FixedInputDevice>(std::move(identity));
}

JoystickSession::JoystickSession(const JoystickOptions& options) : options_(options) {}

void JoystickSession::start(Time now) {
  ++counters_.starts;
  out().clear();
  buffer_.clear();
  layout_.reset();
  identity_.reset();
  state_ = {};
  axis_known_.clear();
  button_known_.clear();
  dropping_ = false;
  deadman_seen_released_ = false;
  events_at_second_ = events_;
  streaming_seconds_ = 0;
  last_event_ = now;
  next_deadline_ = now + kSecond;
  set_phase(Phase::kIdentifying, "asking what this joystick is");
  if (!device_) {
    return set_phase(Phase::kRefused, "nobody to ask what this joystick is (set_device)");
  }
  const auto identity = device_->identity();
  if (!identity) {
    return set_phase(Phase::kReconnect, identity.error().message);
  }
  identity_ = *identity;
  if (identity_->axes < 0 || identity_->axes > kMostControls || identity_->buttons < 0 || identity_->buttons > kMostControls) {
    return set_phase(Phase::kRefused, "joystick '" + identity_->name + "' states an impossible number of controls");
  }
  if (options_.layout) {
    layout_ = options_.layout;
  } else if (auto layout = joystick::find_layout(*identity_)) {
    layout_ = *layout;
  } else {
    return set_phase(Phase::kRefused, layout.error().message);
  }
  state_.axes.resize(static_cast<std::size_t>(identity_->axes));
  state_.buttons.resize(static_cast<std::size_t>(identity_->buttons));
  axis_known_.resize(state_.axes.size());
  button_known_.resize(state_.buttons.size());
  set_phase(Phase::kIdentifying, layout_->name + ": waiting for the state of every control");
  if (options_.format == JoystickOptions::Format::kEvdev) {
    refresh();
  }
}

bool JoystickSession::talking() const { return phase() == Phase::kIdentifying || phase() == Phase::kRunning; }

void JoystickSession::receive(Bytes bytes, Time now) {
  counters_.bytes_received += bytes.size();
  if (!talking()) {
    return;
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  const bool joydev = options_.format == JoystickOptions::Format::kJoydev;
  const std::size_t size = joydev ? joystick::kJoydevBytes : joystick::kEvdevBytes;
  std::size_t at = 0;
  for (; at + size <= buffer_.size() && talking(); at += size) {
    const Bytes record = Bytes(buffer_).subspan(at, size);
    if (joydev) {
      handle_joydev(record, now);
    } else {
      handle_evdev(record, now);
    }
  }
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at));
}

void JoystickSession::handle_joydev(Bytes record, Time now) {
  const joystick::JoydevEvent event = joystick::decode_joydev(record);
  const auto number = static_cast<std::size_t>(event.number);
  if (event.kind == joystick::JoydevEvent::Kind::kAxis && number < state_.axes.size()) {
    state_.axes[number] = std::max(-1.0, event.value / 32767.0);
    axis_known_[number] = true;
  } else if (event.kind == joystick::JoydevEvent::Kind::kButton && number < state_.buttons.size()) {
    state_.buttons[number] = event.value != 0 ? 1 : 0;
    button_known_[number] = true;
  } else {
    ++counters_.ignored;
    return;
  }
  if (!event.initial) {
    moved(now);
  }
  settle();
}

void JoystickSession::handle_evdev(Bytes record, Time now) {
  const joystick::EvdevEvent event = joystick::decode_evdev(record);
  if (event.type == joystick::kEvSyn) {
    if (event.code == joystick::kSynDropped) {
      dropping_ = true;  // what follows, up to the next report, is incomplete
      ++counters_.resyncs;
    } else if (dropping_) {
      dropping_ = false;
      refresh();
    }
    return;
  }
  if (dropping_) {
    ++counters_.ignored;
    return;
  }
  const auto& ranges = identity_->axis_ranges;
  const auto& codes = identity_->button_codes;
  const auto axis = std::find_if(ranges.begin(), ranges.end(), [&](const joystick::AxisRange& r) { return r.code == event.code; });
  const auto button = std::find(codes.begin(), codes.end(), event.code);
  if (event.type == joystick::kEvAbs && axis != ranges.end() && axis - ranges.begin() < static_cast<std::ptrdiff_t>(state_.axes.size())) {
    state_.axes[static_cast<std::size_t>(axis - ranges.begin())] = joystick::normalised(*axis, event.value);
    moved(now);
  } else if (event.type == joystick::kEvKey && button != codes.end() &&
             button - codes.begin() < static_cast<std::ptrdiff_t>(state_.buttons.size())) {
    state_.buttons[static_cast<std::size_t>(button - codes.begin())] = event.value != 0 ? 1 : 0;
    moved(now);
  } else {
    ++counters_.ignored;
    return;
  }
  settle();
}

// evdev tells changes only: the rest must be asked for.
void JoystickSession::refresh() {
  const auto state = device_->state();
  if (!state) {
    return set_phase(Phase::kReconnect, state.error().message);
  }
  if (state->axes.size() != state_.axes.size() || state->buttons.size() != state_.buttons.size()) {
    return set_phase(Phase::kReconnect, "the joystick's number of controls has changed");
  }
  state_ = *state;
  axis_known_.assign(axis_known_.size(), true);
  button_known_.assign(button_known_.size(), true);
  settle();
}

void JoystickSession::moved(Time now) {
  ++events_;
  last_event_ = now;
}

void JoystickSession::settle() {
  if (!complete()) {
    return;
  }
  set_phase(Phase::kRunning, layout_->name);
  deadman_seen_released_ = deadman_seen_released_ || (!controls().deadman && !controls().autonomy);
}

void JoystickSession::advance(Time now) {
  if (!talking()) {
    next_deadline_ = kNever;
    return;
  }
  while (now >= next_deadline_) {
    streaming_seconds_ = events_ != events_at_second_ ? std::min(streaming_seconds_ + 1, kStreamingSeconds) : 0;
    events_at_second_ = events_;
    next_deadline_ = next_deadline_ + kSecond;
  }
}

bool JoystickSession::complete() const {
  const auto all = [](const std::vector<bool>& known) { return std::find(known.begin(), known.end(), false) == known.end(); };
  return layout_.has_value() && all(axis_known_) && all(button_known_);
}

joystick::Controls JoystickSession::controls() const { return complete() ? joystick::apply(*layout_, state_) : joystick::Controls{}; }

Joy JoystickSession::joy() const { return {last_event_, state_.buttons}; }

}  // namespace pitwall::drivers
