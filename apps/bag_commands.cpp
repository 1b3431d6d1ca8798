// SPDX-License-Identifier: Apache-2.0
#include "apps/bag_commands.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "apps/progress.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "recording/bag_convert.hpp"
#include "recording/bag_diff.hpp"
#include "recording/bag_export.hpp"
#include "recording/bag_info.hpp"
#include "recording/bag_reader.hpp"

namespace pitwall::apps {

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void print_json(const Json& json) { print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"); }

/// A progress bar that also asks for interrupts, and whether what is printed still gets out.
recording::BagProgress progress() {
  return [bar = std::make_shared<std::optional<ProgressBar>>()](std::uint64_t done, std::uint64_t total) {
    if (!bar->has_value()) bar->emplace(total);
    (*bar)->show(done);
    return !interrupted() && std::ferror(stdout) == 0;
  };
}

/// Warns of what was found; whether something is or may be lost.
bool report(const std::vector<recording::Finding>& findings) {
  bool damaged = false;
  for (const recording::Finding& finding : findings) {
    damaged = damaged || finding.severity == recording::Severity::kDamage;
    if (finding.severity == recording::Severity::kDamage) {
      log::warn("damage: " + finding.text());
    } else {
      log::info("note: " + finding.text());
    }
  }
  return damaged;
}

/// That the end is not before the start.
Status check_times(const BagArguments& arguments) {
  if (arguments.start_s < 0.0 || arguments.end_s < 0.0 || arguments.start_s <= arguments.end_s) return {};
  return Error{"--end " + format_number(arguments.end_s, 9) + " is before --start " + format_number(arguments.start_s, 9)};
}

/// Opens a recording with the filters of the command line, whose times count from the first message.
Result<recording::BagReader> open(const BagArguments& arguments) {
  if (const Status times = check_times(arguments); !times) return times.error();
  recording::ReadOptions options;
  options.topics = arguments.topics;
  Result<recording::BagReader> reader = recording::BagReader::open(arguments.paths[0], options);
  if (!reader || (arguments.start_s < 0.0 && arguments.end_s < 0.0)) return reader;
  const Time begin = reader->start().value_or(Time{});
  if (arguments.start_s >= 0.0) options.start = begin + from_seconds(arguments.start_s);
  if (arguments.end_s >= 0.0) options.end = begin + from_seconds(arguments.end_s);
  return recording::BagReader::open(arguments.paths[0], options);
}

int exit_code(bool good, bool complete) { return !complete ? kInterrupted : good ? kPassed : kFailed; }

Json counts_json(const recording::ExportCounts& counts) {
  return {{"messages", counts.written}, {"opaque", counts.opaque}, {"broken", counts.broken}, {"first_error", counts.first_error}};
}

void warn_of(const recording::ExportCounts& counts) {
  if (!counts.complete) log::warn("stopped after " + std::to_string(counts.written) + " messages; the rest is missing");
  if (counts.opaque > 0) log::warn(std::to_string(counts.opaque) + " messages are of types that nothing defines");
  if (counts.broken > 0)
    log::warn(std::to_string(counts.broken) + " messages are not what their type says; the first: " + counts.first_error);
}

/// Recordings at or below a path: a folder with storage files is one, whatever lies below it.
std::vector<fs::path> recordings_below(const fs::path& path) {
  const auto is_storage = [](const fs::path& file) {
    const std::string name = file.filename().string();
    const auto ends = [&](std::string_view ending) { return name.ends_with(ending); };
    return ends(".mcap") || ends(".db3") || ends(".mcap.zstd") || ends(".db3.zstd") || name == "metadata.yaml";
  };
  std::error_code code;
  if (!fs::is_directory(path, code)) return {path};
  std::vector<fs::path> folders;
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(path, code)) entries.push_back(entry.path());
  if (std::any_of(entries.begin(), entries.end(), is_storage)) return {path};
  std::sort(entries.begin(), entries.end());
  for (const fs::path& entry : entries) {
    if (!fs::is_directory(entry, code) || fs::is_symlink(entry, code)) continue;
    const std::vector<fs::path> below = recordings_below(entry);
    folders.insert(folders.end(), below.begin(), below.end());
  }
  return folders;
}

/// Inspects each recording of the command line and prints it; `decode` reads the messages, too.
template <class Judge>
int inspect_each(const BagArguments& arguments, bool decode, const Judge& judge) {
  std::string json;
  bool good = true;
  for (const fs::path& path : arguments.paths) {
    Result<recording::BagReader> reader = recording::BagReader::open(path);
    if (!reader) return bad_input(reader.error());
    const recording::BagInfo info = recording::inspect(*reader, path.string(), decode, progress());
    good = judge(info) && good;
    json += (json.empty() ? "[" : ",\n") + recording::info_json(info);
    if (!arguments.json) print(info_text(info) + (arguments.paths.size() > 1 ? "\n" : ""));
    if (!info.complete) return kInterrupted;
  }
  if (arguments.json) print(json + "]\n");
  return good ? kPassed : kFailed;
}

Result<recording::ConvertOptions> convert_options(const BagArguments& arguments) {
  if (const Status times = check_times(arguments); !times) return times.error();
  recording::ConvertOptions options;
  options.read.topics = arguments.topics;
  options.format = arguments.format == "mcap" ? recording::StorageFormat::kMcap : recording::StorageFormat::kSqlite3;
  options.write.compression = arguments.compression == "zstd" ? recording::Compression::kZstd : recording::Compression::kNone;
  options.write.ros_distro = arguments.ros_distro;
  options.write.split_bytes = static_cast<std::uint64_t>(arguments.split_mib * 1048576.0);
  options.write.split_after = from_seconds(arguments.split_s);
  if (arguments.start_s < 0.0 && arguments.end_s < 0.0) return options;
  std::optional<Time> begin;
  for (const fs::path& path : arguments.paths) {
    const Result<recording::BagReader> reader = recording::BagReader::open(path);
    if (!reader) return reader.error();
    if (reader->start() && (!begin || *reader->start() < *begin)) begin = reader->start();
  }
  if (arguments.start_s >= 0.0) options.read.start = begin.value_or(Time{}) + from_seconds(arguments.start_s);
  if (arguments.end_s >= 0.0) options.read.end = begin.value_or(Time{}) + from_seconds(arguments.end_s);
  return options;
}

int convert_with(const BagArguments& arguments, const recording::ConvertOptions& options) {
  const bool there = fs::exists(arguments.output) && !fs::is_empty(arguments.output);
  if (there) return bad_input(Error{arguments.output.string() + ": is there already"});
  const auto result = recording::convert(arguments.paths, arguments.output, options, progress());
  if (!result) return bad_input(result.error());
  const bool damaged = report(result->findings) || result->damaged();
  if (result->refused > 0) log::warn(std::to_string(result->refused) + " messages have times before 1970 and were left out");
  if (arguments.json) {
    print_json(Json{{"output", arguments.output.string()},
                    {"messages", result->messages},
                    {"refused", result->refused},
                    {"losses", damaged},
                    {"complete", result->complete}});
  } else {
    print(arguments.output.string() + ": " + std::to_string(result->messages) + " messages" + (damaged ? ", with losses (see above)" : "") +
          (result->complete ? "\n" : "; interrupted, the rest is missing\n"));
  }
  return exit_code(!damaged, result->complete);
}

}  // namespace

int bag_info(const BagArguments& arguments) {
  return inspect_each(arguments, false, [](const recording::BagInfo& /*info*/) { return true; });
}

int bag_check(const BagArguments& arguments) {
  return inspect_each(arguments, true, [](const recording::BagInfo& info) {
    const auto whole = [](const recording::TopicInfo& topic) {
      return topic.undecodable == 0 && topic.dropped == 0 && (topic.encoding == "cdr" || topic.count == 0);
    };
    return !info.damaged() && std::all_of(info.topics.begin(), info.topics.end(), whole);
  });
}

int bag_ls(const BagArguments& arguments) {
  Json json = Json::array();
  for (const fs::path& given : arguments.paths) {
    if (!fs::exists(given)) return bad_input(Error{given.string() + ": there is no such file or folder"});
    const std::vector<fs::path> found = recordings_below(given);
    if (found.empty()) log::warn(given.string() + ": no recording at or below it");
    for (const fs::path& path : found) {
      const Result<recording::BagReader> reader = recording::BagReader::open(path);
      if (!reader) {
        log::warn(reader.error().message);
        continue;
      }
      Json topics = Json::array();
      std::string text = path.string() + ": " + reader->storage() + ", " + std::to_string(reader->message_count()) + " messages" +
                         (reader->start() ? ", from " + recording::time_text(*reader->start()) + ", " +
                                                recording::duration_text(*reader->end() - *reader->start())
                                          : "") +
                         (reader->damaged() ? ", damaged" : "") + "\n";
      for (const recording::Topic& topic : reader->topics()) {
        text += "  " + topic.name + "  " + topic.type + "  " + std::to_string(topic.message_count) + "\n";
        topics.push_back({{"name", topic.name}, {"type", topic.type}, {"count", topic.message_count}});
      }
      json.push_back({{"path", path.string()},
                      {"storage", reader->storage()},
                      {"messages", reader->message_count()},
                      {"damaged", reader->damaged()},
                      {"topics", topics}});
      if (!arguments.json) print(text);
    }
  }
  if (arguments.json) print_json(json);
  return kPassed;
}

int bag_cat(const BagArguments& arguments) {
  Result<recording::BagReader> reader = open(arguments);
  if (!reader) return bad_input(reader.error());
  const auto line = [](std::string_view text) { print(text); };
  const recording::ExportCounts counts = recording::write_json_lines(*reader, arguments.limit, line, progress());
  const bool damaged = report(reader->findings());
  warn_of(counts);
  return exit_code(!damaged && counts.broken == 0, counts.complete);
}

int bag_export(const BagArguments& arguments) {
  Result<recording::BagReader> reader = open(arguments);
  if (!reader) return bad_input(reader.error());
  recording::ExportCounts counts;
  const auto files = recording::export_csv(*reader, arguments.output, counts, progress());
  if (!files) return bad_input(files.error());
  const bool damaged = report(reader->findings());
  warn_of(counts);
  Json json = counts_json(counts);
  for (const recording::CsvFile& file : *files) {
    json["files"].push_back({{"topic", file.topic}, {"path", file.path.string()}, {"rows", file.rows}, {"why_not", file.why_not}});
    if (arguments.json) continue;
    print(file.why_not.empty() ? file.path.string() + ": " + std::to_string(file.rows) + " rows of " + file.topic + "\n"
                               : "no file of " + file.topic + ": " + file.why_not + "\n");
  }
  if (arguments.json) print_json(json);
  return exit_code(!damaged && counts.broken == 0, counts.complete);
}

int bag_convert(const BagArguments& arguments) {
  const Result<recording::ConvertOptions> options = convert_options(arguments);
  if (!options) return bad_input(options.error());
  return convert_with(arguments, *options);
}

int bag_recover(const BagArguments& arguments) { return bag_convert(arguments); }

int bag_diff(const BagArguments& arguments) {
  recording::DiffOptions options;
  options.topics = arguments.topics;
  options.ignore_times = arguments.ignore_times;
  const auto result = recording::diff(arguments.paths[0], arguments.paths[1], options, progress());
  if (!result) return bad_input(result.error());
  if (!result->complete) return kInterrupted;
  Json differences = Json::array();
  for (const recording::TopicDifference& each : result->differences) {
    differences.push_back({{"topic", each.topic}, {"count_a", each.count_a}, {"count_b", each.count_b}, {"what", each.what}});
    if (!arguments.json) {
      print(each.topic + ": " + each.what + " (" + std::to_string(each.count_a) + " and " + std::to_string(each.count_b) + " messages)\n");
    }
  }
  if (arguments.json) {
    print_json(
        Json{{"identical", differences.empty()}, {"messages", result->compared}, {"topics", result->topics}, {"differences", differences}});
  } else if (differences.empty()) {
    print("identical: " + std::to_string(result->compared) + " messages on " + std::to_string(result->topics) + " topics\n");
  }
  return differences.empty() ? kPassed : kFailed;
}

}  // namespace pitwall::apps
