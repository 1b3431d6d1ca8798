// SPDX-License-Identifier: Apache-2.0
#include "recording/bag_convert.hpp"

#include <algorithm>
#include <map>
#include <system_error>
#include <variant>

#include "core/text.hpp"
#include "recording/sqlite_writer.hpp"
#include "ros_messages/known_types.hpp"

namespace pitwall::recording {

namespace {

constexpr std::uint64_t kConvertProgressEvery = 4096;

/// Whichever storage is written.
class Output {
 public:
  static Result<Output> create(const std::filesystem::path& folder, const ConvertOptions& options) {
    if (options.format == StorageFormat::kSqlite3) {
      Result<SqliteWriter> writer = SqliteWriter::create(folder, options.write.ros_distro);
      if (!writer) return writer.error();
      return Output(std::move(*writer));
    }
    Result<BagWriter> writer = BagWriter::create(folder, options.write);
    if (!writer) return writer.error();
    return Output(std::move(*writer));
  }

  Result<std::size_t> add_topic(const Topic& topic) {
    return std::visit([&](auto& writer) { return writer.add_topic(topic); }, writer_);
  }
  Status write(std::size_t topic, Time log_time, Time publish_time, Bytes data) {
    if (auto* mcap = std::get_if<BagWriter>(&writer_)) return mcap->write(topic, log_time, publish_time, data);
    return std::get<SqliteWriter>(writer_).write(topic, log_time, data);
  }
  Status close() {
    return std::visit([](auto& writer) { return writer.close(); }, writer_);
  }

 private:
  explicit Output(std::variant<BagWriter, SqliteWriter> writer) : writer_(std::move(writer)) {}
  std::variant<BagWriter, SqliteWriter> writer_;
};

struct Input {
  BagReader reader;
  const BagMessage* next = nullptr;
  std::vector<std::size_t> topics;  ///< index in the output of each of the reader's
};

/// The topic with our own definition where the recording has none, so that the copy can be read by everyone.
Topic completed(Topic topic) {
  topic.message_count = 0;
  const ros_messages::Definition* known = ros_messages::known_definition(topic.type);
  if (topic.schema_encoding.empty() && known != nullptr && topic.encoding == "cdr") {
    topic.schema_encoding = "ros2msg";
    topic.schema = ros_messages::schema_text(*known);
    if (topic.type_hash.empty()) topic.type_hash = ros_messages::type_hash(*known);
  }
  return topic;
}

bool wanted(const ReadOptions& read, const std::string& name) {
  return read.topics.empty() || std::find(read.topics.begin(), read.topics.end(), name) != read.topics.end();
}

/// Opens all inputs; a topic that is asked for must be in one of them.
Result<std::vector<Input>> open_inputs(const std::vector<std::filesystem::path>& paths, const ReadOptions& read) {
  std::vector<std::string> known;
  std::vector<Input> inputs;
  for (const std::filesystem::path& path : paths) {
    ReadOptions options = read;
    options.topics.clear();
    Result<BagReader> all = BagReader::open(path, options);
    if (!all) return all.error();
    for (const Topic& topic : all->topics()) {
      if (wanted(read, topic.name)) options.topics.push_back(topic.name);
      known.push_back(topic.name);
    }
    if (options.topics.empty() && !read.topics.empty()) continue;
    if (options.topics.size() == all->topics().size()) {
      inputs.push_back({*std::move(all), nullptr, {}});
      continue;
    }
    Result<BagReader> some = BagReader::open(path, options);
    if (!some) return some.error();
    inputs.push_back({*std::move(some), nullptr, {}});
  }
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (const std::string& name : read.topics) {
    if (std::find(known.begin(), known.end(), name) == known.end()) return Error{unknown_name("topic", name, known)};
  }
  return inputs;
}

Status add_topics(std::vector<Input>& inputs, const ConvertOptions& options, Output& output) {
  std::map<std::string, std::string> types;
  for (Input& input : inputs) {
    for (const Topic& topic : input.reader.topics()) {
      std::size_t index = 0;
      if (wanted(options.read, topic.name)) {
        const std::string& type = types.emplace(topic.name, topic.type).first->second;
        if (type != topic.type) return Error{"topic " + topic.name + " is of type " + type + " and of type " + topic.type};
        const Result<std::size_t> added = output.add_topic(completed(topic));
        if (!added) return added.error();
        index = *added;
      }
      input.topics.push_back(index);
    }
  }
  return {};
}

/// The input with the earliest message, the first of them where equal; null at the end of all.
Input* earliest(std::vector<Input>& inputs, const std::optional<Time>& start) {
  const auto time_of = [&](const Input& input) { return input.next->latched_before_start && start ? *start : input.next->log_time; };
  Input* best = nullptr;
  for (Input& input : inputs) {
    if (input.next != nullptr && (best == nullptr || time_of(input) < time_of(*best))) best = &input;
  }
  return best;
}

Status copy(std::vector<Input>& inputs, const ConvertOptions& options, Output& output, ConvertResult& result, const BagProgress& progress) {
  std::uint64_t total = 0;
  for (Input& input : inputs) {
    total += input.reader.message_count();
    input.next = input.reader.next();
  }
  while (Input* input = earliest(inputs, options.read.start)) {
    const BagMessage& message = *input->next;
    const bool latched = message.latched_before_start && options.read.start;
    const Time log_time = latched ? *options.read.start : message.log_time;
    if (log_time.ns < 0) {
      ++result.refused;
    } else {
      const Time publish_time{std::max<std::int64_t>(0, latched ? log_time.ns : message.publish_time.ns)};
      if (Status written = output.write(input->topics[message.topic], log_time, publish_time, message.data); !written) return written;
      ++result.messages;
    }
    input->next = input->reader.next();
    if (progress && result.messages % kConvertProgressEvery == 0 && !progress(result.messages, total)) {
      result.complete = false;
      return {};
    }
  }
  return {};
}

}  // namespace

bool ConvertResult::damaged() const {
  return refused > 0 ||
         std::any_of(findings.begin(), findings.end(), [](const Finding& each) { return each.severity == Severity::kDamage; });
}

Result<ConvertResult> convert(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& output,
                              const ConvertOptions& options, const BagProgress& progress) {
  Result<std::vector<Input>> opened = open_inputs(inputs, options.read);
  if (!opened) return opened.error();
  Result<Output> created = Output::create(output, options);
  if (!created) return created.error();
  std::optional<Output> writer = *std::move(created);
  ConvertResult result;
  Status status = add_topics(*opened, options, *writer);
  if (status) status = copy(*opened, options, *writer, result, progress);
  if (status) status = writer->close();
  if (!status) {
    writer.reset();  // it closes its files first
    std::error_code ignored;
    std::filesystem::remove_all(output, ignored);
    return status.error();
  }
  for (const Input& input : *opened) {
    result.findings.insert(result.findings.end(), input.reader.findings().begin(), input.reader.findings().end());
  }
  return result;
}

}  // namespace pitwall::recording
