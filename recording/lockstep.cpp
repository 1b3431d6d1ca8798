// SPDX-License-Identifier: Apache-2.0
#include "recording/lockstep.hpp"

#include <algorithm>
#include <utility>

#include "ros_messages/convert.hpp"
#include "ros_messages/geometry.hpp"

namespace pitwall::recording {
namespace {

constexpr Duration kLargestGap{250'000'000};
constexpr Duration kInjectedAhead{500'000'000};

/// A message that waits for its release.
struct Waiting {
  Time release;
  std::uint64_t sequence = 0;
  bool gated = false;
  std::string topic;
  std::string type;
  Time time;
  Buffer data;
};

Buffer transform_bytes(const StampedPose& pose) {
  ros_messages::TFMessage message;
  ros_messages::TransformStamped& transform = message.transforms.emplace_back();
  transform.header.stamp = ros_messages::to_stamp(pose.stamp);
  transform.header.frame_id = "golden_map";
  transform.child_frame_id = "golden_base";
  const Pose3& p = pose.pose;
  transform.transform = {{p.x, p.y, p.z}, {p.qx, p.qy, p.qz, p.qw}};
  const std::string bytes = ros_messages::write(message);
  return Buffer(as_bytes(bytes).begin(), as_bytes(bytes).end());
}

/// Plays one recording: messages in order of (release time, order of arrival here).
class Player {
 public:
  Player(Destination& to, const PlayerOptions& options, PlayReport& report) : to_(to), options_(options), report_(report) {}

  Status play(BagReader& reader) {
    inject(reader);
    while (const BagMessage* message = reader.next()) {
      const Topic& topic = reader.topics()[message->topic];
      const auto among = [](const std::vector<std::string>& names, const std::string& name) {
        return std::find(names.begin(), names.end(), name) != names.end();
      };
      if (among(options_.left_out, topic.name)) continue;
      const bool gate = among(options_.gated_types, topic.type);
      if (gate && !to_.has_subscriber(topic.name)) continue;
      const bool wait = gate && options_.mode == PlayMode::kLockstep;
      const Time release = wait ? message->log_time + options_.lookahead : message->log_time;
      if (const Status status = release_until(message->log_time); !status) return status;
      push({release, sequence_++, gate, topic.name, topic.type, message->log_time, Buffer(message->data.begin(), message->data.end())});
    }
    const Status status = release_until(Time{INT64_MAX});
    report_.findings.insert(report_.findings.end(), reader.findings().begin(), reader.findings().end());
    return status ? check_outputs() : status;
  }

 private:
  static bool later(const Waiting& a, const Waiting& b) { return std::pair(a.release, a.sequence) > std::pair(b.release, b.sequence); }

  void push(Waiting waiting) {
    queue_.push_back(std::move(waiting));
    std::push_heap(queue_.begin(), queue_.end(), later);
  }

  void inject(const BagReader& reader) {
    if (options_.injected.empty() || !reader.start()) return;
    for (const StampedPose& pose : densified(options_.injected, *reader.start(), *reader.end())) {
      push({pose.stamp - kInjectedAhead, sequence_++, false, "/tf", "tf2_msgs/msg/TFMessage", pose.stamp, transform_bytes(pose)});
      ++report_.injected;
    }
  }

  /// Everything whose release is not after `now`: nothing earlier can still come.
  Status release_until(Time now) {
    while (!queue_.empty() && queue_.front().release < now) {
      std::pop_heap(queue_.begin(), queue_.end(), later);
      const Waiting next = std::move(queue_.back());
      queue_.pop_back();
      if (options_.mode == PlayMode::kChunked && next.time >= chunk_end_) {
        if (const Status status = check_outputs(); !status) return status;
        chunk_end_ = next.time + options_.chunk;
      }
      if (next.gated) {
        if (const Status status = to_.ready(next.time); !status) return status;
        last_sensor_ = next.time;
        ++report_.gated;
      }
      if (const Status status = to_.give({next.topic, next.type, next.time, next.data}); !status) return status;
      ++report_.delivered;
    }
    return {};
  }

  Status check_outputs() {
    if (options_.mode != PlayMode::kChunked || !last_sensor_) return {};
    if (const Status status = to_.catch_up(*last_sensor_ - options_.slack); !status) return status;
    if (!to_.last_output() || *to_.last_output() >= *last_sensor_ - options_.slack) return {};
    return Error{"outputs stalled: the last is of " + std::to_string(to_.last_output()->ns) + " ns, the last sensor message of " +
                 std::to_string(last_sensor_->ns) + " ns"};
  }

  Destination& to_;
  const PlayerOptions& options_;
  PlayReport& report_;
  std::vector<Waiting> queue_;
  std::uint64_t sequence_ = 0;
  Time chunk_end_{INT64_MIN};
  std::optional<Time> last_sensor_;
};

}  // namespace

void Bus::publish(const std::string& topic, const std::string& type, Bytes data) {
  published_.push_back({topic, type, handling_, Buffer(data.begin(), data.end())});
  last_output_ = handling_;
}

void Bus::run_handlers(const BusMessage& message) {
  const auto found = handlers_.find(message.topic);
  if (found == handlers_.end()) return;
  for (const Handler& handler : found->second) handler(message);
}

void Bus::deliver(const BusMessage& message) {
  handling_ = message.time;
  run_handlers(message);
  while (!published_.empty()) {
    const Published next = std::move(published_.front());
    published_.pop_front();
    run_handlers({next.topic, next.type, next.time, next.data});
  }
}

void Bus::set_clock(Time now) {
  if (now <= clock_) return;
  clock_ = now;
  for (const auto& handler : clock_handlers_) handler(now);
}

Result<PlayReport> play(const std::vector<std::filesystem::path>& recordings, Destination& to, const PlayerOptions& options) {
  PlayReport report;
  for (const std::filesystem::path& recording : recordings) {
    auto reader = BagReader::open(recording);
    if (!reader) return reader.error();
    Player player(to, options, report);
    if (const Status status = player.play(*reader); !status) return Error{recording.string() + ": " + status.error().message};
  }
  return report;
}

std::vector<StampedPose> densified(const std::vector<StampedPose>& trajectory, Time start, Time end) {
  std::vector<StampedPose> out;
  if (trajectory.empty()) return out;
  std::vector<StampedPose> all = trajectory;
  if (start < all.front().stamp) all.insert(all.begin(), {start, all.front().pose});
  if (end > all.back().stamp) all.push_back({end, all.back().pose});
  for (std::size_t k = 0; k + 1 < all.size(); ++k) {
    const Duration span = all[k + 1].stamp - all[k].stamp;
    const std::int64_t pieces = std::max<std::int64_t>(1, (span.ns + kLargestGap.ns - 1) / kLargestGap.ns);
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      const Time at = all[k].stamp + Duration{span.ns / pieces * piece};
      out.push_back({at, interpolate(all[k], all[k + 1], at)});
    }
  }
  out.push_back(all.back());
  return out;
}

}  // namespace pitwall::recording
