// SPDX-License-Identifier: Apache-2.0
#include "analysis/run_data.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/bags.hpp"
#include "tests/support/test_data.hpp"

using namespace pitwall;
using namespace pitwall::analysis;

namespace {

RunData load(const std::filesystem::path& path, const LoadOptions& options = {}) {
  auto run = load_run(path, options);
  REQUIRE_MESSAGE(run.ok(), run.error().message);
  return *std::move(run);
}

const MissingTopic* missing(const RunData& run, const std::string& role) {
  for (const MissingTopic& each : run.missing) {
    if (each.role == role) return &each;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("series are read with both clocks, and what is missing is named with its consequence") {
  using namespace recording;
  const TempFolder folder("run_data");
  const std::filesystem::path path = folder.path() / "bag";
  BagWriter writer = writer_at(path);
  const std::size_t joy = *writer.add_topic(topic_for<ros_messages::Joy>("/joy"));
  const std::size_t drive = *writer.add_topic(topic_for<ros_messages::AckermannDriveStamped>("/drive"));
  const std::size_t odom = *writer.add_topic(topic_for<ros_messages::String>("/odom"));
  for (int i = 0; i < 10; ++i) {
    const std::int64_t time = 1000 * kMs + i * 100 * kMs;
    ros_messages::Joy pressed = joy_at(time - 2 * kMs, 0.0F);
    pressed.buttons = {0, 0, i % 2};
    put(writer, joy, time, pressed);
    ros_messages::AckermannDriveStamped command;
    if (i != 3) command.header.stamp = pressed.header.stamp;
    command.drive.speed = 0.5F * static_cast<float>(i);
    command.drive.steering_angle = 0.25F;
    put(writer, drive, time + kMs, command);
  }
  put(writer, odom, 1500 * kMs, ros_messages::String{"no odometry"});
  REQUIRE(writer.close().ok());

  LoadOptions options;
  options.deadman_button = 2;
  const RunData run = load(path, options);
  CHECK(run.origin.ns == 1000 * kMs);
  CHECK(run.duration_s == doctest::Approx(0.901));
  REQUIRE(run.command.size() == 10);
  CHECK(run.command.speed_mps[4] == 2.0);
  CHECK(run.command.steering_rad[4] == 0.25);
  CHECK(run.command.t_s[4] == doctest::Approx(0.398));
  CHECK(run.command.arrival_s[4] == doctest::Approx(0.401));
  // A zero stamp falls back to the time of receipt, and is counted.
  CHECK(run.command.t_s[3] == doctest::Approx(0.301));
  CHECK(run.topic("drive")->zero_stamps == 1);
  CHECK(run.topic("drive")->median_latency_s == doctest::Approx(0.003));
  CHECK(run.topic("drive")->rate_hz == doctest::Approx(10.0));
  CHECK(run.joy.pressed == std::vector<double>{0, 1, 0, 1, 0, 1, 0, 1, 0, 1});
  REQUIRE(missing(run, "scan") != nullptr);
  CHECK(missing(run, "scan")->why == "no /scan, and no other topic of type sensor_msgs/msg/LaserScan");
  CHECK(missing(run, "scan")->consequence.find("no measured motion") != std::string::npos);
  REQUIRE(missing(run, "odometry") != nullptr);
  CHECK(missing(run, "odometry")->why == "/odom is of type std_msgs/msg/String, read is nav_msgs/msg/Odometry");
  CHECK(missing(run, "command") == nullptr);

  options.deadman_button = 7;
  CHECK(load(path, options).joy.pressed == std::vector<double>(10, -1.0));
  options.topics = {"joy=/jy"};
  CHECK(load_run(path, options).error().message.find("did you mean '/joy'") != std::string::npos);
  options.topics = {"joi=/joy"};
  CHECK(load_run(path, options).error().message.find("did you mean 'joy'") != std::string::npos);
  options.topics = {"joy=/drive"};
  CHECK(load_run(path, options).error().message.find("needed is sensor_msgs/msg/Joy") != std::string::npos);
  options.topics = {};
  options.car = "ego";
  CHECK_FALSE(load_run(path, options).ok());
  CHECK_FALSE(load_run(folder.path() / "nothing", {}).ok());
}

TEST_CASE("stamps are put in order and equal ones count once") {
  CHECK(sorted_by_stamp({0.0, 2.0, 1.0, 2.0, 3.0}) == std::vector<std::size_t>{0, 2, 3, 4});
}

TEST_CASE("a bag of another robot: scans, and commands as speed and turn rate") {
  const auto bag = test_data("bags/selfdriving_full_nav");
  if (!bag) return;
  std::size_t scans = 0;
  LoadOptions options;
  options.scan = [&](const RunData& /*run*/, const LaserScan& scan) { scans += scan.ranges.empty() ? 0 : 1; };
  const RunData run = load(*bag, options);
  CHECK(scans == 177);
  CHECK(run.scan.size() == 177);
  CHECK(run.command.size() == 578);
  CHECK(std::isnan(run.command.steering_rad[0]));
  CHECK(std::isfinite(run.command.yaw_rate_radps[0]));
  CHECK(missing(run, "drive") != nullptr);
  CHECK(missing(run, "joy") != nullptr);
}

TEST_CASE("a bag without scans and commands loads what it has") {
  const auto bag = test_data("bags/wato_f1tenth_steady_lap");
  if (!bag) return;
  const RunData run = load(*bag);
  CHECK(run.odometry.size() == 4861);
  CHECK(run.topic("odometry")->name == "/wheel_odom");
  CHECK(missing(run, "scan") != nullptr);
  CHECK(missing(run, "command") != nullptr);
  const auto turtle = test_data("bags/evo_nav2_turtlebot");
  if (!turtle) return;
  CHECK(load(*turtle).odometry.size() == 2639);
}

TEST_CASE("every bag of the test data loads or says why not") {
  const auto bags = test_data("bags");
  if (!bags) return;
  int loaded = 0;
  for (const auto& each : std::filesystem::directory_iterator(*bags)) {
    if (!each.is_directory()) continue;
    const auto run = load_run(each.path(), {});
    if (run) {
      ++loaded;
      CHECK(run->messages > 0);
    } else {
      CHECK_FALSE(run.error().message.empty());
    }
  }
  CHECK(loaded >= 15);
}
