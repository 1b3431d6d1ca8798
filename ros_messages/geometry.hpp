// SPDX-License-Identifier: Apache-2.0
// geometry_msgs and tf2_msgs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ros_messages/standard.hpp"

namespace pitwall::ros_messages {

struct Vector3 {
  static constexpr std::string_view kType = "geometry_msgs/msg/Vector3";
  double x = 0.0;
  double y = 0.0;
  double z = 0.0;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("x", m.x)("y", m.y)("z", m.z);
  }
  bool operator==(const Vector3&) const = default;
};

struct Point {
  static constexpr std::string_view kType = "geometry_msgs/msg/Point";
  double x = 0.0;
  double y = 0.0;
  double z = 0.0;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("x", m.x)("y", m.y)("z", m.z);
  }
  bool operator==(const Point&) const = default;
};

struct Point32 {
  static constexpr std::string_view kType = "geometry_msgs/msg/Point32";
  float x = 0.0F;
  float y = 0.0F;
  float z = 0.0F;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("x", m.x)("y", m.y)("z", m.z);
  }
  bool operator==(const Point32&) const = default;
};

struct Quaternion {
  static constexpr std::string_view kType = "geometry_msgs/msg/Quaternion";
  double x = 0.0;
  double y = 0.0;
  double z = 0.0;
  double w = 1.0;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("x", m.x)("y", m.y)("z", m.z)("w", m.w);
  }
  bool operator==(const Quaternion&) const = default;
};

struct Pose {
  static constexpr std::string_view kType = "geometry_msgs/msg/Pose";
  Point position;
  Quaternion orientation;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("position", m.position)("orientation", m.orientation);
  }
  bool operator==(const Pose&) const = default;
};

struct Twist {
  static constexpr std::string_view kType = "geometry_msgs/msg/Twist";
  Vector3 linear;
  Vector3 angular;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("linear", m.linear)("angular", m.angular);
  }
  bool operator==(const Twist&) const = default;
};

struct Transform {
  static constexpr std::string_view kType = "geometry_msgs/msg/Transform";
  Vector3 translation;
  Quaternion rotation;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("translation", m.translation)("rotation", m.rotation);
  }
  bool operator==(const Transform&) const = default;
};

struct PointStamped {
  static constexpr std::string_view kType = "geometry_msgs/msg/PointStamped";
  Header header;
  Point point;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("header", m.header)("point", m.point);
  }
  bool operator==(const PointStamped&) const = default;
};

struct PoseStamped {
  static constexpr std::string_view kType = "geometry_msgs/msg/PoseStamped";
  Header header;
  Pose pose;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("header", m.header)("pose", m.pose);
  }
  bool operator==(const PoseStamped&) const = default;
};

struct PoseArray {
  static constexpr std::string_view kType = "geometry_msgs/msg/PoseArray";
  Header header;
  std::vector<Pose> poses;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("header", m.header)("poses", m.poses);
  }
  bool operator==(const PoseArray&) const = default;
};

struct PoseWithCovariance {
  static constexpr std::string_view kType = "geometry_msgs/msg/PoseWithCovariance";
  Pose pose;
  std::array<double, 36> covariance{};  ///< row by row: x, y, z, then rotations about them
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("pose", m.pose)("covariance", m.covariance);
  }
  bool operator==(const PoseWithCovariance&) const = default;
};

struct PoseWithCovarianceStamped {
  static constexpr std::string_view kType = "geometry_msgs/msg/PoseWithCovarianceStamped";
  Header header;
  PoseWithCovariance pose;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("header", m.header)("pose", m.pose);
  }
  bool operator==(const PoseWithCovarianceStamped&) const = default;
};

struct TwistStamped {
  static constexpr std::string_view kType = "geometry_msgs/msg/TwistStamped";
  Header header;
  Twist twist;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("header", m.header)("twist", m.twist);
  }
  bool operator==(const TwistStamped&) const = default;
};

struct TwistWithCovariance {
  static constexpr std::string_view kType = "geometry_msgs/msg/TwistWithCovariance";
  Twist twist;
  std::array<double, 36> covariance{};  ///< as of PoseWithCovariance
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("twist", m.twist)("covariance", m.covariance);
  }
  bool operator==(const TwistWithCovariance&) const = default;
};

struct TwistWithCovarianceStamped {
  static constexpr std::string_view kType = "geometry_msgs/msg/TwistWithCovarianceStamped";
  Header header;
  TwistWithCovariance twist;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("header", m.header)("twist", m.twist);
  }
  bool operator==(const TwistWithCovarianceStamped&) const = default;
};

struct Polygon {
  static constexpr std::string_view kType = "geometry_msgs/msg/Polygon";
  std::vector<Point32> points;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("points", m.points);
  }
  bool operator==(const Polygon&) const = default;
};

struct PolygonStamped {
  static constexpr std::string_view kType = "geometry_msgs/msg/PolygonStamped";
  Header header;
  Polygon polygon;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("header", m.header)("polygon", m.polygon);
  }
  bool operator==(const PolygonStamped&) const = default;
};

/// The frame child_frame_id as seen from header.frame_id.
struct TransformStamped {
  static constexpr std::string_view kType = "geometry_msgs/msg/TransformStamped";
  Header header;
  std::string child_frame_id;
  Transform transform;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("header", m.header)("child_frame_id", m.child_frame_id)("transform", m.transform);
  }
  bool operator==(const TransformStamped&) const = default;
};

struct TFMessage {
  static constexpr std::string_view kType = "tf2_msgs/msg/TFMessage";
  std::vector<TransformStamped> transforms;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("transforms", m.transforms);
  }
  bool operator==(const TFMessage&) const = default;
};

}  // namespace pitwall::ros_messages
