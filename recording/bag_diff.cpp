// SPDX-License-Identifier: Apache-2.0
#include "recording/bag_diff.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "core/hash.hpp"
#include "core/text.hpp"
#include "recording/bag_decoder.hpp"
#include "recording/bag_reader.hpp"
#include "ros_messages/dynamic.hpp"

namespace pitwall::recording {

namespace {

constexpr std::uint64_t kDiffProgressEvery = 4096;

/// A topic of one recording, as far as one pass tells.
struct Summary {
  Topic topic;
  std::uint64_t count = 0;
  Hash hash;  ///< of all its messages
};
using Summaries = std::map<std::string, Summary>;

/// Reads a whole recording; `result.complete` is false where `progress` stopped it.
Result<Summaries> summarise(const std::filesystem::path& path, const DiffOptions& options, const BagProgress& progress,
                            DiffResult& result) {
  Result<BagReader> reader = BagReader::open(path);
  if (!reader) return reader.error();
  std::vector<Summary> by_index;
  for (const Topic& topic : reader->topics()) by_index.push_back({topic, 0, {}});
  std::uint64_t seen = 0;
  while (const BagMessage* message = reader->next()) {
    Summary& summary = by_index[message->topic];
    ++summary.count;
    if (!options.ignore_times) summary.hash.add(message->log_time.ns);
    summary.hash.add(as_text(message->data));
    if (progress && ++seen % kDiffProgressEvery == 0 && !progress(seen, reader->message_count())) {
      result.complete = false;
      break;
    }
  }
  Summaries summaries;
  for (Summary& summary : by_index) summaries.emplace(summary.topic.name, std::move(summary));
  return summaries;
}

/// Cells of a CSV row.
std::vector<std::string> cells(const ros_messages::Definition& definition, Bytes data) {
  std::string row;
  std::vector<std::string> split;
  if (!ros_messages::append_csv(definition, as_text(data), row)) return split;
  std::string cell;
  bool quoted = false;
  for (const char c : row + ",") {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted) {
      split.push_back(std::exchange(cell, {}));
    } else {
      cell += c;
    }
  }
  return split;
}

/// Where two cells of JSON lists or long texts part, with what stands around it.
std::string around(const std::string& cell, std::size_t at) {
  constexpr std::size_t kMost = 40;
  if (cell.size() <= kMost) return cell.empty() ? "empty" : cell;
  const std::size_t from = at < kMost / 2 ? 0 : at - kMost / 2;
  return (from > 0 ? "..." : "") + cell.substr(from, kMost) + (from + kMost < cell.size() ? "..." : "");
}

/// What is different between two messages of one topic.
std::string difference(const Topic& topic, Bytes a, Bytes b) {
  if (const Result<ros_messages::Definition> definition = definition_of(topic)) {
    const auto columns = ros_messages::csv_columns(*definition);
    const std::vector<std::string> of_a = cells(*definition, a);
    const std::vector<std::string> of_b = cells(*definition, b);
    const std::size_t most = columns ? std::min({columns->size(), of_a.size(), of_b.size()}) : 0;
    for (std::size_t i = 0; i < most; ++i) {
      if (of_a[i] == of_b[i]) continue;
      const auto at =
          static_cast<std::size_t>(std::mismatch(of_a[i].begin(), of_a[i].end(), of_b[i].begin(), of_b[i].end()).first - of_a[i].begin());
      return (*columns)[i] + " is " + around(of_a[i], at) + " in one, " + around(of_b[i], at) + " in the other";
    }
    if (most > 0) return "the same values in other bytes (padding)";
  }
  const auto at = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  return "byte " + std::to_string(at) + " of " + std::to_string(a.size()) + " and " + std::to_string(b.size()) + " bytes";
}

/// The first message at which a topic differs.
Result<std::string> first_difference(const std::filesystem::path& path_a, const std::filesystem::path& path_b, const Topic& topic,
                                     const DiffOptions& options) {
  ReadOptions only;
  only.topics = {topic.name};
  Result<BagReader> a = BagReader::open(path_a, only);
  if (!a) return a.error();
  Result<BagReader> b = BagReader::open(path_b, only);
  if (!b) return b.error();
  for (std::uint64_t index = 0;; ++index) {
    const BagMessage* of_a = a->next();
    const BagMessage* of_b = b->next();
    if (of_a == nullptr && of_b == nullptr) return std::string("no difference was met in a second reading");
    const std::string which = "message " + std::to_string(index);
    if (of_a == nullptr || of_b == nullptr) {
      const BagMessage* more = of_a == nullptr ? of_b : of_a;
      return which + " (at " + time_text(more->log_time) + ") is only in the " + (of_a == nullptr ? "second" : "first");
    }
    if (!options.ignore_times && of_a->log_time != of_b->log_time) {
      return which + " is at " + std::to_string(of_a->log_time.ns) + " ns in one, at " + std::to_string(of_b->log_time.ns) +
             " ns in the other";
    }
    if (std::equal(of_a->data.begin(), of_a->data.end(), of_b->data.begin(), of_b->data.end())) continue;
    return which + " (at " + time_text(of_a->log_time) + "): " + difference(topic, of_a->data, of_b->data);
  }
}

}  // namespace

Result<DiffResult> diff(const std::filesystem::path& a, const std::filesystem::path& b, const DiffOptions& options,
                        const BagProgress& progress) {
  DiffResult result;
  const Result<Summaries> of_a = summarise(a, options, progress, result);
  if (!of_a) return of_a.error();
  const Result<Summaries> of_b = summarise(b, options, progress, result);
  if (!of_b) return of_b.error();
  Summaries all = *of_a;
  all.insert(of_b->begin(), of_b->end());
  std::vector<std::string> names;
  for (const auto& [name, summary] : all) names.push_back(name);
  for (const std::string& name : options.topics) {
    if (!all.contains(name)) return Error{unknown_name("topic", name, names)};
  }
  if (!result.complete) return result;
  for (const auto& [name, summary] : all) {
    if (!options.topics.empty() && std::find(options.topics.begin(), options.topics.end(), name) == options.topics.end()) continue;
    ++result.topics;
    const auto in_a = of_a->find(name);
    const auto in_b = of_b->find(name);
    TopicDifference found{name, in_a == of_a->end() ? 0 : in_a->second.count, in_b == of_b->end() ? 0 : in_b->second.count, ""};
    result.compared += found.count_a;
    if (in_a == of_a->end() || in_b == of_b->end()) {
      found.what = "only in the " + std::string(in_a == of_a->end() ? "second" : "first");
    } else if (in_a->second.topic.type != in_b->second.topic.type) {
      found.what = "of type " + in_a->second.topic.type + " in one, " + in_b->second.topic.type + " in the other";
    } else if (in_a->second.hash.value() != in_b->second.hash.value() || found.count_a != found.count_b) {
      Result<std::string> what = first_difference(a, b, summary.topic, options);
      if (!what) return what.error();
      found.what = *std::move(what);
    } else {
      continue;
    }
    result.differences.push_back(std::move(found));
  }
  return result;
}

}  // namespace pitwall::recording
