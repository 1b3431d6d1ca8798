// SPDX-License-Identifier: Apache-2.0
// Which topics of a recording play which role: by the usual name, else the only one of the type, else as the user says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/run_data.hpp"
#include "core/result.hpp"
#include "recording/bag.hpp"

namespace pitwall::analysis {

/// What a topic can be to an analysis.
struct Role {
  std::string_view name;
  std::vector<std::string_view> topics;
  std::vector<std::string_view> types;
  std::string_view consequence;
  bool by_type = true;  ///< whether the only topic of the type is taken, whatever its name
};

/// Which topic of the recording plays each role; `why` not where none does.
struct Cast {
  const Role* role = nullptr;
  const recording::Topic* topic = nullptr;
  std::string why;
};

/// Every role, in the order in which they are reported.
Result<std::vector<Cast>> cast_all(const std::vector<recording::Topic>& topics, const RunData& run, const LoadOptions& options);

}  // namespace pitwall::analysis
