// SPDX-License-Identifier: Apache-2.0
#include "recording/carmen_log.hpp"

#include <doctest/doctest.h>

#include <string>

#include "core/files.hpp"
#include "core/math.hpp"
#include "recording/compression.hpp"
#include "recording/import_run.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/test_data.hpp"

using namespace pitwall;
using namespace pitwall::recording;

namespace {

std::string message_of(const std::string& text) {
  const Result<CarmenLog> log = parse_carmen(text, "log");
  REQUIRE(!log.ok());
  return log.error().message;
}

}  // namespace

TEST_CASE("raw odometry goes on from the corrected pose, by the last ODOM before the next scan") {
  const std::string text =
      "# comment\nPARAM robot_frontlaser_offset 0.0\n"
      "FLASER 3 1 2 81.83 10 20 1.5707963267948966 10 20 1.57 5 host 5\n"
      "ODOM 10 20 1.5707963267948966 0 0 0 0 host 0\n"
      "ODOM 10 21 1.5707963267948966 0 0 0 5.1 host 5.1\n"
      "FLASER 3 1 2 3 10.5 21 0 10.5 21 0 5.5 host 5.5\n"
      "ODOM 11.5 21 0 0 0 0 5.9 host 5.9\n"
      "FLASER 3 1 2 3 11 21 0 11 21 0 6 host 6\n";
  const Result<CarmenLog> log = parse_carmen(text, "log");
  REQUIRE(log.ok());
  REQUIRE(log->scans.size() == 3);
  CHECK(!log->stamps_replaced);
  CHECK(log->scans[0].T_odom == Pose2{});
  CHECK(log->scans[1].T_odom.x == doctest::Approx(1.0));
  CHECK(log->scans[1].T_odom.y == doctest::Approx(0.0));
  CHECK(log->scans[2].T_odom.x == doctest::Approx(2.0));
  CHECK(log->scans[2].T_corrected.x == 11.0);
  CHECK(log->scans[2].scan.stamp.seconds() == doctest::Approx(6.0));
  CHECK(log->scans[0].scan.range_max == 80.0F);
  CHECK(static_cast<double>(log->scans[0].scan.angle_increment) == doctest::Approx(math::kPi / 180.0));
}

TEST_CASE("stamps that do not rise are replaced") {
  const Result<CarmenLog> log = parse_carmen("FLASER 2 1 2 0 0 0 0 0 0 5 h 5\nFLASER 2 1 2 0 0 0 0 0 0 5 h 5\n", "log");
  REQUIRE(log.ok());
  CHECK(log->stamps_replaced);
  CHECK(log->scans[1].scan.stamp.seconds() == doctest::Approx(0.1));
  CHECK(log->scans[1].T_odom == Pose2{});
}

TEST_CASE("a damaged log is refused with its line") {
  CHECK(message_of("ODOM 1 2 3\n").find("no FLASER line") != std::string::npos);
  CHECK(message_of("FLASER 3 1 2\n") == "log:1: the line ends after 4 words");
  CHECK(message_of("\nFLASER 2 1 x 0 0 0 0 0 0 5 h 5\n") == "log:2: 'x' is no finite number");
  CHECK(message_of("FLASER 1e9 1\n").find("must be 2 .. 10000") != std::string::npos);
  CHECK(message_of("FLASER 2 1 2 0 0 nan 0 0 0 5 h 5\n") == "log:1: 'nan' is no finite number");
}

TEST_CASE("corrected logs, BreezySLAM's and pose graphs become runs") {
  const auto folder = test_data("slam");
  if (!folder) return;
  const TempFolder temp("carmen");
  const auto imported = [&](const std::string& file, const std::string& name) {
    ImportOptions options;
    options.log = *folder / file;
    options.output = temp.path() / name;
    Result<ImportReport> report = import_run(options);
    REQUIRE_MESSAGE(report.ok(), report.error().message);
    return std::move(*report);
  };
  const ImportReport carmen = imported("carmen/freiburg-101-corrected.log.gz", "carmen");
  CHECK(carmen.format == "CARMEN log");
  REQUIRE(carmen.series.size() == 3);
  for (const ImportedSeries& each : carmen.series) CHECK(each.count == 292);
  const ImportReport breezy = imported("breezyslam/breezyslam_exp1.dat", "breezy");
  CHECK(breezy.format == "BreezySLAM log");
  REQUIRE(breezy.series.size() == 2);
  CHECK(breezy.series[0].count == 756);
  CHECK(imported("g2o/intel.g2o", "graph").series.front().count == 1728);
}

TEST_CASE("gzip that is damaged or cut short is refused") {
  const TempFolder temp("carmen");
  REQUIRE(write_file(temp.path() / "log.gz", std::string("\x1f\x8b\x08\x00 damaged", 12)).ok());
  CHECK(!read_text(temp.path() / "log.gz").ok());
  REQUIRE(write_file(temp.path() / "plain", "text").ok());
  CHECK(read_text(temp.path() / "plain").value() == "text");
}
