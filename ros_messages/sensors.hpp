// SPDX-License-Identifier: Apache-2.0
// sensor_msgs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ros_messages/geometry.hpp"
#include "ros_messages/standard.hpp"

namespace pitwall::ros_messages {

/// header.stamp is the first beam's instant.
struct LaserScan {
  static constexpr std::string_view kType = "sensor_msgs/msg/LaserScan";
  Header header;
  float angle_min = 0.0F;        ///< rad
  float angle_max = 0.0F;        ///< rad
  float angle_increment = 0.0F;  ///< rad
  float time_increment = 0.0F;   ///< s between beams
  float scan_time = 0.0F;        ///< s between scans
  float range_min = 0.0F;        ///< m
  float range_max = 0.0F;        ///< m
  std::vector<float> ranges;     ///< m
  std::vector<float> intensities;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("header", m.header)("angle_min", m.angle_min)("angle_max", m.angle_max)("angle_increment", m.angle_increment)(
        "time_increment", m.time_increment)("scan_time", m.scan_time)("range_min", m.range_min)("range_max", m.range_max)(
        "ranges", m.ranges)("intensities", m.intensities);
  }
  bool operator==(const LaserScan&) const = default;
};

struct Imu {
  static constexpr std::string_view kType = "sensor_msgs/msg/Imu";
  Header header;
  Quaternion orientation;
  std::array<double, 9> orientation_covariance{};
  Vector3 angular_velocity;  ///< rad/s (the stock VESC driver writes deg/s)
  std::array<double, 9> angular_velocity_covariance{};
  Vector3 linear_acceleration;  ///< m/s^2 (the stock VESC driver writes g)
  std::array<double, 9> linear_acceleration_covariance{};
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("header", m.header)("orientation", m.orientation)("orientation_covariance", m.orientation_covariance)(
        "angular_velocity", m.angular_velocity)("angular_velocity_covariance", m.angular_velocity_covariance)(
        "linear_acceleration", m.linear_acceleration)("linear_acceleration_covariance", m.linear_acceleration_covariance);
  }
  bool operator==(const Imu&) const = default;
};

struct Joy {
  static constexpr std::string_view kType = "sensor_msgs/msg/Joy";
  Header header;
  std::vector<float> axes;
  std::vector<std::int32_t> buttons;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("header", m.header)("axes", m.axes)("buttons", m.buttons);
  }
  bool operator==(const Joy&) const = default;
};

struct JointState {
  static constexpr std::string_view kType = "sensor_msgs/msg/JointState";
  Header header;
  std::vector<std::string> name;
  std::vector<double> position;
  std::vector<double> velocity;
  std::vector<double> effort;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("header", m.header)("name", m.name)("position", m.position)("velocity", m.velocity)("effort", m.effort);
  }
  bool operator==(const JointState&) const = default;
};

struct PointField {
  static constexpr std::string_view kType = "sensor_msgs/msg/PointField";
  static constexpr std::array<NamedValue, 8> kConstants = {{{Kind::kUint8, "INT8", "1"},
                                                            {Kind::kUint8, "UINT8", "2"},
                                                            {Kind::kUint8, "INT16", "3"},
                                                            {Kind::kUint8, "UINT16", "4"},
                                                            {Kind::kUint8, "INT32", "5"},
                                                            {Kind::kUint8, "UINT32", "6"},
                                                            {Kind::kUint8, "FLOAT32", "7"},
                                                            {Kind::kUint8, "FLOAT64", "8"}}};
  std::string name;
  std::uint32_t offset = 0;
  std::uint8_t datatype = 0;
  std::uint32_t count = 0;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("name", m.name)("offset", m.offset)("datatype", m.datatype)("count", m.count);
  }
  bool operator==(const PointField&) const = default;
};

struct PointCloud2 {
  static constexpr std::string_view kType = "sensor_msgs/msg/PointCloud2";
  Header header;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::vector<PointField> point_fields;  ///< `fields` of the message
  bool is_bigendian = false;
  std::uint32_t point_step = 0;
  std::uint32_t row_step = 0;
  std::vector<std::uint8_t> data;
  bool is_dense = false;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("header", m.header)("height", m.height)("width", m.width)("fields", m.point_fields)("is_bigendian", m.is_bigendian)(
        "point_step", m.point_step)("row_step", m.row_step)("data", m.data)("is_dense", m.is_dense);
  }
  bool operator==(const PointCloud2&) const = default;
};

}  // namespace pitwall::ros_messages
