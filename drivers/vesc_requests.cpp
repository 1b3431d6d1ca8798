// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "drivers/vesc.hpp"

namespace pitwall::vesc {
namespace {

struct Field {
  Id id;
  double scale;
  int bytes;
};

Field field_of(CommandKind kind) {
  switch (kind) {
    case CommandKind::kDuty:
      return {Id::kSetDuty, 1e5, 4};
    case CommandKind::kCurrent:
      return {Id::kSetCurrent, 1e3, 4};
    case CommandKind::kBrakeCurrent:
      return {Id::kSetCurrentBrake, 1e3, 4};
    case CommandKind::kErpm:
      return {Id::kSetRpm, 1.0, 4};
    case CommandKind::kPosition:
      return {Id::kSetPosition, 1e6, 4};
    case CommandKind::kHandbrake:
      return {Id::kSetHandbrake, 1e3, 4};
    case CommandKind::kCurrentRelative:
      return {Id::kSetCurrentRelative, 1e5, 4};
    case CommandKind::kServo:
      break;
  }
  return {Id::kSetServo, 1e3, 2};
}

// Through a signed integer: a negative double straight to an unsigned one is undefined, and 0 on ARM.
template <class Integer>
Integer saturated(double value) {
  const double least = std::numeric_limits<Integer>::min();
  const double most = std::numeric_limits<Integer>::max();
  return static_cast<Integer>(std::lround(std::clamp(value, least, most)));
}

template <std::size_t kMost>
class Payload {
 public:
  explicit Payload(Id id) { append(static_cast<std::uint32_t>(id), 1); }
  void append(std::uint32_t value, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
      data_[size_++] = static_cast<std::byte>(value >> shift & 0xFFU);
    }
  }
  [[nodiscard]] Bytes bytes() const { return Bytes(data_).first(size_); }

 private:
  std::array<std::byte, kMost> data_{};
  std::size_t size_ = 0;
};

}  // namespace

bool append_command(const Command& command, std::vector<std::byte>& out) {
  const Field field = field_of(command.kind);
  if (!std::isfinite(command.value)) {
    return false;
  }
  const double scaled = command.value * field.scale;  // an overflow to infinity saturates
  Payload<5> payload(field.id);
  if (field.bytes == 2) {
    payload.append(static_cast<std::uint16_t>(saturated<std::int16_t>(scaled)), 2);
  } else {
    payload.append(static_cast<std::uint32_t>(saturated<std::int32_t>(scaled)), 4);
  }
  append_frame(payload.bytes(), out);
  return true;
}

void append_estop(int milliseconds, std::vector<std::byte>& out) {
  Payload<3> payload(Id::kMotorEstop);
  payload.append(static_cast<std::uint32_t>(std::clamp(milliseconds, 0, 65535)), 2);
  append_frame(payload.bytes(), out);
}

void append_request(Id id, std::vector<std::byte>& out) { append_frame(Payload<1>(id).bytes(), out); }

void append_selective_request(Id id, std::uint32_t mask, std::vector<std::byte>& out) {
  Payload<5> payload(id);
  payload.append(mask, 4);
  append_frame(payload.bytes(), out);
}

void append_imu_request(std::uint16_t mask, std::vector<std::byte>& out) {
  Payload<3> payload(Id::kGetImu);
  payload.append(mask, 2);
  append_frame(payload.bytes(), out);
}

void append_forwarded(std::uint8_t can_id, Bytes payload, std::vector<std::byte>& out) {
  std::vector<std::byte> wrapped{static_cast<std::byte>(Id::kForwardCan), std::byte{can_id}};
  wrapped.insert(wrapped.end(), payload.begin(), payload.end());
  append_frame(wrapped, out);
}

}  // namespace pitwall::vesc
