// SPDX-License-Identifier: Apache-2.0
#include "recording/replay.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "core/node.hpp"
#include "core/text.hpp"
#include "recording/bag_reader.hpp"
#include "recording/recorder.hpp"
#include "recording/run_messages.hpp"
#include "ros_messages/convert.hpp"

namespace pitwall::recording {

namespace {

constexpr std::uint64_t kReplayProgressEvery = 256;

/// The messages of one topic, one after another; `Wire` is how they were recorded, `Message` what a controller sees.
template <class Wire, class Message>
class Cursor {
 public:
  /// A topic that the recording lacks has no messages.
  static Result<Cursor> open(const std::filesystem::path& path, const std::vector<Topic>& topics, const std::string& topic) {
    Cursor cursor;
    cursor.topic_ = topic;
    const auto same = [&](const Topic& each) { return each.name == topic; };
    const auto at = std::find_if(topics.begin(), topics.end(), same);
    if (at == topics.end()) return cursor;
    const Status type = ros_messages::same_type(ros_messages::describe<Wire>(), at->type, at->type_hash, at->schema, at->schema_encoding);
    if (!type) return Error{path.string() + ": topic " + topic + ": " + type.error().message};
    ReadOptions only;
    only.topics = {topic};
    Result<BagReader> reader = BagReader::open(path, only);
    if (!reader) return reader.error();
    cursor.reader_ = *std::move(reader);
    cursor.look_ahead();
    return cursor;
  }

  /// Goes on to the message with that number; false where it is not there. 0 is "none yet".
  Result<bool> go_to(std::uint64_t sequence) {
    while (next_ && next_sequence_ <= sequence) {
      if (const Status taken = take(); !taken) return taken.error();
    }
    return sequence == source_.sequence;
  }
  /// Goes on to the last message that had arrived by then.
  Status go_to(Time now) {
    while (next_ && next_arrival_ <= now) {
      if (const Status taken = take(); !taken) return taken;
    }
    return {};
  }
  /// The next message, whatever its time; false at the end.
  Result<bool> go_on() {
    if (!next_) return false;
    if (const Status taken = take(); !taken) return taken.error();
    return true;
  }
  [[nodiscard]] Source<Message> source() const {
    Source<Message> source = source_;
    source.message = source_.sequence > 0 ? &message_ : nullptr;
    return source;
  }
  [[nodiscard]] const Wire& wire() const { return wire_; }
  [[nodiscard]] std::uint64_t total() const { return reader_ ? reader_->message_count() : 0; }

 private:
  Status take() {
    if (Status read = ros_messages::read(bytes_, wire_); !read)
      return Error{topic_ + ": message " + std::to_string(next_sequence_) + ": " + read.error().message};
    if constexpr (!std::is_same_v<Wire, Message>) message_ = ros_messages::from_ros(wire_);
    source_.sequence = next_sequence_;
    source_.arrival = next_arrival_;
    look_ahead();
    return {};
  }
  void look_ahead() {
    const BagMessage* message = reader_->next();
    next_ = message != nullptr;
    if (!next_) return;
    // Where the format has no numbers, messages are counted.
    next_sequence_ = message->sequence > 0 ? message->sequence : next_sequence_ + 1;
    next_arrival_ = message->log_time;
    bytes_.assign(as_text(message->data));
  }

  std::string topic_;
  std::optional<BagReader> reader_;
  bool next_ = false;
  std::uint64_t next_sequence_ = 0;
  Time next_arrival_;
  std::string bytes_;
  Wire wire_;
  Message message_;
  Source<Message> source_;
};

/// All that a controller may see.
struct Inputs {
  Cursor<ros_messages::LaserScan, LaserScan> scan;
  Cursor<ros_messages::Odometry, Odometry> odometry;
  Cursor<ros_messages::PoseStamped, PoseEstimate> pose;
  Cursor<ros_messages::Joy, Joy> joy;
  Cursor<ros_messages::Imu, Imu> imu;

  [[nodiscard]] Observation at(Time now) const {
    Observation seen;
    seen.now = now;
    seen.scan = scan.source();
    seen.odometry = odometry.source();
    seen.pose = pose.source();
    seen.joy = joy.source();
    seen.imu = imu.source();
    return seen;
  }
};

Result<Inputs> open_inputs(const std::filesystem::path& bag, const std::vector<Topic>& topics, const std::string& prefix) {
  Inputs inputs;
  Status status;
  const auto open = [&](auto& cursor, std::string_view topic) {
    if (!status) return;
    auto opened = std::decay_t<decltype(cursor)>::open(bag, topics, prefix + std::string(topic));
    if (opened) {
      cursor = *std::move(opened);
    } else {
      status = opened.error();
    }
  };
  open(inputs.scan, kScanTopic);
  open(inputs.odometry, kOdometryTopic);
  open(inputs.pose, kPoseTopic);
  open(inputs.joy, kJoyTopic);
  open(inputs.imu, kImuTopic);
  if (!status) return status.error();
  return inputs;
}

/// Compares the answers of one tick, field by field in the order of `Command`.
class Comparison {
 public:
  Comparison(CarReplay& result, std::uint64_t tick, Time now) : result_(result), tick_(tick), now_(now) {}
  ~Comparison() {
    ++result_.ticks;
    result_.differing += differs_ ? 1 : 0;
  }
  Comparison(const Comparison&) = delete;
  Comparison& operator=(const Comparison&) = delete;

  void number(const char* field, float recorded, float replayed) {
    if (std::bit_cast<std::uint32_t>(recorded) != std::bit_cast<std::uint32_t>(replayed))
      differ(field, format_exact(recorded), format_exact(replayed));
  }
  void text(const char* field, const std::string& recorded, const std::string& replayed) {
    if (recorded != replayed) differ(field, recorded, replayed);
  }
  void command(float steering_angle_rad, float speed_mps, const Command& replayed) {
    number("steering_angle_rad", steering_angle_rad, replayed.steering_angle_rad);
    number("speed_mps", speed_mps, replayed.speed_mps);
    const auto apart = [](float a, float b) { return std::fabs(static_cast<double>(a) - static_cast<double>(b)); };
    result_.most_steering_rad = std::fmax(result_.most_steering_rad, apart(steering_angle_rad, replayed.steering_angle_rad));
    result_.most_speed_mps = std::fmax(result_.most_speed_mps, apart(speed_mps, replayed.speed_mps));
  }
  void differ(const std::string& field, const std::string& recorded, const std::string& replayed) {
    differs_ = true;
    if (!result_.first) result_.first = ReplayDifference{tick_, now_, field, recorded, replayed};
  }

 private:
  CarReplay& result_;
  std::uint64_t tick_;
  Time now_;
  bool differs_ = false;
};

/// Brings each source to the message that the tick had; names the first that is not there.
Result<std::optional<std::string>> go_to(Inputs& inputs, const Tick& tick) {
  std::optional<std::string> missing;
  Status status;
  const auto go = [&](auto& cursor, std::uint64_t sequence, const char* name) {
    if (!status || missing) return;
    const Result<bool> there = cursor.go_to(sequence);
    if (!there) {
      status = there.error();
    } else if (!*there) {
      missing = name;
    }
  };
  go(inputs.scan, tick.scan, "scan");
  go(inputs.odometry, tick.odometry, "odometry");
  go(inputs.pose, tick.pose, "pose");
  go(inputs.joy, tick.joy, "joy");
  go(inputs.imu, tick.imu, "imu");
  if (!status) return status.error();
  return missing;
}

/// The parameter changes of a recording, put in force call by call.
class Changes {
 public:
  Changes(const ReplayWatch& watch, Controller& controller) : watch_(watch), controller_(controller) {}

  /// Those that came by then, and `assignments` of a tick.
  Status before_call(Time now, const std::vector<std::string>& assignments = {}) {
    Node changes = Node::map();
    for (; next_ < watch_.changes.size() && watch_.changes[next_].at <= now; ++next_) {
      const ParameterChange& change = watch_.changes[next_];
      if (const Status set = add(change.name + "=" + change.value, changes); !set) return set;
    }
    for (const std::string& assignment : assignments) {
      if (const Status set = add(assignment, changes); !set) return set;
    }
    if (changes.entries.empty()) return {};
    const Status changed = controller_.change_parameters(changes);
    if (changed) return {};
    return Error{"parameters changed at " + time_text(now) + " (" + join(assignments_of(changes)) +
                 "), which cannot be replayed: " + changed.error().message};
  }

 private:
  Status add(const std::string& assignment, Node& changes) const {
    const std::string name = assignment.substr(0, assignment.find('='));
    if (std::find(watch_.fixed.begin(), watch_.fixed.end(), name) != watch_.fixed.end()) return {};
    return set_by_path(changes, assignment);
  }
  static std::vector<std::string> assignments_of(const Node& changes) {
    std::vector<std::string> all;
    for (const auto& [name, value] : changes.entries) all.push_back(name + "=" + (value.is_scalar() ? value.scalar : "..."));
    return all;
  }
  const ReplayWatch& watch_;
  Controller& controller_;
  std::size_t next_ = 0;
};

void tell(const ReplayWatch& watch, const Observation& seen, float steering_rad, float speed_mps, const Tick* recorded,
          const Command& replayed) {
  if (watch.call) watch.call({seen, steering_rad, speed_mps, recorded, replayed});
}

/// One recorded call again. False where it cannot be made: nothing after it would be exact.
Result<bool> replay_tick(const Tick& tick, Inputs& inputs, Controller& controller, Changes& changes, const ReplayWatch& watch,
                         CarReplay& result) {
  Comparison comparison(result, tick.tick, {tick.now_ns});
  if (const Status changed = changes.before_call({tick.now_ns}, tick.parameter_changes); !changed) return changed.error();
  if (tick.tick != result.ticks + 1) {
    comparison.differ("tick", std::to_string(tick.tick), std::to_string(result.ticks + 1));
    return false;
  }
  const auto missing = go_to(inputs, tick);
  if (!missing) return missing.error();
  if (*missing) {
    comparison.differ(**missing, "a message", "not in the recording");
    return false;
  }
  const Observation seen = inputs.at({tick.now_ns});
  const Command command = controller.update(seen);
  tell(watch, seen, tick.steering_angle_rad, tick.speed_mps, &tick, command);
  comparison.command(tick.steering_angle_rad, tick.speed_mps, command);
  comparison.text("reason", tick.reason, std::string(name(command.reason)));
  comparison.text("layer", tick.layer, std::string(name(command.layer)));
  comparison.text("beam", std::to_string(tick.beam), std::to_string(command.beam));
  comparison.number("ttc_s", tick.ttc_s, command.ttc_s);
  return true;
}

bool go_on(const BagProgress& progress, CarReplay& result, std::uint64_t done, std::uint64_t total) {
  if (progress && done % kReplayProgressEvery == 0 && !progress(done, total)) result.complete = false;
  return result.complete;
}

Status replay_exactly(BagReader& ticks, Inputs& inputs, Controller& controller, CarReplay& result, const ReplayWatch& watch) {
  Changes changes(watch, controller);
  Tick tick;
  std::uint64_t seen = 0;
  while (const BagMessage* message = ticks.next()) {
    if (Status read = ros_messages::read(as_text(message->data), tick); !read) return read;
    if (tick.car != result.car) continue;
    const Result<bool> made = replay_tick(tick, inputs, controller, changes, watch, result);
    if (!made) return made.error();
    if (!*made || !go_on(watch.progress, result, ++seen, ticks.message_count())) break;
  }
  return {};
}

Status replay_by_arrival(const std::filesystem::path& bag, const std::vector<Topic>& topics, const RecordedCar& car, Inputs& inputs,
                         Controller& controller, CarReplay& result, const ReplayWatch& watch) {
  using Drive = ros_messages::AckermannDriveStamped;
  Result<Cursor<Drive, Drive>> drives = Cursor<Drive, Drive>::open(bag, topics, car.prefix + std::string(kDriveTopic));
  if (!drives) return drives.error();
  Changes changes(watch, controller);
  while (true) {
    const Result<bool> more = drives->go_on();
    if (!more) return more.error();
    if (!*more) return {};
    const Drive& drive = drives->wire();
    const Time stamp = ros_messages::to_time(drive.header.stamp);
    const Time now = stamp.ns != 0 ? stamp : drives->source().arrival;
    Status status;
    const auto go = [&](auto& cursor) { status = status ? cursor.go_to(now) : status; };
    go(inputs.scan);
    go(inputs.odometry);
    go(inputs.pose);
    go(inputs.joy);
    go(inputs.imu);
    if (status) status = changes.before_call(now);
    if (!status) return status;
    const Observation seen = inputs.at(now);
    const Command command = controller.update(seen);
    tell(watch, seen, drive.drive.steering_angle, drive.drive.speed, nullptr, command);
    Comparison(result, result.ticks + 1, now).command(drive.drive.steering_angle, drive.drive.speed, command);
    if (!go_on(watch.progress, result, result.ticks, drives->total())) return {};
  }
}

/// The ticks of a run folder; nothing where there are none.
Result<std::optional<BagReader>> open_ticks(const std::filesystem::path& run) {
  const std::filesystem::path file = run / "internal.mcap";
  if (!std::filesystem::exists(file)) return std::optional<BagReader>();
  Result<BagReader> all = BagReader::open(file);
  if (!all) return all.error();
  const auto is_tick = [](const Topic& topic) { return topic.name == kTickTopic; };
  if (std::none_of(all->topics().begin(), all->topics().end(), is_tick)) return std::optional<BagReader>();
  ReadOptions only;
  only.topics = {std::string(kTickTopic)};
  Result<BagReader> ticks = BagReader::open(file, only);
  if (!ticks) return ticks.error();
  return std::optional<BagReader>(*std::move(ticks));
}

}  // namespace

std::string ReplayDifference::text() const {
  return "tick " + std::to_string(tick) + " (" + time_text(now) + "): " + field + " was " + recorded + ", is " + replayed;
}

Result<CarReplay> replay(const std::filesystem::path& run, const RecordedCar& car, Controller& controller, const ReplayWatch& watch) {
  CarReplay result;
  result.car = car.name;
  result.controller = std::string(controller.name());
  Result<std::optional<BagReader>> ticks = open_ticks(run);
  if (!ticks) return ticks.error();
  const Result<BagReader> bag = BagReader::open(run);
  if (!bag) return bag.error();
  Result<Inputs> inputs = open_inputs(run, bag->topics(), car.prefix);
  if (!inputs) return inputs.error();
  Observation first;
  first.now = bag->start().value_or(Time{});
  if (const Result<RunManifest> manifest = load_manifest(run); manifest) first.now = manifest->start;
  controller.reset(first);
  result.approximate = !ticks->has_value();
  const Status replayed = result.approximate ? replay_by_arrival(run, bag->topics(), car, *inputs, controller, result, watch)
                                             : replay_exactly(**ticks, *inputs, controller, result, watch);
  if (!replayed) return Error{run.string() + ", car '" + car.name + "': " + replayed.error().message};
  if (result.ticks == 0 && result.complete) {
    return Error{run.string() + ": no commands of car '" + car.name + "' (neither ticks nor " + car.prefix + std::string(kDriveTopic) +
                 ")"};
  }
  return result;
}

}  // namespace pitwall::recording
