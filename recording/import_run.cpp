// SPDX-License-Identifier: Apache-2.0
#include "recording/import_run.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/files.hpp"
#include "core/math.hpp"
#include "core/messages.hpp"
#include "core/sha256.hpp"
#include "core/text.hpp"
#include "recording/bag_writer.hpp"
#include "recording/compression.hpp"
#include "recording/import_log.hpp"
#include "recording/imu_units.hpp"
#include "recording/run_folder.hpp"

namespace pitwall::recording {

namespace fs = std::filesystem;
namespace ros = ros_messages;

namespace detail {

std::size_t ImportedLog::index_of(Topic topic, const std::string& from) {
  for (std::size_t k = 0; k < topics_.size(); ++k) {
    if (topics_[k].name == topic.name) return k;
  }
  report.series.push_back({topic.name, topic.type, from, 0, 0.0});
  topics_.push_back(std::move(topic));
  return topics_.size() - 1;
}

Status ImportedLog::write(const fs::path& folder) {
  std::stable_sort(messages_.begin(), messages_.end(), [](const Entry& a, const Entry& b) { return a.stamp < b.stamp; });
  first_ = messages_.front().stamp;
  last_ = messages_.back().stamp;
  report.duration_s = (last_ - first_).seconds();
  auto writer = BagWriter::create(folder);
  if (!writer) return writer.error();
  std::vector<std::size_t> index;
  for (const Topic& topic : topics_) {
    const auto added = writer->add_topic(topic);
    if (!added) return added.error();
    index.push_back(*added);
  }
  for (const Entry& each : messages_) {
    if (const Status written = writer->write(index[each.topic], each.stamp, each.stamp, as_bytes(each.bytes)); !written) return written;
    ++report.series[each.topic].count;
  }
  for (ImportedSeries& series : report.series) {
    if (report.duration_s > 0.0) series.rate_hz = static_cast<double>(series.count - 1) / report.duration_s;
  }
  return writer->close();
}

ros::Header header_at(Time stamp, const std::string& frame) {
  ros::Header header;
  header.stamp = ros::to_stamp(stamp);
  header.frame_id = frame;
  return header;
}

ros::Quaternion quaternion_about_z(double yaw_rad) {
  const PlanarQuaternion q = to_quaternion(yaw_rad);
  return {0.0, 0.0, q.z, q.w};
}

double heading_of(double x, double y, double z, double w) { return math::atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)); }

std::vector<double> seconds_of(std::span<const Time> stamps) {
  std::vector<double> t_s;
  for (const Time stamp : stamps) t_s.push_back((stamp - stamps.front()).seconds());
  return t_s;
}

void note_lines(const CsvTable& table, ImportReport& report) {
  if (table.left_out == 0) return;
  report.left_out.push_back(table.name + ": " + std::to_string(table.left_out) + " lines that are not like the others, the first is line " +
                            std::to_string(table.first_left_out));
}

Status add_imu(ImportedLog& log, const std::string& from, const ImuTable& imu, const std::vector<TurnOf>& references, UnitChoice choice) {
  ImuUnits units;
  if (choice == UnitChoice::kDetect) {
    const ImuColumns columns{imu.gyro_x, imu.gyro_y, imu.gyro_z, imu.accel_x, imu.accel_y, imu.accel_z};
    std::vector<TurnReference> seen;
    for (const TurnOf& reference : references) seen.push_back({reference.source, reference.yaw_rate_radps});
    units = detect_imu_units(columns, seen);
    if (units.acceleration == AccelerationUnit::kUnknown || units.rate == RateUnit::kUnknown) {
      return Error{from + ": the units of the IMU cannot be told (" + units.reason + "); --imu-units si or g-deg says them"};
    }
  } else {
    const bool si = choice == UnitChoice::kSi;
    units.acceleration = si ? AccelerationUnit::kMetresPerSecond2 : AccelerationUnit::kG;
    units.rate = si ? RateUnit::kRadiansPerSecond : RateUnit::kDegreesPerSecond;
    units.reason = "acceleration in " + std::string(name(units.acceleration)) + " and rates in " + std::string(name(units.rate)) +
                   ", as was said on the command line";
  }
  log.report.traps.push_back(from + ": " + units.reason + (units.si() ? "" : "; converted to m/s^2 and rad/s"));
  if (units.opposite_turn) log.report.traps.push_back(from + ": the gyro turns against its reference; its sign is kept");
  const double a = units.acceleration_factor();
  const double w = units.rate_factor();
  for (std::size_t i = 0; i < imu.stamp.size(); ++i) {
    ros::Imu message;
    message.header = header_at(imu.stamp[i], "imu");
    message.angular_velocity = {w * imu.gyro_x[i], w * imu.gyro_y[i], w * imu.gyro_z[i]};
    message.linear_acceleration = {a * imu.accel_x[i], a * imu.accel_y[i], a * imu.accel_z[i]};
    if (imu.orientation.empty()) {
      message.orientation_covariance[0] = -1.0;
    } else {
      message.orientation = imu.orientation[i];
    }
    log.add(std::string(kImuTopic), from, imu.stamp[i], message);
  }
  return {};
}

}  // namespace detail

namespace {

struct LogSource {
  std::string name;
  std::string origin;
  std::string text;
};

Result<std::vector<LogSource>> files_of(const fs::path& log) {
  std::vector<fs::path> paths;
  std::error_code failed;
  if (fs::is_directory(log, failed)) {
    for (const auto& each : fs::directory_iterator(log, failed)) {
      if (each.path().extension() == ".csv") paths.push_back(each.path());
    }
    std::sort(paths.begin(), paths.end());
  } else {
    paths.push_back(log);
  }
  std::vector<LogSource> files;
  for (const fs::path& path : paths) {
    Result<std::string> text = read_file(path);
    if (!text) return text.error();
    files.push_back({path.filename().string(), path.string(), *std::move(text)});
  }
  return files;
}

Status read_log(const ImportOptions& options, detail::ImportedLog& log) {
  std::error_code failed;
  if (!fs::exists(options.log, failed)) return Error{options.log.string() + ": no such file or folder"};
  if (fs::is_directory(options.log, failed)) return detail::read_folder_of_tables(options.log, options.units, log);
  const Result<std::string> text = read_text(options.log);
  if (!text) return text.error();
  if (const auto read = detail::read_slam_log(*text, options.log.string(), log)) return *read;
  const Result<CsvTable> table = parse_csv(*text, options.log.string());
  if (!table) return table.error();
  return detail::read_one_table(*table, options.units, log);
}

}  // namespace

Result<ImportReport> import_run(const ImportOptions& options) {
  detail::ImportedLog log;
  if (const Status read = read_log(options, log); !read) return read.error();
  if (log.empty()) return Error{options.log.string() + ": there is nothing in it that can be imported"};
  std::error_code failed;
  if (fs::exists(options.output, failed) && !(fs::is_directory(options.output, failed) && fs::is_empty(options.output, failed))) {
    return Error{options.output.string() + ": it exists and is not empty"};
  }
  const Result<std::vector<LogSource>> files = files_of(options.log);
  if (!files) return files.error();
  if (const Status written = log.write(options.output / "bag"); !written) return written.error();
  RunManifest manifest;
  manifest.run_id = fs::absolute(options.output).lexically_normal().filename().string();
  manifest.car_id = options.car_id;
  manifest.clock = "imported log";
  manifest.start = log.first();
  manifest.end = log.last();
  manifest.finished = true;
  manifest.build = build_id();
  manifest.cars = {{"car", "", ""}};
  for (const LogSource& file : *files) {
    if (const Status kept = write_file(options.output / "metadata" / "files" / file.name, file.text); !kept) return kept.error();
    manifest.files.push_back({file.name, file.origin, sha256_hex(file.text)});
  }
  for (const ImportedSeries& series : log.report.series)
    manifest.topics.push_back({series.topic, series.type, series.count, series.rate_hz});
  log.report.folder = options.output;
  if (const Status kept = write_file(options.output / "import.json", to_json(log.report)); !kept) return kept.error();
  if (const Status kept = write_file(options.output / "run.json", to_json(manifest)); !kept) return kept.error();
  return std::move(log.report);
}

std::string to_json(const ImportReport& report) {
  nlohmann::ordered_json json{{"folder", report.folder.string()}, {"format", report.format}, {"duration_s", report.duration_s}};
  json["series"] = nlohmann::ordered_json::array();
  for (const ImportedSeries& each : report.series) {
    json["series"].push_back(
        {{"topic", each.topic}, {"type", each.type}, {"from", each.from}, {"count", each.count}, {"rate_hz", each.rate_hz}});
  }
  json["traps"] = report.traps;
  json["left_out"] = report.left_out;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string to_text(const ImportReport& report) {
  std::string text = report.format + ", " + format_number(report.duration_s, 4) + " s\n";
  for (const ImportedSeries& each : report.series) {
    char line[160];
    std::snprintf(line, sizeof line, "  %-16s %6llu  %6.2f Hz  ", each.topic.c_str(), static_cast<unsigned long long>(each.count),
                  each.rate_hz);
    text += line + each.from + "\n";
  }
  for (const auto& [title, lines] : {std::pair{"Traps", &report.traps}, std::pair{"Left out", &report.left_out}}) {
    if (lines->empty()) continue;
    text += std::string(title) + ":\n";
    for (const std::string& line : *lines) text += "  - " + line + "\n";
  }
  return text;
}

}  // namespace pitwall::recording
