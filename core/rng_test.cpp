// SPDX-License-Identifier: Apache-2.0
#include "core/rng.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <vector>

using namespace pitwall;

namespace {

using Block = std::array<std::uint32_t, 4>;

struct Moments {
  double mean = 0.0;
  double variance = 0.0;
};

Moments moments(const std::vector<double>& values) {
  Moments m;
  for (const double v : values) m.mean += v;
  m.mean /= static_cast<double>(values.size());
  for (const double v : values) m.variance += (v - m.mean) * (v - m.mean);
  m.variance /= static_cast<double>(values.size());
  return m;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const Moments ma = moments(a);
  const Moments mb = moments(b);
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - ma.mean) * (b[i] - mb.mean);
  return sum / static_cast<double>(a.size()) / std::sqrt(ma.variance * mb.variance);
}

}  // namespace

TEST_CASE("philox4x32-10 gives the known answers of the Random123 distribution") {
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("equal arguments give equal numbers, and every argument matters") {
  const Rng rng(7, "car0/lidar");
  CHECK(rng.normal(3, 5) == Rng(7, "car0/lidar").normal(3, 5));
  const std::set<double> values = {rng.uniform(3, 5),
                                   rng.uniform(4, 5),
                                   rng.uniform(3, 6),
                                   rng.uniform(5, 3),
                                   Rng(8, "car0/lidar").uniform(3, 5),
                                   Rng(7, "car1/lidar").uniform(3, 5),
                                   rng.uniform(3 + (std::uint64_t{1} << 32), 5)};
  CHECK(values.size() == 7);
}

TEST_CASE("uniforms fill [0, 1) evenly") {
  const Rng rng(1, "uniform");
  std::vector<int> bins(20, 0);
  std::vector<double> values;
  for (std::uint64_t i = 0; i < 40000; ++i) {
    const double u = rng.uniform(i);
    REQUIRE(u >= 0.0);
    REQUIRE(u < 1.0);
    values.push_back(u);
    ++bins[static_cast<std::size_t>(u * 20.0)];
  }
  const Moments m = moments(values);
  CHECK(std::fabs(m.mean - 0.5) < 0.006);              // 4 standard errors
  CHECK(std::fabs(m.variance - 1.0 / 12.0) < 0.0015);  // 4 standard errors
  double chi2 = 0.0;
  for (const int count : bins) chi2 += (count - 2000.0) * (count - 2000.0) / 2000.0;
  CHECK(chi2 < 43.8);  // 99.9 % of chi-squared with 19 degrees of freedom
}

TEST_CASE("normals have the mean, variance and tails of the standard normal") {
  const Rng rng(2, "normal");
  std::vector<double> values;
  int beyond_1 = 0;
  int beyond_2 = 0;
  int beyond_3 = 0;
  double third = 0.0;
  double fourth = 0.0;
  for (std::uint64_t i = 0; i < 40000; ++i) {
    const double v = rng.normal(i / 1081, static_cast<std::uint32_t>(i % 1081));
    values.push_back(v);
    beyond_1 += std::fabs(v) > 1.0;
    beyond_2 += std::fabs(v) > 2.0;
    beyond_3 += std::fabs(v) > 3.0;
    third += v * v * v / 40000.0;
    fourth += v * v * v * v / 40000.0;
  }
  const Moments m = moments(values);
  CHECK(std::fabs(m.mean) < 0.02);
  CHECK(std::fabs(m.variance - 1.0) < 0.03);
  CHECK(std::fabs(third) < 0.08);
  CHECK(std::fabs(fourth - 3.0) < 0.2);
  CHECK(std::fabs(beyond_1 - 40000 * 0.317311) < 4 * 93);
  CHECK(std::fabs(beyond_2 - 40000 * 0.045500) < 4 * 42);
  CHECK(std::fabs(beyond_3 - 40000 * 0.002700) < 4 * 10.4);
}

TEST_CASE("streams, samples, lanes and the halves of a pair are independent") {
  const Rng a(3, "a");
  const Rng b(3, "b");
  const Rng other_seed(4, "a");
  std::vector<double> base, stream, seed, lane, next, second;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    base.push_back(a.normal(i, 0));
    stream.push_back(b.normal(i, 0));
    seed.push_back(other_seed.normal(i, 0));
    lane.push_back(a.normal(i, 1));
    next.push_back(a.normal(i + 1, 0));
    second.push_back(a.normal_pair(i, 0)[1]);
  }
  constexpr double kLimit = 4.0 / 141.4;  // 4 standard errors
  CHECK(std::fabs(correlation(base, stream)) < kLimit);
  CHECK(std::fabs(correlation(base, seed)) < kLimit);
  CHECK(std::fabs(correlation(base, lane)) < kLimit);
  CHECK(std::fabs(correlation(base, next)) < kLimit);
  CHECK(std::fabs(correlation(base, second)) < kLimit);
}

TEST_CASE("normal is the first of the pair") {
  const Rng rng(5, "pair");
  for (std::uint64_t i = 0; i < 100; ++i) CHECK(rng.normal(i, 2) == rng.normal_pair(i, 2)[0]);
}

TEST_CASE("the numbers of a stream are pinned: all golden values hang on them") {
  const Rng rng(12345, "car0/lidar");
  CHECK(rng.uniform(0, 0) == 0.21472833200482466);
  CHECK(rng.uniform(1, 1080) == 0.81067873934240753);
  CHECK(rng.normal(0, 0) == 0.11578822634394106);
  CHECK(rng.normal(std::uint64_t{1} << 40, 7) == 0.32870934365042537);
}
