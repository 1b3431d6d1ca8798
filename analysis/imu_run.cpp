// SPDX-License-Identifier: Apache-2.0
#include "analysis/imu_run.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "analysis/cache.hpp"
#include "analysis/motion_cache.hpp"
#include "analysis/run_analysis.hpp"
#include "analysis/topic_reader.hpp"
#include "analysis/turn_rates.hpp"
#include "core/math.hpp"
#include "core/text.hpp"
#include "recording/bag_reader.hpp"
#include "ros_messages/drive.hpp"
#include "ros_messages/nav.hpp"
#include "ros_messages/sensors.hpp"

namespace pitwall::analysis {

namespace {

namespace fs = std::filesystem;
namespace ros = ros_messages;

constexpr double kLongestImuGap_s = 0.25;

/// Whether a topic belongs to the car that is analysed.
bool is_of_car(const RunData& run, const std::string& topic) {
  if (!run.car.prefix.empty()) return topic.starts_with(run.car.prefix + "/");
  if (!run.manifest) return true;
  return std::none_of(run.manifest->cars.begin(), run.manifest->cars.end(),
                      [&](const recording::RecordedCar& car) { return !car.prefix.empty() && topic.starts_with(car.prefix + "/"); });
}

template <class Wire, class Take>
std::unique_ptr<TopicReader> reader(Time origin, Take take) {
  return std::make_unique<TypedReader<Wire, Take>>(origin, std::move(take));
}

void add_sample(ImuSeries& to, double t_s, double arrival_s, const ros::Vector3& gyro, const ros::Vector3& accel) {
  to.t_s.push_back(t_s);
  to.arrival_s.push_back(arrival_s);
  to.gyro_x.push_back(gyro.x);
  to.gyro_y.push_back(gyro.y);
  to.gyro_z.push_back(gyro.z);
  to.accel_x.push_back(accel.x);
  to.accel_y.push_back(accel.y);
  to.accel_z.push_back(accel.z);
}

std::unique_ptr<TopicReader> odometry_reader(Time origin, OdometryTrack& track) {
  return reader<ros::Odometry>(origin, [&track](const ros::Odometry& wire, double t_s, double arrival_s) {
    const Odometry m = ros::from_ros(wire);
    track.frame = wire.header.frame_id;
    OdometrySeries& to = track.series;
    to.t_s.push_back(t_s);
    to.arrival_s.push_back(arrival_s);
    to.x_m.push_back(m.position.x);
    to.y_m.push_back(m.position.y);
    to.yaw_rad.push_back(yaw_of(m.orientation));
    to.speed_mps.push_back(m.speed_mps);
    to.yaw_rate_radps.push_back(m.yaw_rate_radps);
  });
}

/// Every IMU, odometry and motor state of the car.
Status read_tracks(const ImuRunOptions& options, ImuRun& into) {
  const Result<recording::BagReader> all = recording::BagReader::open(options.run);
  if (!all) return all.error();
  std::vector<const recording::Topic*> topics;
  recording::ReadOptions only;
  for (const recording::Topic& topic : all->topics()) {
    const bool wanted = topic.type == ros::Imu::kType || topic.type == ros::VescImuStamped::kType || topic.type == ros::Odometry::kType ||
                        topic.type == ros::VescStateStamped::kType;
    if (!wanted || topic.message_count == 0 || !is_of_car(into.run, topic.name)) continue;
    topics.push_back(&topic);
    only.topics.push_back(topic.name);
  }
  if (only.topics.empty()) return {};
  into.imus.reserve(topics.size());
  into.odometries.reserve(topics.size());
  Result<recording::BagReader> bag = recording::BagReader::open(options.run, only);
  if (!bag) return bag.error();
  std::vector<std::unique_ptr<TopicReader>> readers(bag->topics().size());
  const Time origin = into.run.origin;
  for (std::size_t k = 0; k < readers.size(); ++k) {
    const recording::Topic& topic = bag->topics()[k];
    if (std::find(only.topics.begin(), only.topics.end(), topic.name) == only.topics.end()) continue;
    if (topic.type == ros::Odometry::kType) {
      into.odometries.push_back({topic.name, {}, "", false});
      readers[k] = odometry_reader(origin, into.odometries.back());
    } else if (topic.type == ros::Imu::kType) {
      into.imus.push_back({topic.name, {}, {}, 0});
      ImuSeries& to = into.imus.back().series;
      readers[k] = reader<ros::Imu>(origin, [&to](const ros::Imu& m, double t_s, double arrival_s) {
        add_sample(to, t_s, arrival_s, m.angular_velocity, m.linear_acceleration);
      });
    } else if (topic.type == ros::VescImuStamped::kType) {
      into.imus.push_back({topic.name, {}, {}, 0});
      ImuSeries& to = into.imus.back().series;
      readers[k] = reader<ros::VescImuStamped>(origin, [&to](const ros::VescImuStamped& m, double t_s, double arrival_s) {
        add_sample(to, t_s, arrival_s, m.imu.angular_velocity, m.imu.linear_acceleration);
      });
    } else {
      readers[k] =
          reader<ros::VescStateStamped>(origin, [&to = into.motor](const ros::VescStateStamped& m, double t_s, double /*arrival_s*/) {
            to.t_s.push_back(t_s);
            to.erpm.push_back(m.state.speed);
          });
    }
  }
  while (const recording::BagMessage* message = bag->next()) {
    if (readers[message->topic]) readers[message->topic]->read(*message);
  }
  return {};
}

/// What a localiser put right, by /tf.
Status read_corrections(const fs::path& path, ImuRun& into) {
  std::map<std::string, std::pair<std::vector<double>, std::vector<Pose2>>> edges;
  StampClock clock(into.run.origin);
  const Status read = each_transform(path, {"/tf"}, clock, [&](const FrameEdge& edge, double t_s, const Pose2& T_map_child) {
    if (edge.parent != "map" && !edge.parent.ends_with("/map")) return;
    auto& [stamps_s, poses] = edges[edge.text()];
    stamps_s.push_back(t_s);
    poses.push_back(T_map_child);
  });
  if (!read) return read;
  for (const auto& [name, samples] : edges) {
    into.corrections.push_back(track_of(name, samples.first, samples.second));
    into.corrections.back().frame = FrameEdge::parse(name)->parent;
  }
  return {};
}

/// Columns in the order of the stamps, each stamp once.
void sort_columns(std::vector<double>& t_s, const std::vector<std::vector<double>*>& columns) {
  const std::vector<std::size_t> order = sorted_by_stamp(t_s);
  const auto pick = [&](std::vector<double>& values) {
    std::vector<double> sorted;
    sorted.reserve(order.size());
    for (const std::size_t i : order) sorted.push_back(values[i]);
    values = std::move(sorted);
  };
  for (std::vector<double>* column : columns) pick(*column);
  pick(t_s);
}

/// The turn rate of an odometry that says none while its heading turns.
void mend_rate(OdometryTrack& odometry, std::vector<std::string>& warnings) {
  OdometrySeries& s = odometry.series;
  constexpr double kTurned_rad = 0.1;
  double turned = 0.0;
  for (std::size_t i = 1; i < s.size(); ++i) turned += std::abs(wrap_angle(s.yaw_rad[i] - s.yaw_rad[i - 1]));
  const bool says_none = std::all_of(s.yaw_rate_radps.begin(), s.yaw_rate_radps.end(), [](double w) { return w == 0.0; });
  if (!says_none || turned < kTurned_rad) return;
  odometry.rate_from_heading = true;
  s.yaw_rate_radps = recording::turn_rate_of(s.t_s, s.yaw_rad);
  warnings.push_back(odometry.topic + ": it says no turn rate while its heading turns by " + format_number(turned / math::kDegree, 3) +
                     " deg in all; differences of the heading stand in");
}

void to_si(ImuTrack& imu, const std::vector<recording::TurnReference>& references, std::vector<std::string>& warnings) {
  ImuSeries& s = imu.series;
  imu.units = recording::detect_imu_units({s.gyro_x, s.gyro_y, s.gyro_z, s.accel_x, s.accel_y, s.accel_z}, references);
  const double a = imu.units.acceleration_factor();
  const double w = imu.units.rate_factor();
  for (std::vector<double>* column : {&s.gyro_x, &s.gyro_y, &s.gyro_z}) {
    for (double& each : *column) each *= w;
  }
  for (std::vector<double>* column : {&s.accel_x, &s.accel_y, &s.accel_z}) {
    for (double& each : *column) each *= a;
  }
  if (!imu.units.si()) warnings.push_back(imu.topic + ": " + imu.units.reason + "; converted");
  if (imu.units.opposite_turn) warnings.push_back(imu.topic + ": its gyro turns against the reference; its z axis points down");
  if (imu.units.rate == recording::RateUnit::kUnknown || imu.units.acceleration == recording::AccelerationUnit::kUnknown) {
    warnings.push_back(imu.topic + ": its units cannot be told (" + imu.units.reason + "); taken as they are");
  }
}

/// Turn rates of the scans and of the odometries at the samples of an IMU.
std::vector<recording::TurnReference> references_at(const ImuRun& run, const std::vector<double>& at_s) {
  std::vector<recording::TurnReference> references;
  for (const RateSource& source : rate_sources(run)) {
    if (source.kind == RateSource::Kind::kGyro) continue;
    std::vector<double> t_s;
    for (std::size_t i = 0; i < source.size(); ++i) t_s.push_back(source.middle_s(i));
    references.push_back({source.name, signals::resample(t_s, source.rate_radps, at_s, signals::Between::kLinear, kLongestImuGap_s)});
  }
  // What measured comes before what was computed from the command.
  std::stable_partition(references.begin(), references.end(), [](const auto& each) { return each.source == "scans"; });
  return references;
}

/// One sample has no rate, no delay and no spectrum.
template <class SeriesTrack>
void leave_out_single(std::vector<SeriesTrack>& tracks, std::vector<std::string>& warnings) {
  for (const SeriesTrack& each : tracks) {
    if (each.series.size() < 2) warnings.push_back(each.topic + ": left out, it has fewer than two readable samples");
  }
  std::erase_if(tracks, [](const SeriesTrack& each) { return each.series.size() < 2; });
}

void tidy(ImuRun& into) {
  for (OdometryTrack& each : into.odometries) {
    OdometrySeries& s = each.series;
    sort_columns(s.t_s, {&s.arrival_s, &s.x_m, &s.y_m, &s.yaw_rad, &s.speed_mps, &s.yaw_rate_radps});
    mend_rate(each, into.warnings);
  }
  sort_columns(into.motor.t_s, {&into.motor.erpm});
  for (ImuTrack& each : into.imus) {
    ImuSeries& s = each.series;
    for (std::size_t i = 1; i < s.size(); ++i) each.backward += s.t_s[i] <= s.t_s[i - 1] ? 1 : 0;
    sort_columns(s.t_s, {&s.arrival_s, &s.gyro_x, &s.gyro_y, &s.gyro_z, &s.accel_x, &s.accel_y, &s.accel_z});
  }
  leave_out_single(into.imus, into.warnings);
  leave_out_single(into.odometries, into.warnings);
  for (ImuTrack& each : into.imus) to_si(each, references_at(into, each.series.t_s), into.warnings);
}

}  // namespace

Result<ImuRun> load_imu_run(const ImuRunOptions& options, bool needs_imu) {
  {
    const Result<recording::BagReader> there = recording::BagReader::open(options.run);
    if (!there) return there.error();
  }
  const Result<Driver> driver = find_driver(options.run, options.recorded_car, options.driver);
  if (!driver) return driver.error();
  ImuRun into;
  into.car = driver->car;
  into.out = options.out.empty() ? analysis_folder(options.run) : options.out;
  Result<MovedRun> moved = load_with_motion(options, into.car, into.out);
  if (!moved) return moved.error();
  into.run = std::move(moved->run);
  into.motion = std::move(moved->motion);
  into.cache = std::move(moved->cache);
  into.car_source = driver->run ? "recorded in the run"
                                : "profile " + (into.run.manifest && !into.run.manifest->car_id.empty() ? into.run.manifest->car_id
                                                                                                        : options.driver.profile);
  if (const Status read = read_tracks(options, into); !read) return read.error();
  if (const Status read = read_corrections(options.run, into); !read) return read.error();
  if (into.run.damaged) into.warnings.emplace_back("the recording is damaged: what could be read is analysed");
  for (const std::string& finding : into.run.findings) into.warnings.push_back(finding);
  tidy(into);
  if (needs_imu && into.imus.empty()) {
    return Error{options.run.string() + ": no IMU was recorded: no topic of type " + std::string(ros::Imu::kType) + " or " +
                 std::string(ros::VescImuStamped::kType) + " (usually /imu, /imu/bno, /sensors/imu, /sensors/imu/raw)"};
  }
  return into;
}

std::vector<double> speed_at(const ImuRun& run, const std::vector<double>& at_s) {
  std::vector<double> t_s, value;
  for (std::size_t i = 0; i < run.motion.size(); ++i) {
    if (run.motion.speed_seen[i] == 0.0) continue;
    t_s.push_back(run.motion.middle_s(i));
    value.push_back(run.motion.speed_mps[i]);
  }
  std::vector<double> speed = signals::resample(t_s, value, at_s, signals::Between::kLinear, kLongestImuGap_s);
  if (run.odometries.empty()) return speed;
  const OdometrySeries& wheels = run.odometries.front().series;
  const std::vector<double> stand_in = signals::resample(wheels.t_s, wheels.speed_mps, at_s, signals::Between::kLinear, kLongestImuGap_s);
  for (std::size_t i = 0; i < speed.size(); ++i) {
    if (!std::isfinite(speed[i])) speed[i] = stand_in[i];
  }
  return speed;
}

Section section_of_recording(const ImuRun& run) {
  Section section{"recording", "The recording", {}, {}, {}, {}};
  section.facts = {{"run", "run", text(run.run.path.string())},
                   {"duration_s", "duration [s]", number(run.run.duration_s, 2)},
                   {"car", "parameters of the car", text(run.car_source)},
                   {"wheelbase_m", "wheelbase [m]", number(run.car.wheelbase_m, 4)},
                   {"scan_pairs", "pairs of scans matched", count(run.motion.size())},
                   {"cache", "cache of the scan matching", text(run.cache)}};
  Table table{"imus",
              "IMUs",
              "jitter and gaps first: a spectrum or a delay is no better than the stamps it is made from",
              {{"topic", "topic"},
               {"samples", "n"},
               {"rate_hz", "rate [Hz]"},
               {"jitter_ms", "jitter [ms]"},
               {"worst_gap_ms", "worst gap [ms]"},
               {"backward", "stamps not forwards"},
               {"units", "recorded in"},
               {"why", "because"}},
              {}};
  for (const ImuTrack& imu : run.imus) {
    const std::vector<double>& t = imu.series.t_s;
    double worst = 0.0;
    double squares = 0.0;
    const double mean = t.size() > 1 ? (t.back() - t.front()) / static_cast<double>(t.size() - 1) : NAN;
    for (std::size_t i = 1; i < t.size(); ++i) {
      worst = std::max(worst, t[i] - t[i - 1]);
      squares += (t[i] - t[i - 1] - mean) * (t[i] - t[i - 1] - mean);
    }
    const double jitter = t.size() > 1 ? std::sqrt(squares / static_cast<double>(t.size() - 1)) : NAN;
    table.rows.push_back({text(imu.topic), count(t.size()), number(1.0 / mean, 1), number(1e3 * jitter, 2), number(1e3 * worst, 1),
                          count(imu.backward), text(std::string(name(imu.units.acceleration)) + ", " + std::string(name(imu.units.rate))),
                          text(imu.units.reason)});
  }
  if (!run.imus.empty()) section.tables.push_back(std::move(table));
  return section;
}

}  // namespace pitwall::analysis
