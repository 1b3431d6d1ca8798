// SPDX-License-Identifier: Apache-2.0
#include "recording/run_folder.hpp"

#include <nlohmann/json.hpp>

#include "core/files.hpp"
#include "core/sha256.hpp"
#include "core/text.hpp"

namespace pitwall::recording {
namespace {

using Json = nlohmann::ordered_json;

/// Takes values out of a JSON object; the first key that does not fit is kept.
class Taker {
 public:
  Taker(const Json& from, std::string& wrong) : from_(from), wrong_(wrong) {}

  template <class T>
  Taker& operator()(const char* key, T& value) {
    const auto found = from_.find(key);
    bool fits = found != from_.end();
    if constexpr (std::is_same_v<T, std::string>) fits = fits && found->is_string();
    if constexpr (std::is_same_v<T, bool>) fits = fits && found->is_boolean();
    if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::uint64_t>) fits = fits && found->is_number_integer();
    if constexpr (std::is_same_v<T, double>) fits = fits && found->is_number();
    if (fits) {
      value = found->template get<T>();
    } else if (wrong_.empty()) {
      wrong_ = key;
    }
    return *this;
  }

  template <class Each>
  void each(const char* key, Each&& take) {
    const auto found = from_.find(key);
    if (found == from_.end() || !found->is_array()) {
      if (wrong_.empty()) wrong_ = key;
      return;
    }
    for (const Json& item : *found) {
      if (item.is_object()) {
        take(Taker(item, wrong_));
      } else if (wrong_.empty()) {
        wrong_ = key;
      }
    }
  }

 private:
  const Json& from_;
  std::string& wrong_;
};

Json json_of(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNull:
      return nullptr;
    case Node::Kind::kList: {
      Json list = Json::array();
      for (const Node& item : node.items) list.push_back(json_of(item));
      return list;
    }
    case Node::Kind::kMap: {
      Json map = Json::object();
      for (const auto& [key, value] : node.entries) map[key] = json_of(value);
      return map;
    }
    case Node::Kind::kScalar:
      break;
  }
  if (node.scalar == "true" || node.scalar == "false") return node.scalar == "true";
  // A number whose JSON form is the very text stays a number.
  const Json number = Json::parse(node.scalar, nullptr, false);
  if (number.is_number() && number.dump() == node.scalar) return number;
  return node.scalar;
}

}  // namespace

std::string to_json(const Node& node) { return json_of(node).dump(2) + "\n"; }

std::string to_json(const RunManifest& manifest) {
  Json cars = Json::array();
  for (const RecordedCar& car : manifest.cars) cars.push_back({{"name", car.name}, {"controller", car.controller}, {"prefix", car.prefix}});
  Json files = Json::array();
  for (const RecordedFile& file : manifest.files) files.push_back({{"name", file.name}, {"origin", file.origin}, {"sha256", file.sha256}});
  Json topics = Json::array();
  for (const RecordedTopic& topic : manifest.topics) {
    topics.push_back({{"name", topic.name}, {"type", topic.type}, {"count", topic.count}, {"rate_hz", topic.rate_hz}});
  }
  const Json json = {{"schema", RunManifest::kSchema},
                     {"run_id", manifest.run_id},
                     {"car_id", manifest.car_id},
                     {"scenario", manifest.scenario},
                     {"track", manifest.track},
                     {"clock", manifest.clock},
                     {"start_ns", manifest.start.ns},
                     {"end_ns", manifest.end.ns},
                     {"finished", manifest.finished},
                     {"host", manifest.host},
                     {"build", manifest.build},
                     {"trace_hash", manifest.trace_hash},
                     {"cars", cars},
                     {"files", files},
                     {"topics", topics}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<RunManifest> parse_manifest(std::string_view json, const std::string& name) {
  const Json root = Json::parse(json, nullptr, false);
  if (!root.is_object()) return Error{name + ": is no JSON object"};
  std::string wrong;
  std::int64_t schema = 0;
  RunManifest manifest;
  Taker take(root, wrong);
  take("schema", schema)("run_id", manifest.run_id)("car_id", manifest.car_id)("scenario", manifest.scenario)("track", manifest.track)(
      "clock", manifest.clock)("start_ns", manifest.start.ns)("end_ns", manifest.end.ns)("finished", manifest.finished)(
      "host", manifest.host)("build", manifest.build)("trace_hash", manifest.trace_hash);
  take.each("cars", [&](Taker item) {
    RecordedCar& car = manifest.cars.emplace_back();
    item("name", car.name)("controller", car.controller)("prefix", car.prefix);
  });
  take.each("files", [&](Taker item) {
    RecordedFile& file = manifest.files.emplace_back();
    item("name", file.name)("origin", file.origin)("sha256", file.sha256);
  });
  take.each("topics", [&](Taker item) {
    RecordedTopic& topic = manifest.topics.emplace_back();
    item("name", topic.name)("type", topic.type)("count", topic.count)("rate_hz", topic.rate_hz);
  });
  if (!wrong.empty()) return Error{name + ": " + wrong + " is missing or of the wrong kind"};
  if (schema != RunManifest::kSchema) return Error{name + ": schema is " + std::to_string(schema) + ", known is 1"};
  return manifest;
}

Result<RunManifest> load_manifest(const std::filesystem::path& run) {
  const std::filesystem::path file = run / "run.json";
  const auto text = read_file(file);
  if (!text) return Error{run.string() + ": is no run folder: " + text.error().message};
  return parse_manifest(*text, file.string());
}

std::string build_id() { return std::string(PITWALL_VERSION) + " " + PITWALL_COMMIT; }

std::vector<std::string> changed_files(const std::filesystem::path& run, const RunManifest& manifest) {
  std::vector<std::string> changed;
  for (const RecordedFile& file : manifest.files) {
    const std::filesystem::path copy = run / "metadata" / "files" / file.name;
    const auto text = read_file(copy);
    if (!text) {
      changed.push_back(text.error().message);
    } else if (sha256_hex(*text) != file.sha256) {
      changed.push_back(copy.string() + ": is not what was recorded (SHA-256 differs)");
    }
  }
  return changed;
}

}  // namespace pitwall::recording
