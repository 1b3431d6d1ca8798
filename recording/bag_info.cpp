// SPDX-License-Identifier: Apache-2.0
#include "recording/bag_info.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "recording/bag_decoder.hpp"
#include "ros_messages/dynamic.hpp"

namespace pitwall::recording {

namespace {

constexpr std::size_t kMostSamples = std::size_t{1} << 17;
constexpr std::uint64_t kInfoProgressEvery = 4096;
constexpr std::int64_t kWallClock = 1'000'000'000'000'000'000;  // 2001-09-09: no simulation or uptime gets there
constexpr std::int64_t kSameClock = 3'600'000'000'000;          // an hour: what latency and time zones do not explain

/// What is kept of a topic while reading.
struct Running {
  TopicInfo info;
  SampledQuantiles intervals;
  SampledQuantiles latencies;
  std::optional<Time> last_stamp;
};

void see_stamp(Running& topic, const ros_messages::Definition& definition, const BagMessage& message) {
  const auto stamp = ros_messages::first_stamp(definition, as_text(message.data));
  if (!stamp || !stamp->has_value()) return;
  if ((*stamp)->ns == 0) {
    ++topic.info.zero_stamps;
    return;
  }
  ++topic.info.stamped;
  topic.latencies.add((message.log_time - **stamp).ns);
  if (topic.last_stamp && **stamp < *topic.last_stamp) ++topic.info.backward_stamps;
  topic.last_stamp = **stamp;
}

void see(Running& topic, const ros_messages::Definition* definition, const BagMessage& message, bool decode, std::string& scratch) {
  TopicInfo& info = topic.info;
  ++info.count;
  info.bytes += message.data.size();
  if (!info.first) info.first = message.log_time;
  if (info.last) {
    const Duration interval = message.log_time - *info.last;
    topic.intervals.add(interval.ns);
    if (!info.worst_gap || interval > *info.worst_gap) {
      info.worst_gap = interval;
      info.worst_gap_at = *info.last;
    }
  }
  info.last = message.log_time;
  if (definition == nullptr) return;
  see_stamp(topic, *definition, message);
  if (!decode) return;
  scratch.clear();
  if (const Status read = ros_messages::append_json(*definition, as_text(message.data), scratch); !read) {
    if (info.undecodable++ == 0) info.first_error = read.error().message;
  }
}

void finish(Running& topic) {
  TopicInfo& info = topic.info;
  if (info.count > 1 && *info.last > *info.first) info.rate_hz = static_cast<double>(info.count - 1) / (*info.last - *info.first).seconds();
  if (const auto median = topic.intervals.quantile(0.5)) {
    SampledQuantiles deviations;
    for (const std::int64_t interval : topic.intervals.values())
      deviations.add(interval > *median ? interval - *median : *median - interval);
    info.jitter = Duration{*deviations.quantile(0.95)};
  }
  if (const auto median = topic.latencies.quantile(0.5)) info.receive_minus_stamp = Duration{*median};
}

std::string clock_of(const BagInfo& info, const SampledQuantiles& publish) {
  if (!info.start) return "none: no messages";
  std::string text = info.start->ns >= kWallClock ? "wall clock" : "time since a start (simulation or uptime)";
  const auto has_clock = [](const TopicInfo& topic) { return topic.type == "rosgraph_msgs/msg/Clock" && topic.count > 0; };
  if (std::any_of(info.topics.begin(), info.topics.end(), has_clock)) text += ", with a simulated one on a topic of Clock messages";
  SampledQuantiles latencies;
  for (const TopicInfo& topic : info.topics) {
    if (topic.receive_minus_stamp) latencies.add(topic.receive_minus_stamp->ns);
  }
  if (const auto median = latencies.quantile(0.5)) {
    const bool same = std::abs(*median) < kSameClock;
    text += same ? "; stamps are of the same clock" : "; stamps are of another clock, " + duration_text({*median}) + " behind it";
  }
  if (const auto median = publish.quantile(0.5); median && std::abs(*median) >= kSameClock) {
    text += "; publish times are of another clock, " + duration_text({*median}) + " behind it";
  }
  return text;
}

/// Messages that the recorder counted as dropped, as BagWriter notes them.
std::uint64_t dropped_of(const BagReader& reader, const std::string& topic) {
  if (!reader.metadata()) return 0;
  for (const auto& [key, value] : reader.metadata()->custom_data) {
    if (key == "dropped:" + topic) return std::strtoull(value.c_str(), nullptr, 10);
  }
  return 0;
}

}  // namespace

void SampledQuantiles::add(std::int64_t value) {
  if (count_++ % every_ != 0) return;
  values_.push_back(value);
  if (values_.size() < kMostSamples) return;
  for (std::size_t i = 0; 2 * i < values_.size(); ++i) values_[i] = values_[2 * i];
  values_.resize(values_.size() / 2);
  every_ *= 2;
}

std::optional<std::int64_t> SampledQuantiles::quantile(double share) const {
  if (values_.empty()) return std::nullopt;
  std::vector<std::int64_t> sorted = values_;
  const auto rank = static_cast<std::ptrdiff_t>(share * static_cast<double>(sorted.size() - 1) + 0.5);
  std::nth_element(sorted.begin(), sorted.begin() + rank, sorted.end());
  return sorted[static_cast<std::size_t>(rank)];
}

bool BagInfo::damaged() const {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) { return finding.severity == Severity::kDamage; });
}

BagInfo inspect(BagReader& reader, const std::string& path, bool decode, const BagProgress& progress) {
  BagInfo info;
  info.path = path;
  const BagDecoder decoder(reader.topics());
  std::vector<Running> running(reader.topics().size());
  SampledQuantiles publish;
  std::string scratch;
  while (const BagMessage* message = reader.next()) {
    see(running[message->topic], decoder.definition(message->topic), *message, decode, scratch);
    publish.add((message->log_time - message->publish_time).ns);
    ++info.messages;
    if (progress && info.messages % kInfoProgressEvery == 0 && !progress(info.messages, reader.message_count())) {
      info.complete = false;
      break;
    }
  }
  info.storage = reader.storage();
  info.files = reader.files().size();
  info.start = reader.start();
  info.end = reader.end();
  if (reader.metadata()) info.ros_distro = reader.metadata()->ros_distro;
  for (std::size_t i = 0; i < running.size(); ++i) {
    const Topic& topic = reader.topics()[i];
    running[i].info.name = topic.name;
    running[i].info.type = topic.type;
    running[i].info.encoding = topic.encoding;
    running[i].info.why_opaque = decoder.why_not(i);
    running[i].info.dropped = dropped_of(reader, topic.name);
    finish(running[i]);
    info.topics.push_back(running[i].info);
  }
  std::sort(info.topics.begin(), info.topics.end(), [](const TopicInfo& a, const TopicInfo& b) { return a.name < b.name; });
  info.findings = reader.findings();
  info.clock = clock_of(info, publish);
  return info;
}

namespace {

std::string printed(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

/// Days since 1970 to year, month, day (Howard Hinnant, "chrono-compatible low-level date algorithms", civil_from_days).
std::array<std::int64_t, 3> civil(std::int64_t days) {
  days += 719468;
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const std::int64_t doe = days - era * 146097;
  const std::int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const std::int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const std::int64_t mp = (5 * doy + 2) / 153;
  const std::int64_t month = mp < 10 ? mp + 3 : mp - 9;
  return {yoe + era * 400 + (month <= 2 ? 1 : 0), month, doy - (153 * mp + 2) / 5 + 1};
}

std::string optional_text(const std::optional<Duration>& duration) { return duration ? duration_text(*duration) : "-"; }

std::string padded(std::string text, std::size_t width, bool right = false) {
  if (text.size() < width) text.insert(right ? 0 : text.size(), width - text.size(), ' ');
  return text;
}

}  // namespace

std::string time_text(Time time) {
  if (time.ns < kWallClock) return printed("%.3f s", time.seconds());
  const std::int64_t milliseconds = time.ns / 1'000'000;
  const auto [year, month, day] = civil(milliseconds / 86'400'000);
  const std::int64_t of_day = milliseconds % 86'400'000;
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "%04lld-%02lld-%02lld %02lld:%02lld:%02lld.%03lld UTC", static_cast<long long>(year),
                static_cast<long long>(month), static_cast<long long>(day), static_cast<long long>(of_day / 3'600'000),
                static_cast<long long>(of_day / 60'000 % 60), static_cast<long long>(of_day / 1000 % 60),
                static_cast<long long>(of_day % 1000));
  return text.data();
}

std::string duration_text(Duration duration) {
  const double seconds = duration.seconds();
  const double size = seconds < 0.0 ? -seconds : seconds;
  if (size < 1e-3) return printed("%.3g us", seconds * 1e6);
  if (size < 1.0) return printed("%.3g ms", seconds * 1e3);
  if (size < 100.0) return printed("%.3g s", seconds);
  if (size < 36e3) return printed("%.0f s", seconds);
  return size < 360e3 ? printed("%.1f h", seconds / 3600.0) : printed("%.1f days", seconds / 86400.0);
}

std::string info_text(const BagInfo& info) {
  std::string text = info.path + ": " + info.storage + ", " + std::to_string(info.files) + (info.files == 1 ? " file, " : " files, ") +
                     std::to_string(info.messages) + " messages on " + std::to_string(info.topics.size()) + " topics" +
                     (info.ros_distro.empty() ? "" : ", ROS " + info.ros_distro) + "\n";
  if (info.start)
    text += "from   " + time_text(*info.start) + "\nto     " + time_text(*info.end) + " (" + duration_text(*info.end - *info.start) + ")\n";
  text += "clock  " + info.clock + "\n";
  std::size_t name = 5;
  std::size_t type = 4;
  for (const TopicInfo& topic : info.topics) {
    name = std::max(name, topic.name.size());
    type = std::max(type, topic.type.size());
  }
  text +=
      "\n" + padded("topic", name) + "  " + padded("type", type) + "     count   rate Hz  worst gap     jitter  receive-stamp  backward\n";
  for (const TopicInfo& topic : info.topics) {
    text += padded(topic.name, name) + "  " + padded(topic.type, type) + "  " + padded(std::to_string(topic.count), 8, true) + "  " +
            padded(topic.rate_hz ? printed("%.2f", *topic.rate_hz) : "-", 8, true) + "  " +
            padded(optional_text(topic.worst_gap), 9, true) + "  " + padded(optional_text(topic.jitter), 9, true) + "  " +
            padded(optional_text(topic.receive_minus_stamp), 13, true) + "  " +
            padded(topic.stamped == 0 ? "-" : std::to_string(topic.backward_stamps), 8, true) + "\n";
  }
  for (const TopicInfo& topic : info.topics) {
    if (!topic.why_opaque.empty() && topic.count > 0) text += "note: " + topic.name + ": not decoded: " + topic.why_opaque + "\n";
    if (topic.zero_stamps > 0)
      text +=
          "note: " + topic.name + ": " + "stamps of 0, for which the time of receipt stands: " + std::to_string(topic.zero_stamps) + "\n";
    if (topic.dropped > 0)
      text += "damage: " + topic.name + ": messages that the recorder dropped: " + std::to_string(topic.dropped) + "\n";
    if (topic.undecodable > 0) {
      text += "damage: " + topic.name + ": messages that are not what their type says: " + std::to_string(topic.undecodable) +
              "; the first: " + topic.first_error + "\n";
    }
  }
  for (const Finding& finding : info.findings)
    text += (finding.severity == Severity::kDamage ? "damage: " : "note: ") + finding.text() + "\n";
  if (!info.complete) text += "note: stopped before the end; figures are of the part that was read\n";
  return text;
}

std::string info_json(const BagInfo& info) {
  using Json = nlohmann::ordered_json;
  const auto nanoseconds = [](const auto& time) { return time ? Json(time->ns) : Json(); };
  Json topics = Json::array();
  for (const TopicInfo& topic : info.topics) {
    topics.push_back({{"name", topic.name},
                      {"type", topic.type},
                      {"encoding", topic.encoding},
                      {"count", topic.count},
                      {"bytes", topic.bytes},
                      {"first_ns", nanoseconds(topic.first)},
                      {"last_ns", nanoseconds(topic.last)},
                      {"rate_hz", topic.rate_hz ? Json(*topic.rate_hz) : Json()},
                      {"worst_gap_ns", nanoseconds(topic.worst_gap)},
                      {"worst_gap_at_ns", topic.worst_gap ? Json(topic.worst_gap_at.ns) : Json()},
                      {"jitter_ns", nanoseconds(topic.jitter)},
                      {"stamped", topic.stamped},
                      {"zero_stamps", topic.zero_stamps},
                      {"backward_stamps", topic.backward_stamps},
                      {"receive_minus_stamp_ns", nanoseconds(topic.receive_minus_stamp)},
                      {"undecodable", topic.undecodable},
                      {"first_error", topic.first_error},
                      {"opaque", topic.why_opaque},
                      {"dropped", topic.dropped}});
  }
  Json findings = Json::array();
  for (const Finding& finding : info.findings) {
    findings.push_back({{"severity", finding.severity == Severity::kDamage ? "damage" : "note"},
                        {"file", finding.file},
                        {"offset", finding.offset},
                        {"what", finding.what},
                        {"kept", finding.kept}});
  }
  const Json json = {{"path", info.path},
                     {"storage", info.storage},
                     {"ros_distro", info.ros_distro},
                     {"files", info.files},
                     {"messages", info.messages},
                     {"start_ns", nanoseconds(info.start)},
                     {"end_ns", nanoseconds(info.end)},
                     {"clock", info.clock},
                     {"complete", info.complete},
                     {"damaged", info.damaged()},
                     {"topics", topics},
                     {"findings", findings}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace pitwall::recording
