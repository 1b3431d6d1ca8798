// SPDX-License-Identifier: Apache-2.0
// Any bytes are a message or an error. The first byte picks the type; what reads is written and read again as the same
// bytes, and struct and definition agree on whether it reads.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/check.hpp"
#include "ros_messages/dynamic.hpp"
#include "ros_messages/known_types.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pitwall::ros_messages;
  if (size == 0) return 0;
  const std::size_t wanted = data[0];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::size_t index = 0;
  for_each_known_type([&]<class Message>(const Message& /*message*/) {
    if (index++ != wanted) return;
    const auto message = read<Message>(bytes);
    std::string json;
    const pitwall::Status dynamic = append_json(describe<Message>(), bytes, json);
    PITWALL_CHECK(message.ok() == dynamic.ok(), Message::kType, (dynamic.ok() ? message.error() : dynamic.error()).message);
    std::string row;
    PITWALL_CHECK(append_csv(describe<Message>(), bytes, row).ok() == message.ok(), Message::kType);
    (void)first_stamp(describe<Message>(), bytes);
    if (!message.ok()) return;
    const std::string written = write(*message);
    const auto again = read<Message>(written);
    PITWALL_CHECK(again.ok(), again.error().message);
    PITWALL_CHECK(write(*again) == written, Message::kType);
    std::string json_again;
    PITWALL_CHECK(append_json(describe<Message>(), written, json_again).ok() && json_again == json, json, json_again);
  });
  return 0;
}
