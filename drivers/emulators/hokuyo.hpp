// SPDX-License-Identifier: Apache-2.0
// A Hokuyo UST-10LX as its host sees it (SCIP 2.2): VV PP II, TM, BM QT RS RT RB, MD ME MS, GD GE GS. Its scans are those that
// turn() is given, or of a room of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/emulators/clock.hpp"
#include "drivers/emulators/device.hpp"

namespace pitwall::emulators {

struct HokuyoConfig {
  std::string model = "UST-10LX";
  std::string serial = "H1234567";
  double boot_s = 0.0;      ///< after switching on it takes a connection and says nothing for so long
  bool own_turns = true;    ///< measures a room of its own every period; false: only what turn() brings
  double period_s = 0.025;  ///< of a turn
};

class Hokuyo final : public Device {
 public:
  static constexpr int kSteps = 1081;  ///< 0..1080, -135..+135 degrees, counter-clockwise
  static constexpr std::uint32_t kNoReturn = 65533;

  explicit Hokuyo(const HokuyoConfig& config = {});

  void opened(Time now) override;
  void closed(Time now) override;
  void receive(Time now, ByteView bytes) override;
  void advance(Time now) override;
  [[nodiscard]] Time next_event() const override;
  void restart(Time now) override;
  void spoil_sum(Bytes& message) const override;

  /// A turn is over: `mm` holds kSteps distances, the first of them measured at `stamp`.
  void turn(Time now, Time stamp, std::span<const std::uint32_t> mm);

  [[nodiscard]] bool streaming() const { return stream_.has_value(); }
  [[nodiscard]] bool laser_on() const { return laser_on_; }
  /// Scans sent since made.
  [[nodiscard]] std::int64_t scans_sent() const { return scans_sent_; }

 private:
  struct Request {
    std::string echo;  // as the host wrote it
    std::string command;
    int start = 0;
    int end = 0;
    int cluster = 1;
    int skip = 0;
    int count = 0;  // 0: endless
    int remaining = 0;
    int skipped = 0;
  };

  void add_knobs();
  void line(Time now, const std::string& text);
  void answer(const std::string& echo, std::string_view status, const std::vector<std::string>& lines = {});
  void identify(Time now, const std::string& echo, const std::string& command);
  void time_mode(Time now, const std::string& echo, char which);
  void start_stream(const Request& request);
  void single(const Request& request);
  std::string status_of(Request& request, std::string_view digits) const;
  void send_scan();
  void data_lines(const Request& request, std::string& reply);
  [[nodiscard]] std::vector<std::uint32_t> spoilt_ranges() const;

  HokuyoConfig config_;
  DeviceClock clock_;
  std::string buffer_;
  std::optional<Request> stream_;
  std::vector<std::uint32_t> ranges_;
  std::uint32_t range_stamp_ms_ = 0;
  bool measured_ = false;
  bool laser_on_ = false;
  bool time_mode_ = false;
  Time ready_at_;
  Time next_turn_;
  Time first_reboot_;
  bool reboot_asked_ = false;
  std::int64_t scans_sent_ = 0;
  // Faults.
  int short_scans_ = 0;
  double error_share_ = 0.0;
  std::string status_fault_;
};

}  // namespace pitwall::emulators
