// SPDX-License-Identifier: Apache-2.0
#include "recording/bag_reader.hpp"

#include <algorithm>
#include <utility>

#include "core/text.hpp"
#include "recording/bag_files.hpp"
#include "recording/compression.hpp"
#include "recording/mcap_stream.hpp"

namespace pitwall::recording {
namespace {

/// Files beyond this many are opened when their time comes and closed after it.
constexpr std::size_t kMostOpen = 64;

struct File {
  std::filesystem::path path;
  std::optional<OpenFile> open;
  std::vector<std::size_t> topic_of;  ///< the bag's topic of each of the file's
  std::int64_t start_ns = INT64_MAX;
  std::int64_t end_ns = INT64_MIN;
  bool keep_open = true;
};

/// Two channels are one topic if nothing that a reader needs differs.
bool same_topic(const Topic& a, const Topic& b) {
  return a.name == b.name && a.type == b.type && a.encoding == b.encoding && (a.schema.empty() || b.schema.empty() || a.schema == b.schema);
}

bool is_transform_list(const Topic& topic) { return topic.type == "tf2_msgs/msg/TFMessage"; }

struct Kept {
  BagMessage message;
  Buffer data;
};

}  // namespace

struct BagReader::State {
  Findings findings;
  std::vector<File> files;
  std::vector<std::string> names;
  std::vector<Topic> topics;
  std::vector<bool> wanted;
  std::optional<BagMetadata> metadata;
  std::string storage;
  ReadOptions options;
  std::int64_t start_ns = INT64_MAX;
  std::int64_t end_ns = INT64_MIN;

  Selection selection;               ///< by the bag's topics
  std::vector<std::size_t> waiting;  ///< files by start time, the last first
  std::vector<std::pair<std::size_t, const BagMessage*>> active;
  bool advance = false;  ///< the first of `active` gave its message
  std::vector<Kept> latched;
  std::size_t latched_given = 0;
  BagMessage message;
  Buffer decoded;

  Status add_file(const std::filesystem::path& path);
  std::size_t add_topic(const Topic& topic);
  void compare_with_metadata();
  void compare_topic(const Topic& claimed);
  Status choose_topics();
  void begin(const Selection& which);
  bool start_file(std::size_t index);
  const BagMessage* merged();
  void undo_compression();
  void collect_latched();
};

std::size_t BagReader::State::add_topic(const Topic& topic) {
  const auto same = std::find_if(topics.begin(), topics.end(), [&](const Topic& other) { return same_topic(topic, other); });
  if (same == topics.end()) {
    topics.push_back(topic);
    return topics.size() - 1;
  }
  same->message_count += topic.message_count;
  same->latched = same->latched || topic.latched;
  if (same->schema.empty()) same->schema = topic.schema, same->schema_encoding = topic.schema_encoding;
  if (same->qos.empty()) same->qos = topic.qos;
  if (same->type_hash.empty()) same->type_hash = topic.type_hash;
  return static_cast<std::size_t>(same - topics.begin());
}

Status BagReader::State::add_file(const std::filesystem::path& path) {
  auto opened = OpenFile::open(path, findings);
  if (!opened) return opened.error();
  File file;
  file.path = path;
  const Storage& data = opened->storage();
  for (const Topic& topic : data.topics()) file.topic_of.push_back(add_topic(topic));
  file.start_ns = data.start_ns();
  file.end_ns = data.end_ns();
  start_ns = std::min(start_ns, file.start_ns);
  end_ns = std::max(end_ns, file.end_ns);
  if (!metadata && !data.metadata_text().empty()) {
    auto inside = parse_metadata(data.metadata_text(), path.string() + " (metadata inside)");
    if (inside) metadata = std::move(*inside);
  }
  const char* kind = opened->kind() == FileKind::kSqlite ? "sqlite3" : "mcap";
  storage = storage.empty() || storage == kind ? kind : "mixed";
  // One decompressed file at a time lies on the disk.
  file.keep_open = files.size() < kMostOpen && !opened->is_temporary();
  if (file.keep_open) file.open = std::move(*opened);
  names.push_back(path.string());
  files.push_back(std::move(file));
  return {};
}

void BagReader::State::compare_topic(const Topic& claimed) {
  const std::string name = names.front();
  const auto note = [&](const std::string& what, const std::string& kept) {
    findings.add({Severity::kNote, name, 0, "topic " + claimed.name + ": " + what, kept});
  };
  std::uint64_t count = 0;
  const Topic* held = nullptr;
  for (const Topic& topic : topics) {
    if (topic.name != claimed.name) continue;
    held = &topic;
    count += topic.message_count;
  }
  if (held != nullptr && held->encoding != claimed.encoding) {
    note("metadata says the messages are '" + claimed.encoding + "', the file says '" + held->encoding + "'", "believed the file");
  }
  if (held != nullptr && held->type != claimed.type)
    note("metadata says type " + claimed.type + ", the file says " + held->type, "believed the file");
  if (count != claimed.message_count) {
    note("metadata says " + std::to_string(claimed.message_count) + " messages, the files hold " + std::to_string(count),
         "believed the files");
  }
}

void BagReader::State::compare_with_metadata() {
  for (const Topic& topic : topics) {
    if (topic.encoding == "cdr") continue;
    findings.add({Severity::kNote, names.front(), 0, "topic " + topic.name + ": its messages are '" + topic.encoding + "', not CDR",
                  "passed them on as bytes; nothing here decodes them"});
  }
  if (!metadata) return;
  if (metadata->version > BagMetadata::kNewest) {
    findings.add({Severity::kNote, names.front(), 0, "metadata version " + std::to_string(metadata->version) + " is newer than 9",
                  "read the keys of 9"});
  }
  for (const Topic& claimed : metadata->topics) compare_topic(claimed);
  std::uint64_t held = 0;
  for (const Topic& topic : topics) held += topic.message_count;
  if (held != metadata->message_count) {
    findings.add({Severity::kNote, names.front(), 0,
                  "metadata says " + std::to_string(metadata->message_count) + " messages, the files hold " + std::to_string(held),
                  "believed the files"});
  }
}

Status BagReader::State::choose_topics() {
  wanted.assign(topics.size(), options.topics.empty());
  for (const std::string& name : options.topics) {
    bool found = false;
    for (std::size_t k = 0; k < topics.size(); ++k) {
      if (topics[k].name == name) found = wanted[k] = true;
    }
    if (found) continue;
    std::vector<std::string> known;
    for (const Topic& topic : topics) known.push_back(topic.name);
    return Error{names.front() + ": " + unknown_name("topic", name, known)};
  }
  return {};
}

/// Opens the file if need be and moves to its first message; false where it has none.
bool BagReader::State::start_file(std::size_t index) {
  File& file = files[index];
  if (!file.open) {
    auto opened = OpenFile::open(file.path, findings);
    if (!opened) {
      findings.add({Severity::kDamage, file.path.string(), 0, opened.error().message, "read the others"});
      return false;
    }
    file.open = std::move(*opened);
  }
  Selection inside = selection;
  inside.topics.clear();
  for (const std::size_t topic : file.topic_of) inside.topics.push_back(selection.topics[topic]);
  file.open->storage().select(inside);
  const BagMessage* first = file.open->storage().next();
  if (first != nullptr) {
    active.emplace_back(index, first);
  } else if (!file.keep_open) {
    file.open.reset();
  }
  return first != nullptr;
}

void BagReader::State::begin(const Selection& which) {
  selection = which;
  active.clear();
  advance = false;
  waiting.clear();
  for (std::size_t k = 0; k < files.size(); ++k) {
    if (files[k].start_ns <= which.end_ns && files[k].end_ns >= which.start_ns) waiting.push_back(k);
    if (!files[k].keep_open) files[k].open.reset();
  }
  std::stable_sort(waiting.begin(), waiting.end(),
                   [&](std::size_t a, std::size_t b) { return std::pair(files[a].start_ns, a) > std::pair(files[b].start_ns, b); });
}

const BagMessage* BagReader::State::merged() {
  if (advance) {
    advance = false;
    auto& [index, head] = active.front();
    head = files[index].open->storage().next();
    if (head == nullptr) {
      if (!files[index].keep_open) files[index].open.reset();
      active.erase(active.begin());
    }
  }
  const auto earliest = [&] {
    return std::min_element(active.begin(), active.end(), [](const auto& a, const auto& b) {
      return std::pair(a.second->log_time, a.first) < std::pair(b.second->log_time, b.first);
    });
  };
  auto best = earliest();
  while (!waiting.empty() && (active.empty() || files[waiting.back()].start_ns <= best->second->log_time.ns)) {
    const std::size_t index = waiting.back();
    waiting.pop_back();
    start_file(index);
    best = earliest();
  }
  if (active.empty()) return nullptr;
  std::iter_swap(active.begin(), best);
  advance = true;
  const auto& [index, head] = active.front();
  message = *head;
  message.file = index;
  message.topic = files[index].topic_of[head->topic];
  undo_compression();
  return &message;
}

/// Compressed messages are known by the metadata, or by how they begin: no CDR message does so.
void BagReader::State::undo_compression() {
  if (!is_zstd(message.data)) return;
  const bool claimed = metadata && metadata->compression_mode == "message";
  if (!claimed && topics[message.topic].encoding != "cdr") return;
  if (decompress("zstd", message.data, mcap::kMostBytes, decoded) == Decoded::kWhole) {
    message.data = decoded;
  } else {
    findings.add({Severity::kDamage, names[message.file], 0,
                  "a compressed message of " + topics[message.topic].name + " at " + std::to_string(message.log_time.ns) + " ns is damaged",
                  "passed it on as it is"});
  }
}

void BagReader::State::collect_latched() {
  latched.clear();
  latched_given = 0;
  if (!options.start || !options.latched_before_start || options.start->ns <= start_ns) return;
  Selection before;
  before.end_ns = options.start->ns - 1;
  bool any = false;
  for (std::size_t k = 0; k < topics.size(); ++k) {
    before.topics.push_back(wanted[k] && topics[k].latched);
    any = any || before.topics.back();
  }
  if (!any) return;
  begin(before);
  while (const BagMessage* found = merged()) {
    if (!is_transform_list(topics[found->topic]))
      std::erase_if(latched, [&](const Kept& kept) { return kept.message.topic == found->topic; });
    latched.push_back({*found, Buffer(found->data.begin(), found->data.end())});
  }
  for (Kept& kept : latched) {
    kept.message.latched_before_start = true;
    kept.message.data = kept.data;
  }
}

BagReader::BagReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
BagReader::BagReader(BagReader&&) noexcept = default;
BagReader& BagReader::operator=(BagReader&&) noexcept = default;
BagReader::~BagReader() = default;

Result<BagReader> BagReader::open(const std::filesystem::path& folder_or_file, const ReadOptions& options) {
  auto state = std::make_unique<State>();
  state->options = options;
  auto files = find_files(folder_or_file, state->findings);
  if (!files) return files.error();
  state->metadata = std::move(files->metadata);
  for (const std::filesystem::path& path : files->paths) {
    const Status added = state->add_file(path);
    if (!added) return added.error();
  }
  state->compare_with_metadata();
  const Status chosen = state->choose_topics();
  if (!chosen) return chosen.error();
  BagReader reader(std::move(state));
  reader.rewind();
  return reader;
}

void BagReader::rewind() {
  state_->collect_latched();
  Selection selection;
  selection.topics = state_->wanted;
  if (state_->options.start) selection.start_ns = state_->options.start->ns;
  if (state_->options.end) selection.end_ns = state_->options.end->ns;
  state_->begin(selection);
}

const BagMessage* BagReader::next() {
  if (state_->latched_given < state_->latched.size()) return &state_->latched[state_->latched_given++].message;
  return state_->merged();
}

const std::vector<Topic>& BagReader::topics() const { return state_->topics; }
bool BagReader::wanted(std::size_t topic) const { return state_->wanted[topic]; }
const std::vector<std::string>& BagReader::files() const { return state_->names; }
std::optional<Time> BagReader::start() const {
  return state_->start_ns > state_->end_ns ? std::nullopt : std::optional<Time>{{state_->start_ns}};
}
std::optional<Time> BagReader::end() const {
  return state_->start_ns > state_->end_ns ? std::nullopt : std::optional<Time>{{state_->end_ns}};
}
std::uint64_t BagReader::message_count() const {
  std::uint64_t sum = 0;
  for (const Topic& topic : state_->topics) sum += topic.message_count;
  return sum;
}
const std::vector<Finding>& BagReader::findings() const { return state_->findings.all(); }
bool BagReader::damaged() const { return state_->findings.damaged(); }
const std::string& BagReader::storage() const { return state_->storage; }
const std::optional<BagMetadata>& BagReader::metadata() const { return state_->metadata; }

}  // namespace pitwall::recording
