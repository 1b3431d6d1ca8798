// SPDX-License-Identifier: Apache-2.0
// Results that were costly to compute, kept beside the run as .npz, with everything they were made from: where any of it differs now,
// the cache is stale and says what changed. Written beside and renamed, so a killed program leaves the old one or the new one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/npz.hpp"
#include "core/node.hpp"
#include "core/result.hpp"

namespace pitwall::analysis {

/// What a cache depends on, in order: name and value, each one line of text.
class CacheKey {
 public:
  /// Begins with the format of the cache and the build of the program.
  explicit CacheKey(int format);
  void add(std::string name, std::string value);
  /// The hash of parameters, as save_fields() gives them.
  void add(std::string name, const Node& parameters);
  /// Every storage file of a recording (a folder, or one file): size, time of the last change, hash of its first and last MiB. The other
  /// files of a run folder that analysis reads (internal.mcap, run.json, metadata/files) count in the same way.
  Status add_recording(const std::filesystem::path& run);

  /// "format: 1\nbuild: ...\n", as the cache holds it.
  [[nodiscard]] std::string text() const;
  /// "bag/x.mcap was A, is B" for the first line that differs from those of another key; empty where none does.
  [[nodiscard]] std::string difference_from(std::string_view cached_text) const;

 private:
  std::vector<std::pair<std::string, std::string>> facts_;
};

/// A cache that fits its key, or why there is none.
struct CachedArrays {
  std::optional<NpzReader> arrays;
  std::string why;  ///< "there is none yet", or what changed, or that it is damaged; never an error: it is rebuilt
};
CachedArrays load_cache(const std::filesystem::path& file, const CacheKey& key);

/// Adds the key to the arrays and writes them.
Status save_cache(const std::filesystem::path& file, const CacheKey& key, NpzWriter arrays);

}  // namespace pitwall::analysis
