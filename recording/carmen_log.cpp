// SPDX-License-Identifier: Apache-2.0
#include "recording/carmen_log.hpp"

#include <cmath>
#include <optional>

#include "core/math.hpp"
#include "core/text.hpp"

namespace pitwall::recording {
namespace {

constexpr double kSpacing_s = 0.1;
constexpr std::size_t kMostBeams = 10000;

class Reader {
 public:
  Status take(std::string_view line, const std::string& where) {
    words_.clear();
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t begin = line.find_first_not_of(" \t\r", at);
      if (begin == std::string_view::npos) break;
      at = std::min(line.size(), line.find_first_of(" \t\r", begin));
      words_.push_back(line.substr(begin, at - begin));
    }
    if (words_.empty()) return {};
    if (words_.front() == "ODOM") return odometry(where);
    return words_.front() == "FLASER" ? laser(where) : Status{};
  }
  CarmenLog log;

 private:
  // Numbers from word `first` on; the error says which is none.
  Status numbers(std::size_t first, std::size_t count, const std::string& where) {
    if (words_.size() < first + count) return Error{where + ": the line ends after " + std::to_string(words_.size()) + " words"};
    values_.clear();
    for (std::size_t k = first; k < first + count; ++k) {
      const auto value = parse_double(words_[k]);
      if (!value || !std::isfinite(*value)) return Error{where + ": '" + std::string(words_[k]) + "' is no finite number"};
      values_.push_back(*value);
    }
    return {};
  }

  Status odometry(const std::string& where) {
    if (const Status status = numbers(1, 3, where); !status) return status;
    last_odometry_ = Pose2{values_[0], values_[1], values_[2]};
    return {};
  }

  Status laser(const std::string& where) {
    if (const Status status = numbers(1, 1, where); !status) return status;
    const double beams = values_[0];
    if (!(beams >= 2.0 && beams <= static_cast<double>(kMostBeams)) || beams != std::floor(beams)) {
      return Error{where + ": FLASER with " + std::string(words_[1]) + " beams: must be 2 .. " + std::to_string(kMostBeams)};
    }
    const auto count = static_cast<std::size_t>(beams);
    if (const Status status = numbers(2, count + 7, where); !status) return status;
    CarmenScan next;
    next.scan.stamp = Time{} + from_seconds(values_[count + 6]);
    // 180 beams are those of 181 without the last.
    const double spacing = math::kPi / (count > 181 ? 360.0 : 180.0);
    next.scan.angle_min = static_cast<float>(-0.5 * math::kPi);
    next.scan.angle_increment = static_cast<float>(spacing);
    next.scan.angle_max = next.scan.angle_min + static_cast<float>(spacing * static_cast<double>(count - 1));
    // "No return" is written as 50 to 51.2 by one driver, as 81.83 to 81.91 by the others.
    double farthest = 0.0;
    for (std::size_t k = 0; k < count; ++k) {
      next.scan.ranges.push_back(static_cast<float>(values_[k]));
      farthest = std::max(farthest, values_[k]);
    }
    farthest_m_ = std::max(farthest_m_, farthest);
    next.T_corrected = {values_[count], values_[count + 1], wrap_angle(values_[count + 2])};
    if (!log.scans.empty()) {
      const CarmenScan& before = log.scans.back();
      next.T_odom = before.T_odom * (inverse(before.T_corrected) * last_odometry_.value_or(next.T_corrected));
    }
    last_odometry_.reset();
    log.scans.push_back(std::move(next));
    return {};
  }

 public:
  void finish() {
    const float range_max = farthest_m_ > 60.0 ? 80.0F : 50.0F;
    for (std::size_t k = 0; k < log.scans.size(); ++k) {
      log.scans[k].scan.range_max = range_max;
      log.stamps_replaced = log.stamps_replaced || (k > 0 && log.scans[k].scan.stamp.ns <= log.scans[k - 1].scan.stamp.ns);
    }
    if (!log.stamps_replaced) return;
    for (std::size_t k = 0; k < log.scans.size(); ++k) log.scans[k].scan.stamp = Time{} + from_seconds(kSpacing_s * static_cast<double>(k));
  }

 private:
  std::vector<std::string_view> words_;
  std::vector<double> values_;
  std::optional<Pose2> last_odometry_;
  double farthest_m_ = 0.0;
};

}  // namespace

Result<CarmenLog> parse_carmen(std::string_view text, const std::string& name) {
  Reader reader;
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.size(), text.find('\n', at));
    ++number;
    if (const Status status = reader.take(text.substr(at, end - at), name + ":" + std::to_string(number)); !status) return status.error();
    at = end + 1;
  }
  if (reader.log.scans.empty()) return Error{name + ": no FLASER line: not a log of CARMEN, or one without scans"};
  reader.finish();
  return std::move(reader.log);
}

}  // namespace pitwall::recording
