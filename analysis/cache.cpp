// SPDX-License-Identifier: Apache-2.0
#include "analysis/cache.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <system_error>

#include "core/files.hpp"
#include "core/hash.hpp"
#include "core/sha256.hpp"
#include "core/text.hpp"
#include "recording/run_folder.hpp"

namespace pitwall::analysis {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKey = "cache_key";

/// The value of a line "name: value" in the text of a key.
std::optional<std::string_view> value_in(std::string_view text, std::string_view name) {
  const std::string begin = std::string(name) + ": ";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with(begin)) return line.substr(begin.size());
    at = end + 1;
  }
  return std::nullopt;
}

/// "1234 bytes, changed 1700000000000000000, 89abcdef".
Result<std::string> fingerprint(const fs::path& file) {
  constexpr std::uintmax_t kMiB = 1U << 20U;
  std::error_code failed;
  const std::uintmax_t size = fs::file_size(file, failed);
  const auto changed = fs::last_write_time(file, failed);
  std::ifstream in(file, std::ios::binary);
  if (failed || !in) return Error{file.string() + ": cannot be read"};
  std::string ends(static_cast<std::size_t>(std::min(size, 2 * kMiB)), '\0');
  const auto half = static_cast<std::streamsize>(std::min(size, kMiB));
  in.read(ends.data(), half);
  in.seekg(-static_cast<std::streamoff>(ends.size() - static_cast<std::size_t>(half)), std::ios::end);
  in.read(ends.data() + half, static_cast<std::streamsize>(ends.size()) - half);
  if (!in) return Error{file.string() + ": cannot be read"};
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::file_clock::to_sys(changed).time_since_epoch()).count();
  return std::to_string(size) + " bytes, changed " + std::to_string(ns) + ", " + sha256_hex(ends).substr(0, 16);
}

bool read_by_analysis(const fs::path& relative) {
  const std::string first = relative.begin()->string();
  const std::string extension = relative.extension().string();
  return first == "metadata" || relative == "run.json" || relative == "internal.mcap" || extension == ".mcap" || extension == ".db3" ||
         extension == ".zstd" || extension == ".db3-wal" || relative.filename() == "metadata.yaml";
}

}  // namespace

CacheKey::CacheKey(int format) {
  add("format", std::to_string(format));
  add("build", recording::build_id());
}

void CacheKey::add(std::string name, const Node& parameters) {
  Hash hash;
  hash.add(to_yaml(parameters));
  add(std::move(name), to_hex(hash.value()));
}

void CacheKey::add(std::string name, std::string value) {
  std::replace(value.begin(), value.end(), '\n', ' ');
  facts_.emplace_back(std::move(name), std::move(value));
}

Status CacheKey::add_recording(const fs::path& run) {
  std::error_code failed;
  if (!fs::is_directory(run, failed)) {
    const Result<std::string> print = fingerprint(run);
    if (!print) return print.error();
    add(run.filename().string(), *print);
    return {};
  }
  std::vector<fs::path> files;
  for (auto at = fs::recursive_directory_iterator(run, failed); !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    const fs::path relative = at->path().lexically_relative(run);
    if (at->is_directory(failed) && at.depth() == 0 && relative == "analysis") at.disable_recursion_pending();
    if (at->is_regular_file(failed) && read_by_analysis(relative)) files.push_back(relative);
  }
  if (failed) return Error{run.string() + ": cannot be read: " + failed.message()};
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    const Result<std::string> print = fingerprint(run / file);
    if (!print) return print.error();
    add(file.generic_string(), *print);
  }
  return {};
}

std::string CacheKey::text() const {
  std::string text;
  for (const auto& [name, value] : facts_) text += name + ": " + value + "\n";
  return text;
}

std::string CacheKey::difference_from(std::string_view cached_text) const {
  if (text() == cached_text) return "";
  for (const auto& [name, value] : facts_) {
    const auto cached = value_in(cached_text, name);
    if (!cached) return name + " is new";
    if (*cached != value) return name + " was '" + std::string(*cached) + "', is '" + value + "'";
  }
  return "something that it was made from is gone";
}

CachedArrays load_cache(const fs::path& file, const CacheKey& key) {
  std::error_code failed;
  if (!fs::exists(file, failed)) return {std::nullopt, "there is none yet"};
  Result<std::string> bytes = read_file(file);
  if (!bytes) return {std::nullopt, bytes.error().message};
  Result<NpzReader> arrays = NpzReader::parse(*std::move(bytes));
  if (!arrays) return {std::nullopt, "it is damaged (" + arrays.error().message + ")"};
  const auto cached = arrays->text(kKey);
  if (!cached) return {std::nullopt, "it does not say what it was made from"};
  if (const std::string difference = key.difference_from(*cached); !difference.empty()) return {std::nullopt, "it is stale: " + difference};
  return {*std::move(arrays), ""};
}

Status save_cache(const fs::path& file, const CacheKey& key, NpzWriter arrays) {
  arrays.add_text(kKey, key.text());
  const Result<std::string> bytes = arrays.finish();
  if (!bytes) return bytes.error();
  return write_file(file, *bytes);
}

}  // namespace pitwall::analysis
