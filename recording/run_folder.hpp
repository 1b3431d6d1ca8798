// SPDX-License-Identifier: Apache-2.0
// A run on disk:
//
//   run.json         the manifest: what ran, when by which clock, from which build and files
//   params.json      every parameter at the start
//   bag/             standard ROS 2 messages (rosbag2 MCAP), for any tool
//   internal.mcap    ticks, contacts, truth (run_messages.hpp)
//   metadata/files/  copies of the configuration
//   analysis/        what tools write
//
// The manifest is written at the start with `finished` false and again at the end: a run whose recorder died says so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/node.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "recording/bag.hpp"

namespace pitwall::recording {

/// A configuration file that was copied into the run.
struct RecordedFile {
  std::string name;    ///< below metadata/files/
  std::string origin;  ///< where it came from
  std::string sha256;
};

/// A car of the run, and where its messages are in the bag.
struct RecordedCar {
  std::string name;
  std::string controller;
  std::string prefix;  ///< before each of its topics: empty for the first car, "/opponent" for a car of that name
};

struct RecordedTopic {
  std::string name;
  std::string type;
  std::uint64_t count = 0;
  double rate_hz = 0.0;  ///< over the run
};

struct RunManifest {
  static constexpr int kSchema = 1;
  std::string run_id;
  std::string car_id;    ///< the car profile
  std::string scenario;  ///< empty on the car
  std::string track;
  std::string clock;  ///< "simulated", or the clock of the machine: "system"
  Time start;         ///< by that clock
  Time end;
  bool finished = false;
  std::string host;
  std::string build;       ///< version and commit
  std::string trace_hash;  ///< of a simulated run
  std::vector<RecordedCar> cars;
  std::vector<RecordedFile> files;
  std::vector<RecordedTopic> topics;
};

std::string to_json(const RunManifest& manifest);
/// The error names the file and the key.
Result<RunManifest> parse_manifest(std::string_view json, const std::string& name);
/// The manifest of a run folder.
Result<RunManifest> load_manifest(const std::filesystem::path& run);

/// A tree of parameters as JSON; numbers stay as they are written.
std::string to_json(const Node& node);

/// Version and commit of this build.
std::string build_id();

/// A copied configuration file of a run whose content no longer has the hash that the manifest says: one line each.
std::vector<std::string> changed_files(const std::filesystem::path& run, const RunManifest& manifest);

}  // namespace pitwall::recording
