// SPDX-License-Identifier: Apache-2.0
// Hokuyo SCIP 2.0 and 2.2, over TCP or a serial line alike: lines of text, each with a six-bit sum, a blank line behind a reply.
// Pure: text to structs and back. The dialogue is drivers/scip_session.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/messages.hpp"
#include "drivers/bytes.hpp"

namespace pitwall::scip {

using drivers::Bytes;

/// The sum character of a line: low six bits of the sum of its bytes, plus 0x30; of "00" it is 'P'.
[[nodiscard]] char checksum(std::string_view text);
/// Six bits a character, most significant first; nothing if a character is outside 0x30..0x6F. At most 5 characters (30 bits).
[[nodiscard]] std::optional<std::uint32_t> decode_characters(std::string_view text);
/// The inverse, `count` characters; for tests and emulated sensors.
[[nodiscard]] std::string encode_characters(std::uint32_t value, int count);

// Requests, each with its line feed.

/// A request without parameters: "VV", "PP", "II", "QT", "BM", "RS", "TM0", "TM1", "TM2".
[[nodiscard]] std::string request(std::string_view command);

/// Of MD, ME, MS and GD, GE, GS.
struct ScanRequest {
  int first_step = 0;
  int last_step = 0;  ///< included
  int cluster = 1;    ///< steps whose shortest distance is sent as one value; 0 acts as 1
  int skip = 0;       ///< scans left out between two (continuous only)
  int count = 0;      ///< scans, 1..99; 0 is endless (continuous only)
  bool intensity = false;
  bool two_characters = false;  ///< MS, GS: distances to 4095 mm
  bool continuous = true;
  [[nodiscard]] int values() const { return (last_step - first_step) / (cluster < 1 ? 1 : cluster) + 1; }
  [[nodiscard]] std::string command() const;
};
[[nodiscard]] std::string request(const ScanRequest& scan);

// Replies.

/// One reply as it was on the line.
struct Reply {
  std::string echo;                ///< the request's line
  std::string status;              ///< two characters
  std::vector<std::string> lines;  ///< behind the status, sums included
  bool status_sum_good = true;

  /// The request's letters: "VV", "MD", "TM", "%S" ...
  [[nodiscard]] std::string_view command() const { return std::string_view(echo).substr(0, 2); }
};

/// Cuts a stream of bytes into replies. A line that got lost or glued costs that reply: the echo of a scan followed by its
/// status starts a new one, whatever came before.
class ReplyReader {
 public:
  void push(Bytes bytes);
  /// The next whole reply; nothing until more bytes are pushed. What has no end is never handed out.
  std::optional<Reply> next();
  void clear();

  [[nodiscard]] std::uint64_t dropped_bytes() const { return dropped_bytes_; }
  [[nodiscard]] std::uint64_t resyncs() const { return resyncs_; }

 private:
  std::optional<Reply> end_reply();
  bool take_line(std::string& line);
  void drop_lines(std::size_t count);

  std::string buffer_;
  std::size_t at_ = 0;
  std::vector<std::string> lines_;
  std::size_t line_bytes_ = 0;
  bool skipping_ = false;  // the rest of a line that is too long
  std::uint64_t dropped_bytes_ = 0;
  std::uint64_t resyncs_ = 0;
};

/// What a status code means, in words; codes that are not known give "status XY".
[[nodiscard]] std::string status_text(std::string_view command, std::string_view status);
/// Whether the sensor says that it is broken or checking itself: 0L, 0M, 21 to 98.
[[nodiscard]] bool is_trouble(std::string_view status);

/// Keys and values of VV, PP and II. Sums are checked with and without the semicolon and only counted: some sensors have them
/// wrong. A value may hold semicolons.
struct Info {
  std::vector<std::pair<std::string, std::string>> values;
  int bad_sums = 0;
  [[nodiscard]] std::optional<std::string> find(std::string_view key) const;
};
[[nodiscard]] Info decode_info(const Reply& reply);

/// From PP.
struct Parameters {
  std::string model;
  int least_mm = 0;        ///< DMIN
  int most_mm = 0;         ///< DMAX
  int steps_per_turn = 0;  ///< ARES
  int first_step = 0;      ///< AMIN
  int last_step = 0;       ///< AMAX
  int front_step = 0;      ///< AFRT
  int rpm = 0;             ///< SCAN
  /// s of one turn.
  [[nodiscard]] double period_s() const { return 60.0 / rpm; }
};
/// Nothing if a key lacks or no turn can be made of the numbers.
[[nodiscard]] std::optional<Parameters> decode_parameters(const Info& info);

/// The sensor's clock from a reply to TM1, ms modulo 2^24; nothing if the sum or a character is wrong.
[[nodiscard]] std::optional<std::uint32_t> decode_time(const Reply& reply);

struct ScanData {
  std::uint32_t time_ms = 0;  ///< the sensor's clock, modulo 2^24: the instant of step 0 of this turn
  int remaining = 0;          ///< scans still to come of a finite request
  std::vector<std::uint32_t> distances_mm;
  std::vector<std::uint32_t> intensities;
};
enum class ScanFault {
  kNone,
  kNotAScan,      ///< the echo is another request's
  kAcknowledged,  ///< 00: the stream begins (continuous), no data
  kStatus,        ///< any status but 99 (continuous) or 00 (single)
  kBadSum,        ///< of the status, the time or a data line
  kBadCharacter,
  kWrongLength,  ///< lines are not the blocks of 64, or not as many values as asked for
};
/// Fills `data` from a reply to `asked`; anything but kNone leaves no scan to use.
[[nodiscard]] ScanFault decode_scan(const Reply& reply, const ScanRequest& asked, ScanData& data);

/// m; +inf for "no return", NaN for error codes and other values outside [DMIN, DMAX].
[[nodiscard]] float range_of(std::uint32_t distance_mm, const Parameters& sensor);
/// The scan without its stamp, which is the caller's (drivers/device_clock.hpp). Angles from AFRT, counter-clockwise.
[[nodiscard]] LaserScan to_laser_scan(const ScanData& data, const ScanRequest& asked, const Parameters& sensor);

}  // namespace pitwall::scip
