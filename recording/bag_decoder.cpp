// SPDX-License-Identifier: Apache-2.0
#include "recording/bag_decoder.hpp"

#include "ros_messages/known_types.hpp"

namespace pitwall::recording {

Result<ros_messages::Definition> definition_of(const Topic& topic) {
  if (topic.encoding != "cdr") return Error{topic.type + " in encoding '" + topic.encoding + "'; only 'cdr' is read"};
  const ros_messages::Definition* known = ros_messages::known_definition(topic.type);
  if (topic.schema.empty() && topic.schema_encoding != "ros2msg") {
    if (known != nullptr) return *known;
    return Error{topic.type + " is not defined in the recording, and is none of our own types"};
  }
  Result<ros_messages::Definition> recorded = ros_messages::parse_definition(topic.type, topic.schema, topic.schema_encoding);
  if (!recorded && known != nullptr) return *known;
  return recorded;
}

BagDecoder::BagDecoder(const std::vector<Topic>& topics) {
  for (const Topic& topic : topics) {
    Result<ros_messages::Definition> definition = definition_of(topic);
    why_not_.push_back(definition ? "" : definition.error().message);
    definitions_.push_back(definition ? std::optional(*std::move(definition)) : std::nullopt);
  }
}

}  // namespace pitwall::recording
