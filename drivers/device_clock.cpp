// SPDX-License-Identifier: Apache-2.0
#include "drivers/device_clock.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/check.hpp"

namespace pitwall::drivers {
namespace {

constexpr int kBuckets = 64;                               // least delays kept, over the window
constexpr Duration kLongestPair = from_milliseconds(200);  // a slower answer bounds nothing worth having
constexpr double kUnslopedError_ns = 2.5e6;  // what of a line of unknown slope the past may be off by that says where it is now
constexpr Duration kPairedFor = from_milliseconds(2'000);  // 500 ppm over it are 1 ms

}  // namespace

DeviceClock::DeviceClock(const DeviceClockOptions& options)
    : options_(options), least_delay_ns_(static_cast<double>(options.least_delay.ns)) {
  PITWALL_CHECK(options.tick.ns > 0 && options.modulus > 1 && options.window.ns > kBuckets);
}

void DeviceClock::reset() {
  const std::uint64_t restarts = restarts_;
  *this = DeviceClock(options_);
  restarts_ = restarts;
}

void DeviceClock::begin(std::uint64_t counter, Time now) {
  begun_ = true;
  last_counter_ = counter;
  device_ns_ = 0;
  last_arrival_ = now;
  minima_.clear();
  paired_ = false;
}

// Nearest to what the host's clock says has passed, of all that the counter can mean.
std::int64_t DeviceClock::unwrap(std::uint64_t counter, Time now) {
  counter %= options_.modulus;
  if (!begun_) {
    begin(counter, now);
    return 0;
  }
  const auto modulus_ns = static_cast<double>(options_.modulus) * static_cast<double>(options_.tick.ns);
  const std::uint64_t ticks = (counter + options_.modulus - last_counter_) % options_.modulus;
  const double forward_ns = static_cast<double>(ticks) * static_cast<double>(options_.tick.ns);
  const auto elapsed_ns = static_cast<double>((now - last_arrival_).ns);
  const double passed_ns = forward_ns + std::round((elapsed_ns - forward_ns) / modulus_ns) * modulus_ns;
  const bool jumped = std::abs(passed_ns - elapsed_ns) > static_cast<double>(options_.restart_limit.ns);
  if (jumped || passed_ns < -static_cast<double>(options_.backwards.ns)) {
    ++restarts_;
    begin(counter, now);
    return 0;
  }
  last_counter_ = counter;
  last_arrival_ = now;
  device_ns_ += static_cast<std::int64_t>(passed_ns);
  return device_ns_;
}

void DeviceClock::add_pair(std::uint64_t counter, Time asked, Time answered) {
  if (answered < asked || answered - asked > kLongestPair) {
    return;
  }
  const std::int64_t device_ns = unwrap(counter, answered);
  // The counter stands between two ticks, and was read between the two instants.
  const std::int64_t low = asked.ns - device_ns - options_.tick.ns;
  const std::int64_t high = answered.ns - device_ns;
  const bool fits =
      paired_ && device_ns - pairs_device_ns_ < options_.window.ns && std::max(low, offset_low_ns_) <= std::min(high, offset_high_ns_);
  offset_low_ns_ = fits ? std::max(low, offset_low_ns_) : low;
  offset_high_ns_ = fits ? std::min(high, offset_high_ns_) : high;
  pairs_device_ns_ = device_ns;
  paired_ = true;
}

std::optional<Duration> DeviceClock::offset_uncertainty() const {
  return paired_ ? std::optional(Duration{(offset_high_ns_ - offset_low_ns_) / 2}) : std::nullopt;
}

double DeviceClock::envelope_at(std::int64_t device_ns) const {
  return envelope_ns_ + slope_ * static_cast<double>(device_ns - envelope_device_ns_);
}

void DeviceClock::add_arrival(Point point) {
  const std::int64_t bucket_ns = options_.window.ns / kBuckets;
  const bool fresh = minima_.empty() || point.device_ns / bucket_ns != minima_.back().device_ns / bucket_ns;
  if (fresh) {
    minima_.push_back(point);
    while (point.device_ns - minima_.front().device_ns > options_.window.ns) {
      minima_.pop_front();
    }
    fit();
  } else if (point.delay_ns < minima_.back().delay_ns) {
    minima_.back() = point;
  }
  envelope_ns_ = std::min(envelope_at(point.device_ns), static_cast<double>(point.delay_ns));
  envelope_device_ns_ = point.device_ns;
}

// The line below all points with the least distance to them: it lies along the edge of their lower hull under their mean.
void DeviceClock::fit() {
  double mean = 0.0;
  for (const Point& p : minima_) {
    mean += static_cast<double>(p.device_ns - minima_.front().device_ns) / static_cast<double>(minima_.size());
  }
  std::vector<Point> hull;
  for (const Point& p : minima_) {
    while (hull.size() >= 2) {
      const Point& a = hull[hull.size() - 2];
      const Point& b = hull.back();
      const double turn = static_cast<double>(b.device_ns - a.device_ns) * static_cast<double>(p.delay_ns - a.delay_ns) -
                          static_cast<double>(b.delay_ns - a.delay_ns) * static_cast<double>(p.device_ns - a.device_ns);
      if (turn > 0.0) {
        break;
      }
      hull.pop_back();
    }
    hull.push_back(p);
  }
  const bool long_enough = minima_.back().device_ns - minima_.front().device_ns >= options_.window.ns / 3;
  for (std::size_t i = 1; long_enough && i < hull.size(); ++i) {
    if (static_cast<double>(hull[i].device_ns - minima_.front().device_ns) >= mean) {
      const double slope =
          static_cast<double>(hull[i].delay_ns - hull[i - 1].delay_ns) / static_cast<double>(hull[i].device_ns - hull[i - 1].device_ns);
      slope_ = std::clamp(slope, -options_.max_drift, options_.max_drift);
      break;
    }
  }
  envelope_device_ns_ = minima_.back().device_ns;
  envelope_ns_ = static_cast<double>(minima_.back().delay_ns);
  for (const Point& p : minima_) {
    const double past_ns = static_cast<double>(envelope_device_ns_ - p.device_ns);
    if (!long_enough && past_ns * options_.max_drift > kUnslopedError_ns) {
      continue;
    }
    envelope_ns_ =
        std::min(envelope_ns_, static_cast<double>(p.delay_ns) + slope_ * static_cast<double>(envelope_device_ns_ - p.device_ns));
  }
}

Time DeviceClock::stamp(std::uint64_t counter, Time arrival) {
  const std::int64_t device_ns = unwrap(counter, arrival);
  add_arrival({device_ns, arrival.ns - device_ns});
  if (paired_ && device_ns - pairs_device_ns_ < kPairedFor.ns) {
    const double offset_ns = 0.5 * static_cast<double>(offset_low_ns_ + offset_high_ns_);
    least_delay_ns_ = std::max(0.0, envelope_at(device_ns) - offset_ns);
  }
  const double offset_ns = envelope_at(device_ns) - least_delay_ns_;
  const std::int64_t stamp_ns = device_ns + static_cast<std::int64_t>(offset_ns) + options_.tick.ns / 2;
  const Time stamp{std::min(stamp_ns, arrival.ns)};
  last_delay_ = arrival - stamp;
  return stamp;
}

}  // namespace pitwall::drivers
