// SPDX-License-Identifier: Apache-2.0
// The MCAP project's own conformance set: what each of its files holds, read and written.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "recording/byte_source.hpp"
#include "recording/mcap_stream.hpp"
#include "recording/mcap_summary.hpp"
#include "recording/mcap_writer.hpp"
#include "recording/storage.hpp"
#include "tests/support/test_data.hpp"

namespace pitwall::recording {
namespace {

using nlohmann::json;
using namespace mcap;

/// The conformance runner's JSON of a record's fields.
class Printer {
 public:
  template <std::unsigned_integral T>
  void operator()(const char* name, T value) {
    if (std::string_view(name) != "crc") fields_[name] = std::to_string(value);  // the set leaves it out
  }
  void operator()(const char* name, const Text& value) { fields_[name] = value; }
  void operator()(const char* name, const Bytes& value) {
    json list = json::array();
    for (const std::uint8_t byte : value) list.push_back(std::to_string(byte));
    fields_[name] = list;
  }
  void operator()(const char* name, const TextMap& value) { fields_[name] = value; }
  void operator()(const char* name, const CountMap& value) {
    json map = json::object();
    for (const auto& [key, count] : value) map[std::to_string(key)] = std::to_string(count);
    fields_[name] = map;
  }
  void operator()(const char* /*name*/, const std::vector<std::pair<std::uint64_t, std::uint64_t>>& /*value*/) { FAIL("not printed"); }

  [[nodiscard]] json list() const {
    json pairs = json::array();
    for (const auto& [name, value] : fields_.items()) pairs.push_back({name, value});
    return pairs;
  }

 private:
  json fields_ = json::object();
};

template <class R>
json print(const char* type, const R& record) {
  Printer printer;
  fields(printer, record);
  return {{"type", type}, {"fields", printer.list()}};
}

template <class R>
json print(const char* type, Bytes body) {
  const auto record = parse<R>(body);
  REQUIRE(record);
  return print(type, *record);
}

json print(Op op, Bytes body) {
  switch (op) {
    case Op::kHeader:
      return print<Header>("Header", body);
    case Op::kFooter:
      return print<Footer>("Footer", body);
    case Op::kSchema:
      return print<Schema>("Schema", body);
    case Op::kChannel:
      return print<Channel>("Channel", body);
    case Op::kMessage:
      return print<Message>("Message", body);
    case Op::kChunkIndex:
      return print<ChunkIndex>("ChunkIndex", body);
    case Op::kAttachment:
      return print<Attachment>("Attachment", body);
    case Op::kAttachmentIndex:
      return print<AttachmentIndex>("AttachmentIndex", body);
    case Op::kStatistics:
      return print<Statistics>("Statistics", body);
    case Op::kMetadata:
      return print<Metadata>("Metadata", body);
    case Op::kMetadataIndex:
      return print<MetadataIndex>("MetadataIndex", body);
    case Op::kSummaryOffset:
      return print<SummaryOffset>("SummaryOffset", body);
    case Op::kDataEnd:
      return print<DataEnd>("DataEnd", body);
    default:
      FAIL("unexpected record " << static_cast<int>(op));
      return {};
  }
}

struct Case {
  std::string name;
  json expected;
  std::string bytes;
  [[nodiscard]] bool has(const std::string& feature) const {
    const json& features = expected["meta"]["variant"]["features"];
    return std::find(features.begin(), features.end(), feature) != features.end();
  }
};

std::vector<Case> cases(const std::filesystem::path& root) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() == ".json") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  std::vector<Case> all;
  for (std::filesystem::path path : found) {
    Case one;
    one.name = path.stem().string();
    one.expected = json::parse(read_file(path).value());
    one.bytes = read_file(path.replace_extension(".mcap")).value();
    all.push_back(std::move(one));
  }
  return all;
}

/// The record of the JSON, by an archive over the same list of fields.
class Taker {
 public:
  explicit Taker(const json& fields) {
    for (const json& field : fields) fields_[field[0].get<std::string>()] = field[1];
  }
  template <std::unsigned_integral T>
  void operator()(const char* name, T& value) {
    if (fields_.contains(name)) value = static_cast<T>(std::stoull(fields_.at(name).get<std::string>()));
  }
  void operator()(const char* name, Text& value) { value = fields_.at(name).get<std::string>(); }
  template <class B>
  void bytes(const char* name, B& value) {
    auto& kept = kept_.emplace_back(std::make_unique<Buffer>());
    for (const json& byte : fields_.at(name)) kept->push_back(static_cast<std::uint8_t>(std::stoi(byte.get<std::string>())));
    value = B(kept->data(), kept->size());
  }
  void operator()(const char* name, Bytes32& value) { bytes(name, value); }
  void operator()(const char* name, Bytes64& value) { bytes(name, value); }
  void operator()(const char* name, BytesToEnd& value) { bytes(name, value); }
  void operator()(const char* name, TextMap& value) { value = fields_.at(name).get<TextMap>(); }
  void operator()(const char* /*name*/, CountMap& /*value*/) { FAIL("not given"); }

 private:
  json fields_ = json::object();
  std::vector<std::unique_ptr<Buffer>> kept_;
};

Buffer written_from(const Case& one) {
  MemorySink sink;
  WriterOptions options;
  options.chunked = one.has("ch");
  options.message_index = one.has("mx");
  options.statistics = one.has("st");
  options.repeat_schemas = one.has("rsh");
  options.repeat_channels = one.has("rch");
  options.attachment_index = one.has("ax");
  options.metadata_index = one.has("mdx");
  options.chunk_index = one.has("chx");
  options.summary_offsets = one.has("sum");
  options.compression = Compression::kNone;
  Writer writer(sink, options);
  for (const json& record : one.expected["records"]) {
    const std::string type = record["type"];
    Taker taker(record["fields"]);
    const auto take = [&](auto value) {
      fields(taker, value);
      return value;
    };
    Status status;
    if (type == "Header") status = writer.open(take(Header{}));
    if (type == "Schema") status = writer.add_schema(take(Schema{}));
    if (type == "Channel") status = writer.add_channel(take(Channel{}));
    if (type == "Message") status = writer.write(take(Message{}));
    if (type == "Attachment") status = writer.write(take(Attachment{}));
    if (type == "Metadata") status = writer.write(take(Metadata{}));
    REQUIRE(status.ok());
    if (type == "DataEnd") break;
  }
  REQUIRE(writer.close().ok());
  return sink.bytes();
}

}  // namespace

TEST_CASE("the streamed reader gives every record of the 416 conformance files") {
  const auto root = test_data("mcap_conformance");
  if (!root) return;
  int right = 0;
  for (const Case& one : cases(*root)) {
    CAPTURE(one.name);
    MemorySource source(as_bytes(one.bytes));
    Findings findings;
    StreamReader reader(source, one.name, findings, true);
    json records = json::array();
    StreamRecord record;
    while (reader.next(record)) {
      if (record.op != Op::kMessageIndex) records.push_back(print(record.op, record.body));
    }
    for (const Finding& finding : findings.all()) CHECK_MESSAGE(false, finding.text());
    const bool same = records == one.expected["records"];
    CHECK(same);
    right += same ? 1 : 0;
  }
  CHECK(right == 416);
}

TEST_CASE("the indexed reader gives the messages of every conformance file with a complete index, and says so of the others") {
  const auto root = test_data("mcap_conformance");
  if (!root) return;
  int indexed = 0;
  for (const Case& one : cases(*root)) {
    CAPTURE(one.name);
    std::vector<json> expected;
    for (const json& record : one.expected["records"]) {
      if (record["type"] == "Message") expected.push_back(record["fields"]);
    }
    std::stable_sort(expected.begin(), expected.end(), [](const json& a, const json& b) {
      return std::stoull(a[2][1].get<std::string>()) < std::stoull(b[2][1].get<std::string>());
    });
    Findings findings;
    const auto storage = open_mcap(std::make_unique<MemorySource>(as_bytes(one.bytes)), one.name, findings);
    CHECK_FALSE(findings.damaged());
    const bool by_index = findings.all().empty();
    indexed += by_index && !expected.empty() ? 1 : 0;
    if (one.has("chx") && one.has("mx") && one.has("rch") && one.has("rsh")) CHECK(by_index);
    Selection everything;
    everything.topics.assign(storage->topics().size(), true);
    storage->select(everything);
    std::size_t n = 0;
    for (const BagMessage* message = storage->next(); message != nullptr; message = storage->next(), ++n) {
      REQUIRE(n < expected.size());
      Message same;
      same.channel_id = 1;
      same.sequence = message->sequence;
      same.log_time = static_cast<std::uint64_t>(message->log_time.ns);
      same.publish_time = static_cast<std::uint64_t>(message->publish_time.ns);
      same.data = BytesToEnd(message->data.data(), message->data.size());
      if (one.name.starts_with("OneSchemaless")) same.channel_id = 1;
      CHECK(print("Message", same)["fields"] == expected[n]);
    }
    CHECK(n == expected.size());
    CHECK(storage->message_count() == expected.size());
  }
  MESSAGE("read by their index: " << indexed);
  CHECK(indexed >= 16);
}

TEST_CASE("the writer makes the 208 conformance files byte for byte") {
  const auto root = test_data("mcap_conformance");
  if (!root) return;
  int right = 0;
  for (const Case& one : cases(*root)) {
    if (one.has("pad")) continue;
    CAPTURE(one.name);
    const Buffer written = written_from(one);
    const bool same = std::equal(written.begin(), written.end(), as_bytes(one.bytes).begin(), as_bytes(one.bytes).end());
    CHECK(same);
    right += same ? 1 : 0;
  }
  CHECK(right == 208);
}

}  // namespace pitwall::recording
