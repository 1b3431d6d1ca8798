// SPDX-License-Identifier: Apache-2.0
// Writes a recording with messages of every type that Pitwall has a struct for: peers_sample FOLDER none|zstd.
#include <array>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "recording/bag_writer.hpp"
#include "ros_messages/known_types.hpp"

namespace {

using namespace pitwall;
using namespace pitwall::ros_messages;

/// Fills a message with values that a wrong width, sign, order or alignment would change.
class Filler {
 public:
  explicit Filler(int seed) : next_(seed) {}

  template <class T>
  Filler& operator()(std::string_view /*name*/, T& value) {
    fill(value);
    return *this;
  }

  template <class T>
  void fill(T& value) {
    ++next_;
    if constexpr (kIsMessage<T>) {
      T::fields(value, *this);
    } else if constexpr (kIsArray<T> || kIsSequence<T>) {
      if constexpr (kIsSequence<T>) value.resize(static_cast<std::size_t>(next_ % 4));
      for (std::size_t i = 0; i < value.size(); ++i) {
        typename T::value_type each{};
        fill(each);
        value[i] = each;
      }
    } else if constexpr (kIsBoundedString<T>) {
      fill(value.value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = std::array<std::string, 4>{"", "x", "caf\xc3\xa9 \"quoted\"\n", "/a/longer/name"}[static_cast<std::size_t>(next_ % 4)];
    } else if constexpr (std::is_same_v<T, bool>) {
      value = next_ % 2 == 0;
    } else if constexpr (std::is_same_v<T, std::byte>) {
      value = static_cast<std::byte>(next_);
    } else if constexpr (std::is_floating_point_v<T>) {
      using Limits = std::numeric_limits<T>;
      const std::array<T, 6> values = {static_cast<T>(next_) / 7, -static_cast<T>(next_) * 3, Limits::infinity(),
                                       Limits::quiet_NaN(),       Limits::denorm_min(),       Limits::max()};
      value = values[static_cast<std::size_t>(next_ % 6)];
    } else {
      using Limits = std::numeric_limits<T>;
      value = std::array<T, 4>{static_cast<T>(next_), Limits::min(), Limits::max(),
                               static_cast<T>(Limits::max() / 3)}[static_cast<std::size_t>(next_ % 4)];
    }
  }

 private:
  int next_;
};

Status write_all(const std::string& folder, recording::Compression compression) {
  recording::WriteOptions options;
  options.compression = compression;
  options.chunk_bytes = 4096;  // several chunks
  Result<recording::BagWriter> writer = recording::BagWriter::create(folder, options);
  if (!writer) return writer.error();
  Status status;
  std::int64_t time = 1'764'550'000'000'000'000;
  for_each_known_type([&]<class Message>(const Message& /*message*/) {
    recording::Topic topic;
    topic.type = Message::kType;
    topic.name = "/" + topic.type.substr(topic.type.rfind('/') + 1);
    topic.schema_encoding = "ros2msg";
    topic.schema = schema_text(describe<Message>());
    topic.type_hash = type_hash(describe<Message>());
    const Result<std::size_t> index = writer->add_topic(topic);
    for (int seed = 0; seed < 12 && status && index; ++seed) {
      Message message;
      Filler filler(seed);
      Message::fields(message, filler);
      const std::string bytes = write(message);
      time += 1'234'567;
      status = writer->write(*index, {time}, {time}, recording::as_bytes(bytes));
    }
    if (!index) status = index.error();
  });
  return status ? writer->close() : status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const Status status =
      write_all(argv[1], std::string_view(argv[2]) == "zstd" ? recording::Compression::kZstd : recording::Compression::kNone);
  if (!status) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status ? 0 : 1;
}
