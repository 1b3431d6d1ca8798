// SPDX-License-Identifier: Apache-2.0
#include "recording/pose_graph.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/math.hpp"
#include "core/text.hpp"

namespace pitwall::recording {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t begin = line.find_first_not_of(" \t\r", at);
    if (begin == std::string_view::npos) break;
    at = std::min(line.size(), line.find_first_of(" \t\r", begin));
    words.push_back(line.substr(begin, at - begin));
  }
  return words;
}

/// Calls take(words, where) for each line that is no comment and not empty; stops at the first error.
template <class Take>
Status each_line(std::string_view text, const std::string& name, Take&& take) {
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.size(), text.find('\n', at));
    const std::vector<std::string_view> words = words_of(text.substr(at, end - at));
    at = end + 1;
    ++number;
    if (words.empty() || words.front().starts_with('#')) continue;
    if (const Status status = take(words, name + ":" + std::to_string(number)); !status) return status;
  }
  return {};
}

/// Numbers of a line, from the word `first` on; the error says which is none.
Result<std::vector<double>> numbers(std::span<const std::string_view> words, std::size_t first, const std::string& where) {
  std::vector<double> values;
  for (std::size_t k = first; k < words.size(); ++k) {
    const auto value = parse_double(words[k]);
    if (!value || !std::isfinite(*value)) return Error{where + ": '" + std::string(words[k]) + "' is no finite number"};
    values.push_back(*value);
  }
  return values;
}

Pose3 spatial(std::span<const double> v) { return {v[0], v[1], v[2], v[3], v[4], v[5], v[6]}; }

class G2oReader {
 public:
  explicit G2oReader(PoseGraph& graph) : graph_(graph) {}

  Status take(const std::vector<std::string_view>& words, const std::string& where) {
    const std::string_view tag = words.front();
    if (tag.starts_with("PARAMS_") || tag == "FIX" || tag == "EDGE_SE2_XY") return {};
    const bool vertex = tag == "VERTEX_SE2" || tag == "VERTEX_SE3:QUAT" || tag == "VERTEX_XY";
    const bool edge = tag == "EDGE_SE2" || tag == "EDGE_SE3:QUAT";
    if (!vertex && !edge) return Error{where + ": unknown tag '" + std::string(tag) + "'"};
    const std::size_t ids = vertex ? 1 : 2;
    std::vector<std::int64_t> id;
    for (std::size_t k = 1; k <= ids && k < words.size(); ++k) {
      const auto value = parse_int(words[k]);
      if (!value) return Error{where + ": '" + std::string(words[k]) + "' is no node id"};
      id.push_back(*value);
    }
    const auto values = numbers(words, 1 + ids, where);
    if (!values) return values.error();
    const bool flat = tag == "VERTEX_SE2" || tag == "EDGE_SE2";
    if (tag != "VERTEX_XY") {
      if (known_ && flat != graph_.planar) return Error{where + ": planar and spatial poses in one graph"};
      graph_.planar = flat;
      known_ = true;
    }
    return vertex ? add_vertex(tag, id, *values, where) : add_edge(id, *values, where);
  }

 private:
  static Error wrong_count(const std::string& where, std::size_t count) {
    return Error{where + ": has " + std::to_string(count) + " numbers, which is not what its tag needs"};
  }

  Status add_vertex(std::string_view tag, const std::vector<std::int64_t>& id, const std::vector<double>& v, const std::string& where) {
    const std::size_t needed = tag == "VERTEX_XY" ? 2 : tag == "VERTEX_SE2" ? 3 : 7;
    if (id.size() != 1 || v.size() != needed) return wrong_count(where, v.size());
    GraphNode node{id[0], {}};
    if (needed == 7) node.pose = spatial(v);
    if (needed == 3) node.pose = Pose3::of({v[0], v[1], v[2]});
    if (needed == 2) node.pose.x = v[0], node.pose.y = v[1];
    (needed == 2 ? graph_.landmarks : graph_.nodes).push_back(node);
    return {};
  }

  Status add_edge(const std::vector<std::int64_t>& id, const std::vector<double>& v, const std::string& where) {
    const std::size_t pose = graph_.planar ? 3 : 7;
    const std::size_t needed = pose + (graph_.planar ? 6 : 21);
    if (id.size() != 2 || (v.size() != needed && v.size() != needed + 1)) return wrong_count(where, v.size());
    GraphEdge edge;
    edge.from = id[0];
    edge.to = id[1];
    edge.T_from_to = graph_.planar ? Pose3::of({v[0], v[1], v[2]}) : spatial(v);
    edge.information.assign(v.begin() + static_cast<std::ptrdiff_t>(pose), v.begin() + static_cast<std::ptrdiff_t>(needed));
    if (v.size() > needed) {
      if (v.back() != std::floor(v.back()) || std::fabs(v.back()) > 1000.0)
        return Error{where + ": the kind of link is no small whole number"};
      edge.link = static_cast<int>(v.back());
      graph_.has_links = true;
    }
    graph_.edges.push_back(std::move(edge));
    return {};
  }

  PoseGraph& graph_;
  bool known_ = false;
};

Status sort_nodes(std::vector<GraphNode>& nodes, const std::string& name) {
  std::stable_sort(nodes.begin(), nodes.end(), [](const GraphNode& a, const GraphNode& b) { return a.id < b.id; });
  const auto twice = std::adjacent_find(nodes.begin(), nodes.end(), [](const GraphNode& a, const GraphNode& b) { return a.id == b.id; });
  if (twice != nodes.end()) return Error{name + ": node " + std::to_string(twice->id) + " is given twice"};
  return {};
}

std::string pose_words(const Pose3& pose, bool planar) {
  constexpr int kAngleDigits = 15;  // what survives the way through a quaternion
  if (planar) return " " + format_exact(pose.x) + " " + format_exact(pose.y) + " " + format_number(pose.planar().yaw, kAngleDigits);
  std::string out;
  for (const double value : {pose.x, pose.y, pose.z, pose.qx, pose.qy, pose.qz, pose.qw}) out += " " + format_exact(value);
  return out;
}

/// "1368730003.896619" to nanoseconds, without passing through a double.
std::optional<Time> parse_stamp(std::string_view text) {
  const std::size_t point = std::min(text.size(), text.find('.'));
  const auto seconds = parse_int(text.substr(0, point));
  std::string fraction(point < text.size() ? text.substr(point + 1) : "");
  const bool digits = std::all_of(fraction.begin(), fraction.end(), [](char c) { return c >= '0' && c <= '9'; });
  constexpr std::int64_t kMost = 9'000'000'000;
  if (!seconds || !digits || *seconds < 0 || *seconds > kMost) return std::nullopt;
  fraction.resize(9, '0');
  return Time{*seconds * 1'000'000'000 + parse_int(fraction).value_or(0)};
}

}  // namespace

Pose2 Pose3::planar() const { return {x, y, math::atan2(2.0 * (qw * qz + qx * qy), 1.0 - 2.0 * (qy * qy + qz * qz))}; }

Pose3 Pose3::of(const Pose2& pose) {
  const auto [s, c] = math::sincos(0.5 * pose.yaw);
  return {pose.x, pose.y, 0.0, 0.0, 0.0, s, c};
}

const GraphNode* PoseGraph::find(std::int64_t id) const {
  const auto found =
      std::lower_bound(nodes.begin(), nodes.end(), id, [](const GraphNode& node, std::int64_t wanted) { return node.id < wanted; });
  return found != nodes.end() && found->id == id ? &*found : nullptr;
}

Result<PoseGraph> parse_g2o(std::string_view text, const std::string& name) {
  PoseGraph graph;
  G2oReader reader(graph);
  Status status = each_line(
      text, name, [&](const std::vector<std::string_view>& words, const std::string& where) { return reader.take(words, where); });
  if (status) status = sort_nodes(graph.nodes, name);
  if (status) status = sort_nodes(graph.landmarks, name);
  if (!status) return status.error();
  return graph;
}

std::string to_g2o(const PoseGraph& graph) {
  std::string out;
  for (const GraphNode& landmark : graph.landmarks) {
    out += "VERTEX_XY " + std::to_string(landmark.id) + " " + format_exact(landmark.pose.x) + " " + format_exact(landmark.pose.y) + "\n";
  }
  for (const GraphNode& node : graph.nodes) {
    out += (graph.planar ? "VERTEX_SE2 " : "VERTEX_SE3:QUAT ") + std::to_string(node.id) + pose_words(node.pose, graph.planar) + "\n";
  }
  for (const GraphEdge& edge : graph.edges) {
    out += (graph.planar ? "EDGE_SE2 " : "EDGE_SE3:QUAT ") + std::to_string(edge.from) + " " + std::to_string(edge.to) +
           pose_words(edge.T_from_to, graph.planar);
    for (const double value : edge.information) out += " " + format_exact(value);
    if (graph.has_links) out += " " + std::to_string(edge.link);
    out += "\n";
  }
  return out;
}

Result<std::vector<StampedPose>> parse_tum(std::string_view text, const std::string& name) {
  std::vector<StampedPose> trajectory;
  const Status status = each_line(text, name, [&](const std::vector<std::string_view>& words, const std::string& where) -> Status {
    if (words.size() != 8) return Error{where + ": has " + std::to_string(words.size()) + " columns, needs 8: stamp x y z qx qy qz qw"};
    const auto stamp = parse_stamp(words.front());
    if (!stamp) return Error{where + ": '" + std::string(words.front()) + "' is no stamp in s"};
    if (!trajectory.empty() && *stamp <= trajectory.back().stamp) return Error{where + ": stamps must rise"};
    const auto values = numbers(words, 1, where);
    if (!values) return values.error();
    trajectory.push_back({*stamp, spatial(*values)});
    return {};
  });
  if (!status) return status.error();
  return trajectory;
}

std::string to_tum(std::span<const StampedPose> trajectory) {
  std::string out = "#timestamp x y z qx qy qz qw\n";
  for (const StampedPose& each : trajectory) {
    std::string fraction = std::to_string(each.stamp.ns % 1'000'000'000);
    fraction.insert(0, 9 - fraction.size(), '0');
    out += std::to_string(each.stamp.ns / 1'000'000'000) + "." + fraction + pose_words(each.pose, false) + "\n";
  }
  return out;
}

Pose3 interpolate(const StampedPose& before, const StampedPose& after, Time at) {
  const double span = (after.stamp - before.stamp).seconds();
  const double t = span > 0.0 ? std::clamp((at - before.stamp).seconds() / span, 0.0, 1.0) : 0.0;
  const Pose3& a = before.pose;
  const Pose3& b = after.pose;
  const auto mix = [&](double from, double to) { return from + t * (to - from); };
  double dot = a.qx * b.qx + a.qy * b.qy + a.qz * b.qz + a.qw * b.qw;
  const double sign = dot < 0.0 ? -1.0 : 1.0;
  dot = std::min(1.0, sign * dot);
  double weight_a = 1.0 - t;
  double weight_b = t;
  constexpr double kNearlyEqual = 0.9999999;
  if (dot < kNearlyEqual) {
    const double angle = math::acos(dot);
    weight_a = math::sin((1.0 - t) * angle) / math::sin(angle);
    weight_b = math::sin(t * angle) / math::sin(angle);
  }
  weight_b *= sign;
  Pose3 out{mix(a.x, b.x),
            mix(a.y, b.y),
            mix(a.z, b.z),
            weight_a * a.qx + weight_b * b.qx,
            weight_a * a.qy + weight_b * b.qy,
            weight_a * a.qz + weight_b * b.qz,
            weight_a * a.qw + weight_b * b.qw};
  const double length = std::sqrt(out.qx * out.qx + out.qy * out.qy + out.qz * out.qz + out.qw * out.qw);
  if (length > 0.0) out.qx /= length, out.qy /= length, out.qz /= length, out.qw /= length;
  return out;
}

}  // namespace pitwall::recording
