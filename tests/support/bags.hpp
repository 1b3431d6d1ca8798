// SPDX-License-Identifier: Apache-2.0
// Recordings made for tests.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "recording/bag_reader.hpp"
#include "recording/bag_writer.hpp"
#include "recording/recorder.hpp"
#include "ros_messages/known_types.hpp"
#include "tests/support/temp_folder.hpp"

namespace pitwall::recording {

inline constexpr std::int64_t kMs = 1'000'000;

inline BagWriter writer_at(const std::filesystem::path& folder) {
  auto writer = BagWriter::create(folder);
  REQUIRE_MESSAGE(writer.ok(), writer.error().message);
  return *std::move(writer);
}

inline BagReader reader_at(const std::filesystem::path& path) {
  auto reader = BagReader::open(path);
  REQUIRE_MESSAGE(reader.ok(), reader.error().message);
  return *std::move(reader);
}

template <class Message>
void put(BagWriter& writer, std::size_t topic, std::int64_t time_ns, const Message& message) {
  const std::string bytes = ros_messages::write(message);
  REQUIRE(writer.write(topic, {time_ns}, {time_ns}, as_bytes(bytes)).ok());
}

inline ros_messages::Joy joy_at(std::int64_t stamp_ns, float axis) {
  ros_messages::Joy joy;
  joy.header.stamp = {static_cast<std::int32_t>(stamp_ns / 1'000'000'000), static_cast<std::uint32_t>(stamp_ns % 1'000'000'000)};
  joy.axes = {axis};
  return joy;
}

/// Ten joy messages 100 ms apart from 1 s on, each 2 ms after its stamp, and a text in the middle.
inline std::filesystem::path small_bag(const TempFolder& folder, const std::string& name, float fourth = 4.0F) {
  const std::filesystem::path path = folder.path() / name;
  BagWriter writer = writer_at(path);
  const std::size_t joy = *writer.add_topic(topic_for<ros_messages::Joy>("/joy"));
  const std::size_t text = *writer.add_topic(topic_for<ros_messages::String>("/note"));
  for (int i = 0; i < 10; ++i) {
    const std::int64_t time = 1000 * kMs + i * 100 * kMs;
    put(writer, joy, time, joy_at(time - 2 * kMs, i == 4 ? fourth : static_cast<float>(i)));
    if (i == 5) put(writer, text, time + 1, ros_messages::String{"a, \"b\"\n"});
  }
  REQUIRE(writer.close().ok());
  return path;
}

}  // namespace pitwall::recording
