// SPDX-License-Identifier: Apache-2.0
// What the messages of a recording say: each topic's type by its recorded definition, or by ours where it has none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "recording/bag.hpp"
#include "ros_messages/definition.hpp"

namespace pitwall::recording {

class BagDecoder {
 public:
  /// For the topics of a reader; indices are those of BagMessage::topic.
  explicit BagDecoder(const std::vector<Topic>& topics);

  /// Null where the topic's messages cannot be read; why_not() then says why.
  [[nodiscard]] const ros_messages::Definition* definition(std::size_t topic) const {
    return definitions_[topic] ? &*definitions_[topic] : nullptr;
  }
  /// "encoding 'x' is not read", "nothing defines ..."; empty where there is a definition.
  [[nodiscard]] const std::string& why_not(std::size_t topic) const { return why_not_[topic]; }

 private:
  std::vector<std::optional<ros_messages::Definition>> definitions_;
  std::vector<std::string> why_not_;
};

/// The definition by which a topic's messages are read.
Result<ros_messages::Definition> definition_of(const Topic& topic);

}  // namespace pitwall::recording
