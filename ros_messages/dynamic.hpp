// SPDX-License-Identifier: Apache-2.0
// Messages of any type, read by their definition alone: as JSON, as a row of CSV, and the stamp they carry.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"
#include "ros_messages/definition.hpp"

namespace pitwall::ros_messages {

/// Appends the message as one JSON object on one line: numbers as the shortest text that reads back to the same bits, "nan",
/// "inf" and "-inf" as strings (JSON has no such numbers), bytes that are not UTF-8 as U+FFFD. On an error nothing is appended.
Status append_json(const Definition& definition, std::string_view message, std::string& out);

/// Names of the columns that append_csv fills: "pose.position.x", "covariance[0]". Fixed arrays of up to 64 elements have a
/// column an element; longer ones and sequences are one cell of JSON. More than 4096 columns are an error.
Result<std::vector<std::string>> csv_columns(const Definition& definition);

/// Appends the message's cells, separated by commas, without the end of the line (RFC 4180 quoting). On an error nothing is
/// appended.
Status append_csv(const Definition& definition, std::string_view message, std::string& out);

/// A text as a CSV cell, quoted where it must be.
std::string csv_cell(std::string_view text);
/// A text as a JSON string with its quotes.
std::string json_string(std::string_view text);

/// The first builtin_interfaces/Time of the message, where its first field (or that one's first, and so on) leads to one: that of a
/// header, of a log line, of the first transform of a /tf message. Nothing for types without one and for an empty sequence.
Result<std::optional<Time>> first_stamp(const Definition& definition, std::string_view message);

}  // namespace pitwall::ros_messages
