// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share: cutting a stream in two ways, and a script that feeds a session bytes and time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/check.hpp"
#include "drivers/session.hpp"
#include "drivers/test_bytes.hpp"

namespace pitwall::drivers::test {

/// All that a reader finds, as text: `found(reader)` appends until nothing is left.
template <class Reader, class Found>
std::string read_in_pieces(Bytes stream, std::size_t piece, Found found) {
  Reader reader;
  std::string all;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    reader.push(stream.subspan(at, std::min(piece, stream.size() - at)));
    found(reader, all);
  }
  return all;
}

/// Whatever is in the bytes is found however they are cut.
template <class Reader, class Found>
void check_cuts(Bytes stream, Found found) {
  const std::string whole = read_in_pieces<Reader>(stream, stream.size() + 1, found);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{64}}) {
    PITWALL_CHECK((read_in_pieces<Reader>(stream, piece, found)) == whole, piece);
  }
}

/// Runs a session by the script: a control byte below 0x80 feeds that many bytes and one more, from 0x80 on lets up to half a second
/// pass. `each` looks at what came out.
template <class Each>
void drive(Session& session, Bytes script, Time now, Each each) {
  while (!script.empty()) {
    const std::size_t control = u8_at(script, 0);
    script = script.subspan(1);
    if (control < 0x80) {
      const std::size_t count = std::min(control + 1, script.size());
      session.receive(script.first(count), now);
      script = script.subspan(count);
    } else {
      now = now + from_milliseconds(static_cast<std::int64_t>(4 * (control - 0x80)));
    }
    // Deadlines that have passed are dealt with once each: none may stay due.
    for (int i = 0; session.next_deadline() <= now; ++i) {
      PITWALL_CHECK(i < 100, session.status());
      session.advance(now);
      (void)session.to_send();
    }
    if (session.phase() == Phase::kReconnect) {
      session.lost("fuzz");
      session.start(now);
    }
    each(now);
  }
}

}  // namespace pitwall::drivers::test
