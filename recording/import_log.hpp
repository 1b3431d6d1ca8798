// SPDX-License-Identifier: Apache-2.0
// Between the readers of foreign logs and the writer of the run folder (import_run.hpp).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/time.hpp"
#include "recording/csv_table.hpp"
#include "recording/import_run.hpp"
#include "recording/recorder.hpp"
#include "ros_messages/convert.hpp"

namespace pitwall::recording::detail {

/// The messages of a log before they are written, with what is to be said of them.
class ImportedLog {
 public:
  ImportReport report;

  template <class Message>
  void add(const std::string& topic, const std::string& from, Time stamp, const Message& message, bool latched = false) {
    messages_.push_back({stamp, index_of(topic_for<Message>(topic, latched), from), ros_messages::write(message)});
  }
  [[nodiscard]] bool empty() const { return messages_.empty(); }
  /// The bag in the order of the stamps; fills series and duration of the report.
  Status write(const std::filesystem::path& folder);
  [[nodiscard]] Time first() const { return first_; }
  [[nodiscard]] Time last() const { return last_; }

 private:
  struct Entry {
    Time stamp;
    std::size_t topic = 0;
    std::string bytes;
  };
  std::size_t index_of(Topic topic, const std::string& from);
  std::vector<Topic> topics_;
  std::vector<Entry> messages_;
  Time first_;
  Time last_;
};

/// A header of that stamp and frame.
ros_messages::Header header_at(Time stamp, const std::string& frame);
ros_messages::Quaternion quaternion_about_z(double yaw_rad);
/// The yaw of a quaternion that need not be about z alone.
double heading_of(double x, double y, double z, double w);

/// IMU samples in whatever unit, as SI on /imu. `references` tell the unit of the rates.
struct ImuTable {
  std::vector<Time> stamp;
  std::vector<double> gyro_x, gyro_y, gyro_z, accel_x, accel_y, accel_z;
  std::vector<ros_messages::Quaternion> orientation;  ///< empty: none
};
struct TurnOf {
  std::string source;
  std::vector<double> t_s, yaw_rate_radps;
};
/// Errors: units that cannot be told, with what was seen.
Status add_imu(ImportedLog& log, const std::string& from, const ImuTable& imu, const std::vector<TurnOf>& references, UnitChoice choice);

/// Seconds of stamps since the first.
std::vector<double> seconds_of(std::span<const Time> stamps);
/// Says how many lines of a table were not like its first.
void note_lines(const CsvTable& table, ImportReport& report);

/// The readers, one for each kind of log.
Status read_folder_of_tables(const std::filesystem::path& folder, UnitChoice choice, ImportedLog& log);
Status read_one_table(const CsvTable& table, UnitChoice choice, ImportedLog& log);
/// CARMEN, BreezySLAM or a pose graph; nothing where the text is none of them.
std::optional<Status> read_slam_log(std::string_view text, const std::string& name, ImportedLog& log);

}  // namespace pitwall::recording::detail
