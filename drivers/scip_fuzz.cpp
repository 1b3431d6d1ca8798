// SPDX-License-Identifier: Apache-2.0
// Any bytes are replies or none, however cut; a scan that is accepted has the values asked for; a session outlives all of it and
// hands out nothing from the future.
#include <cmath>

#include "drivers/scip_session.hpp"
#include "drivers/test_fuzz.hpp"
#include "drivers/test_scip.hpp"

using namespace pitwall;
using namespace pitwall::drivers;

namespace {

void look_at(const scip::Reply& reply) {
  const scip::Info info = scip::decode_info(reply);
  if (const auto p = scip::decode_parameters(info)) {
    PITWALL_CHECK(p->period_s() > 0.0 && p->last_step > p->first_step);
  }
  (void)scip::decode_time(reply);
  (void)scip::status_text(reply.command(), reply.status);
  for (const bool intensity : {false, true}) {
    scip::ScanRequest asked;
    asked.last_step = 10;
    asked.intensity = intensity;
    scip::ScanData data;
    if (scip::decode_scan(reply, asked, data) == scip::ScanFault::kNone) {
      PITWALL_CHECK(data.distances_mm.size() == 11 && data.intensities.size() == (intensity ? 11 : 0));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  test::check_cuts<scip::ReplyReader>(bytes, [](scip::ReplyReader& reader, std::string& all) {
    while (const auto reply = reader.next()) {
      all += reply->echo + "|" + reply->status + (reply->status_sum_good ? "|" : "!");
      for (const std::string& line : reply->lines) {
        all += line + "|";
      }
      look_at(*reply);
    }
  });
  // A session that waits for the first answer, and one that has its scans.
  for (const bool streaming : {false, true}) {
    ScipSession session({.min_angle_rad = -0.01, .max_angle_rad = 0.03, .clock_pairs = 0});
    Time now = test::ms(1000);
    session.start(now);
    if (streaming) {
      for (const std::string& reply : {std::string("QT\n00P\n\n"), std::string("VV\n00P\n\n"), test::pp_reply(), std::string("II\n00P\n\n"),
                                       std::string("MD0538054701000\n00P\n\n")}) {
        session.receive(bytes_of(reply), now);
        now = now + from_milliseconds(120);
        session.advance(now);
      }
      PITWALL_CHECK(session.parameters().has_value());
    }
    test::drive(session, bytes, now, [&](Time at) {
      while (const auto scan = session.next_scan()) {
        PITWALL_CHECK(scan->stamp <= scan->arrival && scan->arrival <= at);
        PITWALL_CHECK(!scan->value.ranges.empty() && scan->value.angle_increment > 0.0F);
      }
    });
  }
  return 0;
}
