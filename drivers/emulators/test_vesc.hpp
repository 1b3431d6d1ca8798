// SPDX-License-Identifier: Apache-2.0
// Asking the emulated VESC, for tests.
#pragma once

#include "drivers/emulators/test_hex.hpp"
#include "drivers/emulators/vesc.hpp"
#include "drivers/emulators/vesc_fields.hpp"

namespace pitwall::emulators {

/// The payload of the one reply to a request without arguments, or with the bytes after the id.
inline Bytes asked(Vesc& vesc, Time now, const Bytes& request) {
  (void)vesc.take();
  vesc.receive(now, vesc_frame(request));
  const std::vector<Bytes> replies = vesc.take();
  REQUIRE(replies.size() == 1);
  std::vector<Bytes> payloads;
  PacketDecoder decoder;
  decoder.feed(replies[0], [&](ByteView payload) { payloads.emplace_back(payload.begin(), payload.end()); });
  REQUIRE(payloads.size() == 1);
  return payloads[0];
}

inline Bytes values(Vesc& vesc, Time now) { return asked(vesc, now, {vesc_id::kGetValues}); }
inline double i32_at(const Bytes& payload, std::size_t offset, double scale) { return read_i32(ByteView(payload).subspan(offset)) / scale; }
inline double i16_at(const Bytes& payload, std::size_t offset, double scale) { return read_i16(ByteView(payload).subspan(offset)) / scale; }

}  // namespace pitwall::emulators
