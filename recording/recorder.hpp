// SPDX-License-Identifier: Apache-2.0
// Writes a run folder while a run goes on. It belongs to whoever runs the controllers (the simulator's runner, the car), which
// tells it the time with everything it says; it has no clock of its own.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/run_observer.hpp"
#include "recording/bag_writer.hpp"
#include "recording/run_folder.hpp"
#include "recording/run_messages.hpp"
#include "ros_messages/describe.hpp"

namespace pitwall::recording {

/// A topic for messages of that struct, with schema and type hash.
template <class Message>
Topic topic_for(const std::string& name, bool latched = false) {
  const ros_messages::Definition& definition = ros_messages::describe<Message>();
  Topic topic;
  topic.name = name;
  topic.type = Message::kType;
  topic.schema_encoding = "ros2msg";
  topic.schema = ros_messages::schema_text(definition);
  topic.type_hash = ros_messages::type_hash(definition);
  topic.latched = latched;
  return topic;
}

/// Topics of the bag, each behind the prefix of its car.
inline constexpr std::string_view kScanTopic = "/scan";
inline constexpr std::string_view kOdometryTopic = "/odom";
inline constexpr std::string_view kPoseTopic = "/slam_pose";
inline constexpr std::string_view kJoyTopic = "/joy";
inline constexpr std::string_view kImuTopic = "/imu";
inline constexpr std::string_view kDriveTopic = "/drive";

class Recorder final : public RunObserver {
 public:
  /// Creates the folder, which must not exist or be empty. The manifest says which cars there are; `lidar_mounts` are their
  /// T_base_lidar, by car, for /tf_static.
  static Result<std::unique_ptr<Recorder>> create(const std::filesystem::path& folder, RunManifest manifest,
                                                  const std::vector<Pose2>& lidar_mounts, const WriteOptions& options = {});
  ~Recorder() override;

  /// A configuration file, copied and hashed. `name` is a plain file name.
  void add_file(const std::string& name, const std::string& origin, std::string_view text);
  /// What was set at the start, as params.json.
  void set_parameters(const Node& parameters);

  void arrived(std::size_t car, const Source<LaserScan>& scan) override;
  void arrived(std::size_t car, const Source<Odometry>& odometry) override;
  void arrived(std::size_t car, const Source<PoseEstimate>& pose) override;
  void arrived(std::size_t car, const Source<Joy>& joy) override;
  void arrived(std::size_t car, const Source<Imu>& imu) override;
  void changed(std::size_t car, const std::string& assignment) override;
  void decided(std::size_t car, std::uint64_t tick, const Observation& seen, const Command& command) override;

  /// Any message into the bag, such as a map; `latched` ones stay valid.
  template <class Message>
  void write(const std::string& topic, Time time, const Message& message, bool latched = false) {
    ros_messages::write(message, bytes_);
    put(bag_, topic_for<Message>(topic, latched), time);
  }
  void contact(Time now, const ContactRecord& contact);
  void truth(Time now, const Truth& truth);

  /// The first thing that went wrong. Recording stops there; the run need not.
  [[nodiscard]] Status status() const;
  /// Ends the files and completes the manifest.
  Status close(Time end, const std::string& trace_hash);
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  /// A car's topics by their indices in the bag, and what is needed for its transforms.
  struct Car {
    std::size_t scan = 0;
    std::size_t odometry = 0;
    std::size_t pose = 0;
    std::size_t joy = 0;
    std::size_t imu = 0;
    std::size_t drive = 0;
    std::size_t tf = 0;
    std::string odom_frame;
    std::string base_frame;
    std::string laser_frame;
    std::vector<std::string> changes;  ///< of parameters, since the last tick
    Pose2 T_odom_base;
  };

  Recorder(std::filesystem::path folder, RunManifest manifest, BagWriter bag, BagWriter internal);
  Status add_car(const RecordedCar& car, const Pose2& lidar_mount);
  void put(BagWriter& into, const Topic& topic, Time time);
  void put(BagWriter& into, std::size_t topic, Time time);
  void keep(const Status& status);
  void write_manifest();

  std::filesystem::path folder_;
  RunManifest manifest_;
  BagWriter bag_;
  BagWriter internal_;
  std::size_t tick_topic_ = 0;
  std::size_t contact_topic_ = 0;
  std::size_t truth_topic_ = 0;
  std::vector<Car> cars_;
  std::string bytes_;
  Status status_;
  Time last_;
};

}  // namespace pitwall::recording
