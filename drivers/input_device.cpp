// SPDX-License-Identifier: Apache-2.0
// What the kernel tells of a joystick beside its records: ioctl of joydev and evdev, ids of joydev from /sys.
#include <fcntl.h>
#include <linux/input.h>
#include <linux/joystick.h>
#include <sys/ioctl.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "drivers/joystick_session.hpp"

namespace pitwall::drivers {
namespace {

std::uint16_t read_id(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string text;
  in >> text;
  std::uint16_t id = 0;
  std::from_chars(text.data(), text.data() + text.size(), id, 16);
  return id;
}

class JoydevDevice final : public InputDevice {
 public:
  JoydevDevice(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  Result<joystick::Identity> identity() override {
    std::uint8_t axes = 0;
    std::uint8_t buttons = 0;
    std::array<char, 128> name{};
    if (::ioctl(descriptor_, JSIOCGAXES, &axes) < 0 || ::ioctl(descriptor_, JSIOCGBUTTONS, &buttons) < 0) {
      return Error{path_ + " is no joystick: " + std::strerror(errno)};
    }
    ::ioctl(descriptor_, JSIOCGNAME(name.size() - 1), name.data());
    std::error_code none;
    const std::string node = std::filesystem::canonical(path_, none).filename().string();
    const std::filesystem::path ids = "/sys/class/input/" + node + "/device/id";
    joystick::Identity identity;
    identity.vendor = read_id(ids / "vendor");
    identity.product = read_id(ids / "product");
    identity.name = name.data();
    identity.axes = axes;
    identity.buttons = buttons;
    return identity;
  }
  // joydev reports every control when it is opened; there is nothing to ask.
  Result<joystick::State> state() override { return Error{path_ + ": joydev reports its state by itself"}; }

 private:
  int descriptor_;
  std::string path_;
};

template <std::size_t kBits>
class BitField {
 public:
  bool get(int descriptor, unsigned long request) { return ::ioctl(descriptor, request, bytes_.data()) >= 0; }
  [[nodiscard]] bool test(int bit) const { return (bytes_[static_cast<std::size_t>(bit) / 8] >> (bit % 8) & 1) != 0; }
  static constexpr std::size_t kBytes = kBits / 8 + 1;

 private:
  std::array<std::uint8_t, kBytes> bytes_{};
};

class EvdevDevice final : public InputDevice {
 public:
  EvdevDevice(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  Result<joystick::Identity> identity() override {
    using Axes = BitField<ABS_MAX>;
    using Keys = BitField<KEY_MAX>;
    input_id id{};
    std::array<char, 128> name{};
    Axes axes;
    Keys keys;
    const bool answered = ::ioctl(descriptor_, EVIOCGID, &id) >= 0 && axes.get(descriptor_, EVIOCGBIT(EV_ABS, Axes::kBytes)) &&
                          keys.get(descriptor_, EVIOCGBIT(EV_KEY, Keys::kBytes));
    if (!answered) {
      return Error{path_ + " is no joystick: " + std::strerror(errno)};
    }
    ::ioctl(descriptor_, EVIOCGNAME(name.size() - 1), name.data());
    joystick::Identity identity;
    identity.vendor = id.vendor;
    identity.product = id.product;
    identity.name = name.data();
    for (int code = 0; code <= ABS_MAX; ++code) {
      input_absinfo range{};
      if (axes.test(code) && ::ioctl(descriptor_, EVIOCGABS(static_cast<unsigned>(code)), &range) >= 0) {
        identity.axis_ranges.push_back({code, range.minimum, range.maximum, range.value});
      }
    }
    // joydev's order: joystick and pad buttons, then the miscellaneous ones below them.
    for (int code = BTN_JOYSTICK; code <= KEY_MAX; ++code) {
      if (keys.test(code)) {
        identity.button_codes.push_back(code);
      }
    }
    for (int code = BTN_MISC; code < BTN_JOYSTICK; ++code) {
      if (keys.test(code)) {
        identity.button_codes.push_back(code);
      }
    }
    identity.axes = static_cast<int>(identity.axis_ranges.size());
    identity.buttons = static_cast<int>(identity.button_codes.size());
    return identity;
  }

  Result<joystick::State> state() override {
    const auto now = identity();
    BitField<KEY_MAX> pressed;
    if (!now || !pressed.get(descriptor_, EVIOCGKEY(BitField<KEY_MAX>::kBytes))) {
      return Error{path_ + ": " + std::strerror(errno)};
    }
    joystick::State state;
    for (const joystick::AxisRange& range : now->axis_ranges) {
      state.axes.push_back(joystick::normalised(range, range.value));
    }
    for (const int code : now->button_codes) {
      state.buttons.push_back(pressed.test(code) ? 1 : 0);
    }
    return state;
  }

 private:
  int descriptor_;
  std::string path_;
};

}  // namespace

std::unique_ptr<InputDevice> input_device(int descriptor, const std::string& path) {
  unsigned version = 0;
  if (::ioctl(descriptor, JSIOCGVERSION, &version) >= 0) {
    return std::make_unique<JoydevDevice>(descriptor, path);
  }
  return std::make_unique<EvdevDevice>(descriptor, path);
}

}  // namespace pitwall::drivers
