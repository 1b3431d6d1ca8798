// SPDX-License-Identifier: Apache-2.0
#include "recording/bag_writer.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <system_error>

#include "core/check.hpp"
#include "core/files.hpp"
#include "recording/byte_source.hpp"
#include "recording/metadata.hpp"

namespace pitwall::recording {
namespace {

constexpr std::string_view kLibrary = "pitwall";

struct LatchedMessage {
  std::size_t topic = 0;
  Time publish_time;
  Buffer data;
};

/// The last message of a topic is its state; of transform lists each may hold other frames, and the last hundred are kept.
void keep_latched(std::vector<LatchedMessage>& kept, LatchedMessage message, bool transforms) {
  constexpr std::ptrdiff_t kMostTransforms = 100;
  const auto of_topic = [&](const LatchedMessage& other) { return other.topic == message.topic; };
  const auto replaced = std::find_if(kept.begin(), kept.end(), of_topic);
  if (replaced != kept.end() && (!transforms || std::count_if(kept.begin(), kept.end(), of_topic) >= kMostTransforms)) kept.erase(replaced);
  kept.push_back(std::move(message));
}

}  // namespace

struct BagWriter::State {
  std::filesystem::path folder;
  std::string bare_file;  ///< in the folder, where there is no more than that
  WriteOptions options;
  BagMetadata metadata;  ///< of the whole bag so far
  std::vector<std::uint64_t> dropped;
  std::vector<std::uint32_t> sequence;
  std::vector<LatchedMessage> latched;

  // Of the split that is being written.
  std::unique_ptr<ByteSink> sink;
  std::optional<mcap::Writer> writer;
  std::map<std::pair<std::string, std::string>, std::uint16_t> schema_ids;  ///< by type and definition
  std::optional<Time> first_waiting;                                        ///< log time of the chunk's first message
  std::int64_t start_ns = INT64_MAX;
  std::int64_t end_ns = INT64_MIN;
  std::uint64_t messages = 0;
  bool closed = false;
  std::optional<Error> failed;

  ~State() { (void)close(); }
  Status keep(Status status) {
    if (!status && !failed) failed = status.error();
    return failed ? Status(*failed) : Status();
  }
  Status open_split();
  Status end_split();
  Status define(std::size_t topic);
  Status put(std::size_t topic, Time log_time, Time publish_time, Bytes data);
  Status flush();
  Status flush_if_due(Time now);
  Status start_next_split(Time log_time);
  [[nodiscard]] bool split_is_due(Time log_time) const;
  [[nodiscard]] BagMetadata current_metadata() const;
  Status write_metadata_record();
  Status write_metadata_file();
  Status close();
};

Status BagWriter::State::define(std::size_t index) {
  const Topic& topic = metadata.topics[index];
  mcap::Channel channel;
  channel.id = static_cast<std::uint16_t>(index + 1);
  channel.topic = topic.name;
  channel.message_encoding = topic.encoding;
  channel.metadata["offered_qos_profiles"] =
      metadata.version < BagMetadata::kNewest ? qos_in_numbers(topic.qos, topic.latched) : qos_in_words(topic.qos, topic.latched);
  if (!topic.type_hash.empty()) channel.metadata["topic_type_hash"] = topic.type_hash;
  if (!topic.type.empty()) {
    const auto [known, is_new] = schema_ids.emplace(std::pair(topic.type, topic.schema), static_cast<std::uint16_t>(schema_ids.size() + 1));
    channel.schema_id = known->second;
    if (is_new) {
      mcap::Schema schema;
      schema.id = known->second;
      schema.name = topic.type;
      schema.encoding = topic.schema_encoding;
      schema.data = mcap::Bytes32(as_bytes(topic.schema).data(), topic.schema.size());
      const Status added = writer->add_schema(schema);
      if (!added) return added;
    }
  }
  return writer->add_channel(channel);
}

Status BagWriter::State::open_split() {
  const std::string name =
      !bare_file.empty() ? bare_file : folder.filename().string() + "_" + std::to_string(metadata.paths.size()) + ".mcap";
  auto created = create_sink(folder / name, options.durable);
  if (!created) return created.error();
  writer.reset();
  sink = std::move(*created);
  mcap::WriterOptions how;
  how.compression = options.compression;
  how.chunk_bytes = options.chunk_bytes;
  how.definitions_in_chunks = false;
  writer.emplace(*sink, how);
  schema_ids.clear();
  first_waiting.reset();
  start_ns = INT64_MAX;
  end_ns = INT64_MIN;
  messages = 0;
  metadata.paths.push_back(name);
  Status status = writer->open({"ros2", std::string(kLibrary)});
  if (status) status = write_metadata_record();
  for (std::size_t k = 0; status && k < metadata.topics.size(); ++k) status = define(k);
  return status ? write_metadata_file() : status;
}

BagMetadata BagWriter::State::current_metadata() const {
  BagMetadata now = metadata;
  FileClaim file;
  file.path = metadata.paths.back();
  file.message_count = messages;
  if (messages > 0) {
    file.start = {start_ns};
    file.duration = {end_ns - start_ns};
  }
  now.files.push_back(file);
  std::int64_t first = INT64_MAX;
  std::int64_t last = INT64_MIN;
  for (const FileClaim& claim : now.files) {
    if (claim.message_count == 0) continue;
    first = std::min(first, claim.start.ns);
    last = std::max(last, claim.start.ns + claim.duration.ns);
    now.message_count += claim.message_count;
  }
  if (now.message_count > 0) {
    now.start = {first};
    now.duration = {last - first};
  }
  for (std::size_t k = 0; k < dropped.size(); ++k) {
    if (dropped[k] > 0) now.custom_data.emplace_back("dropped:" + metadata.topics[k].name, std::to_string(dropped[k]));
  }
  return now;
}

Status BagWriter::State::write_metadata_record() {
  mcap::Metadata record;
  record.name = "rosbag2";
  record.metadata["serialized_metadata"] = compose_metadata(current_metadata());
  return writer->write(record);
}

Status BagWriter::State::write_metadata_file() {
  return bare_file.empty() ? write_file(folder / "metadata.yaml", compose_metadata(current_metadata())) : Status();
}

Status BagWriter::State::flush() {
  first_waiting.reset();
  const Status flushed = writer->flush();
  return flushed ? sink->sync() : flushed;
}

Status BagWriter::State::flush_if_due(Time now) {
  return first_waiting && now - *first_waiting >= options.flush_every ? flush() : Status{};
}

Status BagWriter::State::put(std::size_t topic, Time log_time, Time publish_time, Bytes data) {
  mcap::Message message;
  message.channel_id = static_cast<std::uint16_t>(topic + 1);
  message.sequence = ++sequence[topic];
  message.log_time = static_cast<std::uint64_t>(log_time.ns);
  message.publish_time = static_cast<std::uint64_t>(publish_time.ns);
  message.data = mcap::BytesToEnd(data.data(), data.size());
  if (!first_waiting) first_waiting = log_time;
  const Status written = writer->write(message);
  if (!written) return written;
  ++metadata.topics[topic].message_count;
  ++messages;
  start_ns = std::min(start_ns, log_time.ns);
  end_ns = std::max(end_ns, log_time.ns);
  if (writer->waiting() > 0) return {};
  first_waiting.reset();
  return sink->sync();
}

bool BagWriter::State::split_is_due(Time log_time) const {
  if (messages == 0 || !bare_file.empty()) return false;
  const bool large = options.split_bytes > 0 && writer->written() + writer->waiting() >= options.split_bytes;
  return large || (options.split_after.ns > 0 && log_time.ns - start_ns >= options.split_after.ns);
}

Status BagWriter::State::end_split() {
  const BagMetadata whole = current_metadata();
  Status status = write_metadata_record();
  if (status) status = writer->close();
  if (status) status = sink->sync();
  metadata.files.push_back(whole.files.back());
  return status;
}

/// The new file begins with what is latched, at the time of the message that comes next.
Status BagWriter::State::start_next_split(Time log_time) {
  Status status = end_split();
  if (status) status = open_split();
  for (const LatchedMessage& kept : latched) {
    if (status) status = put(kept.topic, log_time, kept.publish_time, kept.data);
  }
  return status;
}

Status BagWriter::State::close() {
  if (closed || !writer) return failed ? Status(*failed) : Status();
  closed = true;
  if (failed) return *failed;
  Status status = end_split();
  if (status) {
    metadata.files.pop_back();  // end_split() has added it; the file says so once
    status = write_metadata_file();
  }
  return keep(status);
}

BagWriter::BagWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
BagWriter::BagWriter(BagWriter&&) noexcept = default;
BagWriter& BagWriter::operator=(BagWriter&&) noexcept = default;
BagWriter::~BagWriter() = default;

Result<BagWriter> BagWriter::create(const std::filesystem::path& folder, const WriteOptions& options) {
  std::error_code failed;
  if (std::filesystem::exists(folder, failed) && !std::filesystem::is_empty(folder, failed)) {
    return Error{folder.string() + ": is there already and not empty"};
  }
  std::filesystem::create_directories(folder, failed);
  if (failed) return Error{folder.string() + ": cannot create folder: " + failed.message()};
  const std::filesystem::path whole = std::filesystem::absolute(folder, failed).lexically_normal();
  return begin(whole.filename().empty() ? whole.parent_path() : whole, "", options);
}

Result<BagWriter> BagWriter::create_file(const std::filesystem::path& path, const WriteOptions& options) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return Error{folder.string() + ": cannot create folder: " + failed.message()};
  return begin(folder, path.filename().string(), options);
}

Result<BagWriter> BagWriter::begin(const std::filesystem::path& folder, const std::string& bare_file, const WriteOptions& options) {
  auto state = std::make_unique<State>();
  state->folder = folder;
  state->bare_file = bare_file;
  state->options = options;
  state->metadata.storage = "mcap";
  state->metadata.version = options.ros_distro == "humble" ? 5 : BagMetadata::kNewest;
  state->metadata.ros_distro = options.ros_distro;
  state->metadata.custom_data = options.custom_data;
  const Status opened = state->open_split();
  if (!opened) return opened.error();
  return BagWriter(std::move(state));
}

Result<std::size_t> BagWriter::add_topic(const Topic& topic) {
  State& state = *state_;
  std::vector<Topic>& topics = state.metadata.topics;
  for (std::size_t k = 0; k < topics.size(); ++k) {
    if (topics[k].name == topic.name && topics[k].type == topic.type && topics[k].encoding == topic.encoding &&
        topics[k].schema == topic.schema) {
      return k;
    }
  }
  if (topics.size() >= UINT16_MAX) return Error{state.folder.string() + ": more than 65535 topics"};
  Topic kept = topic;
  kept.message_count = 0;
  kept.latched = topic.latched || is_transient_local(topic.qos);
  topics.push_back(std::move(kept));
  state.dropped.push_back(0);
  state.sequence.push_back(0);
  const Status defined = state.keep(state.define(topics.size() - 1));
  if (!defined) return defined.error();
  return topics.size() - 1;
}

Status BagWriter::write(std::size_t topic, Time log_time, Time publish_time, Bytes data) {
  State& state = *state_;
  PITWALL_CHECK(topic < state.metadata.topics.size() && !state.closed, topic);
  if (state.failed) return *state.failed;
  if (log_time.ns < 0 || publish_time.ns < 0) return Error{state.folder.string() + ": a message has a negative time"};
  Status status = state.split_is_due(log_time) ? state.start_next_split(log_time) : state.flush_if_due(log_time);
  if (status) status = state.put(topic, log_time, publish_time, data);
  const Topic& about = state.metadata.topics[topic];
  if (status && about.latched) {
    keep_latched(state.latched, {topic, publish_time, Buffer(data.begin(), data.end())}, about.type == "tf2_msgs/msg/TFMessage");
  }
  return state.keep(status);
}

void BagWriter::count_dropped(std::size_t topic, std::uint64_t messages) {
  state_->dropped[topic] += messages;
  state_->sequence[topic] += static_cast<std::uint32_t>(messages);
}

Status BagWriter::advance(Time now) { return state_->failed ? Status(*state_->failed) : state_->keep(state_->flush_if_due(now)); }

Status BagWriter::close() { return state_->close(); }

const std::vector<Topic>& BagWriter::topics() const { return state_->metadata.topics; }

}  // namespace pitwall::recording
