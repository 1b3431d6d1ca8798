// SPDX-License-Identifier: Apache-2.0
// Messages of any type for Cyclone DDS as the bytes that they are: a type of ours for its `ddsi_sertype`, keyless, which copies a
// message once when it is published and once when it comes off the network, and never looks inside.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

struct ddsi_serdata;
struct ddsi_sertype;

namespace pitwall::ros_bridge {

/// A type for dds_create_topic_sertype, which takes it over.
ddsi_sertype* make_plain_cdr_type(const std::string& dds_type_name);

/// A message for dds_writecdr, which takes it over. `cdr` holds at least the four bytes of encapsulation.
ddsi_serdata* make_plain_cdr(const ddsi_sertype* type, std::string_view cdr);

/// What a message of a plain CDR type holds.
struct PlainCdrView {
  std::string_view cdr;       ///< as it came: with its encapsulation, and with the up to 3 bytes that fill its last word on the wire
  std::int64_t arrived_ns{};  ///< CLOCK_MONOTONIC, when it was whole
  std::uint64_t order{};      ///< counts the messages of this process in the order in which they came
};
PlainCdrView view_plain_cdr(const ddsi_serdata* message);

}  // namespace pitwall::ros_bridge
