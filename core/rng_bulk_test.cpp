// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <hwy/targets.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "core/math.hpp"
#include "core/rng.hpp"
#include "tests/support/allocation_guard.hpp"
#include "tests/support/instruction_sets.hpp"

using namespace pitwall;

namespace {

constexpr std::size_t kBeams = 1081;

std::vector<float> normals(const Rng& rng, std::uint64_t sample, std::size_t count = kBeams) {
  std::vector<float> values(count);
  rng.normals(sample, values);
  return values;
}

std::vector<float> uniforms(const Rng& rng, std::uint64_t sample, std::size_t first = 0, std::size_t count = kBeams) {
  std::vector<float> values(count);
  rng.uniforms(sample, first, values);
  return values;
}

// The words of value v, as the file's head says.
std::uint32_t word(const Rng& rng, std::uint64_t sample, std::size_t v, std::size_t k) {
  return rng.block(sample, static_cast<std::uint32_t>(v / 64 * 16 + v % 16))[k];
}

// The same steps one by one, each rounded to float.
float scalar_radius(std::uint32_t w) {
  const auto x = static_cast<float>(static_cast<std::int32_t>((w >> 1) | 1U));
  const auto bits = std::bit_cast<std::int32_t>(x);
  const std::int32_t e = (bits - 0x3F3504F3) >> 23;
  const float t = std::bit_cast<float>(bits - e * (1 << 23)) - 1.0F;
  float p = 8.700446289e-02F;
  for (const float c : {-1.426748958e-01F, 1.491476572e-01F, -1.657758431e-01F, 1.996306395e-01F, -2.500133705e-01F, 3.333391073e-01F})
    p = p * t + c;
  const float log_m = t + t * t * (t * p - 0.5F);
  return std::sqrt(static_cast<float>(31 - e) * 1.386294361e+00F - (log_m + log_m));
}

float scalar_sine(std::uint32_t w, bool cosine) {
  const std::uint32_t quarter = (w + (1U << 29)) >> 30;
  const float x = static_cast<float>(static_cast<std::int32_t>(w - (quarter << 30))) * 1.462918079e-09F;
  const float xx = x * x;
  const float s = x + x * xx * ((-1.951726789e-04F * xx + 8.332177924e-03F) * xx + -1.666665494e-01F);
  const float c = (1.0F - 0.5F * xx) + xx * xx * ((2.443841671e-05F * xx + -1.388736722e-03F) * xx + 4.166664686e-02F);
  const bool swapped = (quarter & 1U) != 0;
  if (cosine) return ((quarter + 1) & 2U) != 0 ? -(swapped ? s : c) : (swapped ? s : c);
  return (quarter & 2U) != 0 ? -(swapped ? c : s) : (swapped ? c : s);
}

}  // namespace

TEST_CASE("bulk normals are the Box-Muller transform of their words: to the bit of the scalar steps, and within 1e-6 of the true one") {
  const Rng rng(7, "car0/lidar");
  double worst = 0.0;
  for (std::uint64_t sample = 0; sample < 60; ++sample) {
    const std::vector<float> values = normals(rng, sample);
    std::size_t differing = 0;
    for (std::size_t v = 0; v < values.size(); ++v) {
      const std::size_t pair = v % 64 / 32;
      const bool cosine = v % 32 < 16;
      const std::uint32_t w = word(rng, sample, v, 2 * pair);
      const std::uint32_t angle = word(rng, sample, v, 2 * pair + 1);
      differing += values[v] == scalar_radius(w) * scalar_sine(angle, cosine) ? 0 : 1;
      const double u = static_cast<double>(static_cast<float>((w >> 1) | 1U)) * 0x1.0p-31;
      const auto [s, c] = math::sincos(2.0 * math::kPi * 0x1.0p-32 * angle);
      worst = std::max(worst, std::fabs(std::sqrt(-2.0 * math::log(u)) * (cosine ? c : s) - static_cast<double>(values[v])));
    }
    REQUIRE(differing == 0);
  }
  CHECK(worst < 1e-6);
}

TEST_CASE("bulk uniforms are the top 24 bits of their words, in [0, 1)") {
  const Rng rng(7, "car0/lidar_grazing");
  for (std::uint64_t sample = 0; sample < 40; ++sample) {
    const std::vector<float> values = uniforms(rng, sample);
    std::size_t differing = 0;
    for (std::size_t v = 0; v < values.size(); ++v)
      differing += values[v] == static_cast<float>(word(rng, sample, v, v % 64 / 16) >> 8) * 0x1.0p-24F ? 0 : 1;
    REQUIRE(differing == 0);
  }
}

TEST_CASE("a bulk value does not depend on how many are drawn, nor from which group on") {
  const Rng rng(7, "car0/lidar");
  const std::vector<float> all = normals(rng, 5);
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}, std::size_t{1080}})
    CHECK(normals(rng, 5, count) == std::vector<float>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)));
  const std::vector<float> flat = uniforms(rng, 5);
  CHECK(uniforms(rng, 5, 128, 70) == std::vector<float>(flat.begin() + 128, flat.begin() + 198));
}

TEST_CASE("bulk draws have the same bits on every instruction set of this machine") {
  const Rng rng(9, "car3/lidar");
  std::vector<std::vector<float>> first;
  testing::on_every_instruction_set([&](const char* name) {
    std::vector<std::vector<float>> drawn;
    for (std::uint64_t sample = 0; sample < 40; ++sample) {
      drawn.push_back(normals(rng, sample));
      drawn.push_back(uniforms(rng, sample));
    }
    if (first.empty()) first = drawn;
    CHECK_MESSAGE(drawn == first, name);
  });
}

TEST_CASE("bulk normals have the moments and tails of the standard normal, and stream, sample and seed make them independent") {
  const Rng rng(2, "normal");
  double sum = 0.0, square = 0.0, third = 0.0, fourth = 0.0, next = 0.0, neighbour = 0.0, other = 0.0, half = 0.0;
  int beyond_1 = 0, beyond_3 = 0;
  std::vector<float> before = normals(rng, 0);
  constexpr int kSamples = 200;
  constexpr double n = kSamples * static_cast<double>(kBeams);
  for (std::uint64_t sample = 1; sample <= kSamples; ++sample) {
    const std::vector<float> values = normals(rng, sample);
    const std::vector<float> others = normals(Rng(2, "normal2"), sample);
    for (std::size_t v = 0; v < kBeams; ++v) {
      const auto x = static_cast<double>(values[v]);
      sum += x;
      square += x * x;
      third += x * x * x;
      fourth += x * x * x * x;
      next += x * static_cast<double>(before[v]);
      neighbour += v > 0 ? x * static_cast<double>(values[v - 1]) : 0.0;
      half += v >= 16 ? x * static_cast<double>(values[v - 16]) : 0.0;
      other += x * static_cast<double>(others[v]);
      beyond_1 += std::fabs(x) > 1.0;
      beyond_3 += std::fabs(x) > 3.0;
    }
    before = values;
  }
  const double error = 4.0 / std::sqrt(n);
  CHECK(std::fabs(sum / n) < error);
  CHECK(std::fabs(square / n - 1.0) < error * std::sqrt(2.0));
  CHECK(std::fabs(third / n) < error * std::sqrt(15.0));
  CHECK(std::fabs(fourth / n - 3.0) < error * std::sqrt(96.0));
  for (const double product : {next, neighbour, half, other}) CHECK(std::fabs(product / n) < error);
  CHECK(std::fabs(beyond_1 / n - 0.317311) < error * 0.4655);
  CHECK(std::fabs(beyond_3 / n - 0.002700) < error * 0.0519);
}

TEST_CASE("the bulk numbers of a stream are pinned: golden hashes hang on them") {
  const Rng rng(12345, "car0/lidar");
  const std::vector<float> n = normals(rng, 1);
  const std::vector<float> u = uniforms(rng, 1);
  CHECK(n[0] == 0x1.f421e2p-3F);
  CHECK(n[1080] == -0x1.7029eap+0F);
  CHECK(u[0] == 0x1.cec5a8p-1F);
  CHECK(u[1080] == 0x1.b6eab2p-1F);
}

TEST_CASE("bulk draws allocate nothing") {
  const Rng rng(1, "a");
  std::vector<float> values(kBeams);
  const AllocationGuard guard;
  rng.normals(1, values);
  rng.uniforms(1, 64, values);
  const std::size_t allocations = guard.count();
  CHECK(allocations == 0);
}
