// SPDX-License-Identifier: Apache-2.0
#include "analysis/npz.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/support/temp_folder.hpp"

using namespace pitwall;
using namespace pitwall::analysis;

namespace {

std::string sample() {
  NpzWriter writer;
  const std::vector<double> speeds{0.0, -1.5, 1e300, INFINITY};
  const std::vector<float> scans{1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F};
  const std::vector<std::int64_t> ticks{1, -2, 1LL << 60};
  const std::array<std::size_t, 2> shape{2, 3};
  writer.add("command/speed_mps", speeds);
  writer.add("scans", scans, shape);
  writer.add("ticks", ticks);
  writer.add("none", std::vector<double>{});
  writer.add_text("key", "a: b\n");
  auto bytes = writer.finish();
  REQUIRE(bytes.ok());
  return *bytes;
}

}  // namespace

TEST_CASE("arrays come back as they were written") {
  const auto read = NpzReader::parse(sample());
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(read->doubles("command/speed_mps") == std::vector<double>{0.0, -1.5, 1e300, INFINITY});
  CHECK(read->floats("scans") == std::vector<float>{1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F});
  CHECK(read->shape("scans") == std::vector<std::size_t>{2, 3});
  CHECK(read->integers("ticks") == std::vector<std::int64_t>{1, -2, 1LL << 60});
  CHECK(read->doubles("none") == std::vector<double>{});
  CHECK(read->text("key") == "a: b\n");
  CHECK_FALSE(read->doubles("scans").has_value());
  CHECK_FALSE(read->doubles("nothing").has_value());
  CHECK(read->names().size() == 5);
}

TEST_CASE("every cut and every flipped bit is refused or reads the same") {
  const std::string bytes = sample();
  for (std::size_t size = 0; size < bytes.size(); ++size) CHECK_FALSE(NpzReader::parse(bytes.substr(0, size)).ok());
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    std::string flipped = bytes;
    flipped[k] = static_cast<char>(flipped[k] ^ 0x10);
    const auto read = NpzReader::parse(flipped);
    if (read && read->has("scans")) CHECK(read->floats("scans") == std::vector<float>{1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F});
  }
}

TEST_CASE("numpy reads what is written, and what numpy writes is read") {
  // A python3 of the user's own may come without the system's packages.
  std::string python = "python3";
  if (std::system("python3 -c 'import numpy' 2>/dev/null") != 0) python = "/usr/bin/python3";
  if (std::system((python + " -c 'import numpy' 2>/dev/null").c_str()) != 0) {
    MESSAGE("skipped: no numpy for python3");
    return;
  }
  const TempFolder folder("npz");
  folder.write("a.npz", sample());
  const std::string script =
      "import numpy as np, sys\n"
      "a = np.load(sys.argv[1] + '/a.npz')\n"
      "assert a['scans'].shape == (2, 3) and a['scans'].dtype == np.float32 and a['scans'][1, 2] == 6\n"
      "assert list(a['command/speed_mps']) == [0.0, -1.5, 1e300, np.inf] and a['ticks'][2] == 1 << 60\n"
      "assert bytes(a['key']).decode() == 'a: b\\n' and a['none'].shape == (0,)\n"
      "np.savez(sys.argv[1] + '/b.npz', x=np.arange(6.0).reshape(2, 3), t=np.frombuffer(b'hello', np.uint8))\n";
  folder.write("check.py", script);
  REQUIRE(std::system((python + " " + (folder.path() / "check.py").string() + " " + folder.path().string()).c_str()) == 0);
  const auto bytes = read_file(folder.path() / "b.npz");
  REQUIRE(bytes.ok());
  const auto read = NpzReader::parse(*bytes);
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(read->doubles("x") == std::vector<double>{0, 1, 2, 3, 4, 5});
  CHECK(read->shape("x") == std::vector<std::size_t>{2, 3});
  CHECK(read->text("t") == "hello");
}
