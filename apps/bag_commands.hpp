// SPDX-License-Identifier: Apache-2.0
// The commands of the program `bag`: one library call each, and what it says about it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pitwall::apps {

/// What the command line may say; a command looks at what it knows.
struct BagArguments {
  std::vector<std::filesystem::path> paths;
  std::vector<std::string> topics;
  double start_s = -1.0;  ///< seconds after the first message; negative: from the beginning
  double end_s = -1.0;    ///< likewise; negative: to the end
  std::uint64_t limit = UINT64_MAX;
  std::filesystem::path output;
  std::string format = "mcap";
  std::string compression = "zstd";
  std::string ros_distro = "jazzy";
  double split_mib = 0.0;
  double split_s = 0.0;
  bool ignore_times = false;
  bool json = false;
};

// Each gives the program's exit code.
int bag_info(const BagArguments& arguments);
int bag_ls(const BagArguments& arguments);
int bag_cat(const BagArguments& arguments);
int bag_export(const BagArguments& arguments);
int bag_convert(const BagArguments& arguments);
int bag_recover(const BagArguments& arguments);
int bag_check(const BagArguments& arguments);
int bag_diff(const BagArguments& arguments);

}  // namespace pitwall::apps
