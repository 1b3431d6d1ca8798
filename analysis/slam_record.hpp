// SPDX-License-Identifier: Apache-2.0
// What a SLAM of ours leaves behind beside its poses, as slam.json of the run folder: what a report needs, and what a replay is held to.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/geometry.hpp"
#include "core/result.hpp"
#include "core/time.hpp"

namespace pitwall::analysis {

/// A scan that became a node.
struct RecordedNode {
  Time stamp;
  std::string placement;  ///< slam::name_of
  bool degenerate = false;
  bool flagged = false;
  Pose2 T_odom_base;
  Pose2 live;     ///< T_map_base as it was published
  Pose2 settled;  ///< and at the end
};

struct RecordedClosure {
  std::int64_t node = 0;
  std::int64_t other = 0;
  std::string outcome;  ///< slam::name_of
  bool searched = false;
  double coarse_response = 0.0;
  double response = 0.0;
  double ambiguity = 0.0;
  double chi2 = 0.0;
  double chi2_rise = 0.0;
};

/// A scan that the SLAM never looked at.
struct DroppedScan {
  Time arrival;
  std::string cause;  ///< "busy", "no transform"
};

struct SlamRecord {
  static constexpr std::int64_t kSchema = 1;
  std::string engine;  ///< "pitwall"
  std::int64_t version = 0;
  std::string odom_frame;
  std::string base_frame;
  std::map<std::string, std::int64_t> counts;  ///< scans by what became of them
  std::vector<RecordedNode> nodes;
  std::vector<RecordedClosure> closures;
  std::vector<DroppedScan> dropped;
  std::int64_t edges = 0;
  double chi2 = 0.0;
  double nearest_unlinked_m = 0.0;  ///< where no closure was tried; NaN: no two nodes to tell
  std::int64_t ghost_cells = 0;
  std::string pose_sha256;  ///< over stamps and settled poses of the nodes
};

/// Numbers come back to the same bits.
std::string to_json(const SlamRecord& record);
/// The error names the file and the key.
Result<SlamRecord> parse_slam_record(std::string_view json, const std::string& name);

}  // namespace pitwall::analysis
