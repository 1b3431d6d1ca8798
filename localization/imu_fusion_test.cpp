// SPDX-License-Identifier: Apache-2.0
// A rigid body that turns about all axes, seen by IMUs mounted all over it: what they make of it together is what one stamp_at base_link
// reads.
#include "localization/imu_fusion.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/math.hpp"
#include "core/rng.hpp"
#include "localization/imu_mounting.hpp"

using namespace pitwall;
using namespace pitwall::localization;

namespace {

Time stamp_at(double t) { return Time{} + from_seconds(10.0 + t); }

Vector3 omega_at(double t) { return {{0.3 * math::sin(2.0 * t), 0.2 * math::sin(3.0 * t + 1.0), 1.5 * math::sin(1.7 * t)}}; }
Vector3 alpha_at(double t) { return {{0.6 * math::cos(2.0 * t), 0.6 * math::cos(3.0 * t + 1.0), 2.55 * math::cos(1.7 * t)}}; }
Vector3 felt_at(double t) { return {{math::sin(t), 0.5 * math::cos(2.0 * t), 9.80665 + 0.3 * math::sin(5.0 * t)}}; }

/// What a sensor so mounted reads, in its own axes.
ImuSample reading(const ImuMount& mount, double t) {
  const Vector3& r = mount.position_m;
  const Vector3 w = omega_at(t);
  const Matrix3 to_sensor = transposed(mount.rotation());
  const Vector3 felt = to_sensor * (felt_at(t) + cross(alpha_at(t), r) + cross(w, cross(w, r)));
  // raw = A^-1 calibrated + bias, of a diagonal A.
  Vector3 raw = felt;
  for (std::size_t k = 0; k < 3; ++k) raw.v[k] = felt.v[k] / mount.accel_scale.v[k];
  return {stamp_at(t), to_sensor * w + mount.gyro_bias_radps, raw + mount.accel_bias_mps2};
}

/// The mounts of the reference's car, from its rear axle (its own are from the centre of the car).
std::vector<ImuMount> two() {
  ImuMount vesc;
  vesc.position_m = {{0.155, 0.09, 0.08}};
  vesc.roll_rad = -0.35 * math::kDegree;
  vesc.pitch_rad = -0.07 * math::kDegree;
  vesc.yaw_rad = -84.69 * math::kDegree;
  vesc.gyro_bias_radps = {{0.01, -0.02, 0.015}};
  vesc.accel_bias_mps2 = {{-0.01287, 0.14552, 0.07897}};
  vesc.accel_scale = {{0.99520, 1.00083, 0.99124}};
  ImuMount bno;
  bno.position_m = {{0.305, 0.0, 0.06}};
  bno.weight = 2.0;
  return {vesc, bno};
}

struct Errors {
  double omega = 0.0;
  double felt = 0.0;
  double alpha = 0.0;
};

Errors worst_of(const std::vector<ImuMount>& mounts) {
  CentreFusion fusion(mounts);
  Errors worst;
  for (int k = 0; k < 1000; ++k) {
    const double t = 0.005 * k;
    std::vector<ImuSample> samples;
    for (const ImuMount& mount : mounts) samples.push_back(reading(mount, t));
    const Imu out = fusion.fuse(samples);
    if (k < 60) continue;  // the filter of the derivative has settled
    worst.omega = std::max(worst.omega, length(Vector3{out.angular_velocity_radps} - omega_at(t)));
    worst.felt = std::max(worst.felt, length(Vector3{out.linear_acceleration_mps2} - felt_at(t)));
    worst.alpha = std::max(worst.alpha, length(fusion.angular_acceleration() - alpha_at(t)));
  }
  return worst;
}

}  // namespace

TEST_CASE("two IMUs read what one stamp_at base_link would; across their baseline the angular acceleration is that of the accelerometers") {
  const Errors both = worst_of(two());
  const Errors one = worst_of({two()[1]});
  MESSAGE("felt off by " << both.felt << " m/s^2 by two, " << one.felt << " by one; alpha " << both.alpha << " and " << one.alpha);
  CHECK(both.omega < 1e-12);
  CHECK(one.omega < 1e-12);
  // The filtered derivative is late by 30 ms: 0.14 rad/s^2 of the yaw's; 2.55 sin(1.7 * 0.0325). The baseline shows yaw without delay.
  CHECK(one.alpha > 0.1);
  CHECK(one.alpha < 0.25);
  CHECK(both.alpha < 0.6 * one.alpha);
  CHECK(both.felt < 0.5 * one.felt);
  CHECK(one.felt < 0.08);
  // Left out, each term is worth more than that.
  std::vector<ImuMount> there = two();
  there[0].accel_bias_mps2 = {};
  std::vector<ImuSample> samples;
  CentreFusion wrong(there);
  Imu out;
  for (int k = 0; k < 200; ++k) {
    samples = {reading(two()[0], 0.005 * k), reading(two()[1], 0.005 * k)};
    out = wrong.fuse(samples);
  }
  CHECK(length(Vector3{out.linear_acceleration_mps2} - felt_at(0.995)) > 0.04);
}

TEST_CASE("two accelerometers on one spot show no turning: the gyros' derivative stands") {
  std::vector<ImuMount> mounts = two();
  mounts[1].position_m = mounts[0].position_m + Vector3{{0.04, 0.0, 0.0}};
  CHECK(worst_of(mounts).alpha == doctest::Approx(worst_of({mounts[0]}).alpha).epsilon(1e-6));
}

TEST_CASE("a mount is found from gravity and a push, whichever way it is turned; the smallest rotation levels it") {
  for (const auto& [roll, pitch, yaw] : {std::array{0.1, -0.2, 2.0}, std::array{-0.4, 0.3, -1.478}, std::array{0.0, 0.0, 0.0}}) {
    const Matrix3 mount = rotation_of(roll, pitch, yaw);
    const Vector3 still = transposed(mount) * Vector3{{0.0, 0.0, 9.80665}};
    std::vector<Vector3> pushed(20, still);
    pushed[3] = transposed(mount) * Vector3{{0.7, 0.0, 9.80665}};  // too weak to count
    pushed[8] = transposed(mount) * Vector3{{1.2, 0.0, 9.80665}};
    pushed[12] = transposed(mount) * Vector3{{-3.0, 1.0, 9.80665}};  // the stop
    const auto found = mount_rotation(still, pushed);
    REQUIRE(found.ok());
    for (std::size_t i = 0; i < 9; ++i) CHECK(found->v[i] == doctest::Approx(mount.v[i]).epsilon(1e-9));
  }
  const Vector3 down{{0.0, 0.0, -9.8}};
  const auto turned = mount_rotation(down, std::vector<Vector3>{{{0.0, 2.0, -9.8}}});
  REQUIRE(turned.ok());
  CHECK((*turned * Vector3{{0.0, 1.0, 0.0}}).v[0] == doctest::Approx(1.0));
  CHECK((*turned * down).v[2] == doctest::Approx(9.8));
  CHECK(mount_rotation({{0.0, 0.0, 1.0}}, {}).error().message.find("not gravity") != std::string::npos);
  CHECK(mount_rotation({{0.0, 0.0, 9.8}}, std::vector<Vector3>(5, {{0.7, 0.0, 9.8}})).error().message.find("no push") != std::string::npos);
}

TEST_CASE("the rotation between two gyros is that put in, unless all turns are about one axis") {
  const Matrix3 between = rotation_of(0.02, -0.05, 1.4);
  const Rng noise(4, "gyro");
  std::vector<Vector3> a, b;
  for (std::uint64_t k = 0; k < 2000; ++k) {
    a.push_back(omega_at(0.01 * static_cast<double>(k)));
    b.push_back(transposed(between) * a.back());
    for (std::uint32_t i = 0; i < 3; ++i) b.back().v[i] += 0.01 * noise.normal(k, i);
  }
  b[7].v[1] = NAN;
  const auto found = rotation_between(a, b);
  REQUIRE(found.ok());
  for (std::size_t i = 0; i < 9; ++i) CHECK(std::abs(found->v[i] - between.v[i]) < 0.003);
  const Matrix3 unit = *found * transposed(*found);
  for (std::size_t i = 0; i < 9; ++i) CHECK(unit.v[i] == doctest::Approx(identity<3>().v[i]));
  for (Vector3& each : a) each = {{0.0, 0.0, each.v[2]}};
  CHECK(rotation_between(a, a).error().message.find("about one axis") != std::string::npos);
  for (Vector3& each : a) each = 0.1 * each;
  CHECK(rotation_between(a, a).error().message.find("needed are 10") != std::string::npos);
}

TEST_CASE("the offset of two clocks is found to a millisecond, early and late") {
  const Rng noise(9, "offset");
  for (const double late : {0.1, 0.023, 0.0, -0.061}) {
    std::vector<double> a_t, a, b_t, b;
    for (std::uint64_t k = 0; k < 4000; ++k) {
      a_t.push_back(0.005 * static_cast<double>(k));
      a.push_back(length(omega_at(a_t.back())) + 0.01 * noise.normal(k, 0));
      b_t.push_back(0.0031 + 0.01 * static_cast<double>(k));
      b.push_back(length(omega_at(b_t.back() - late)) + 0.01 * noise.normal(k, 1));
    }
    const auto found = time_offset_s(a_t, a, b_t, b);
    REQUIRE(found.ok());
    CHECK(std::abs(*found - late) < 0.001);
  }
  std::vector<double> t, x, y;
  for (std::uint64_t k = 0; k < 1000; ++k) {
    t.push_back(0.01 * static_cast<double>(k));
    x.push_back(noise.normal(k, 2));
    y.push_back(length(omega_at(t.back() - 0.3)));
  }
  CHECK(time_offset_s(t, x, t, y).error().message.find("little in common") != std::string::npos);
  std::vector<double> undelayed;
  for (const double each : t) undelayed.push_back(length(omega_at(each)));
  CHECK_FALSE(time_offset_s(t, undelayed, t, y).ok());
  CHECK(time_offset_s({}, {}, t, y).error().message.find("2 s in common") != std::string::npos);
}

TEST_CASE("samples of two rates come out on one grid, interpolated, once both are there") {
  ImuSynchronizer sync({}, 2);
  const auto sample = [](double t) { return ImuSample{stamp_at(t), {{t, 2.0 * t, 0.0}}, {{0.0, 0.0, 9.8 + t}}}; };
  double worst = 0.0;
  int out = 0;
  Time before;
  for (int k = 0; k < 1000; ++k) {
    const double now = 0.001 * k;
    if (k % 4 == 0) sync.add(0, sample(now));
    if (k % 10 == 3) sync.add(1, sample(now - 0.02));  // comes 20 ms late
    while (const std::vector<ImuSample>* grid = sync.next(stamp_at(now))) {
      REQUIRE(grid->size() == 2);
      const Time stamp = (*grid)[0].stamp;
      CHECK((*grid)[1].stamp == stamp);
      CHECK(stamp.ns % 5'000'000 == 0);
      if (out++ > 0) CHECK((stamp - before).ns == 5'000'000);
      before = stamp;
      CHECK((stamp_at(now) - stamp).seconds() >= 0.04);
      CHECK((stamp_at(now) - stamp).seconds() < 0.05);
      const double t = (stamp - stamp_at(0.0)).seconds();
      for (const ImuSample& each : *grid) worst = std::max(worst, std::abs(each.gyro_radps.v[1] - 2.0 * t));
    }
  }
  CHECK(out == 192);  // 0 to 955 ms
  CHECK(worst < 1e-9);
  CHECK(sync.skipped() == 0);
  CHECK(sync.dropped() == 0);
  CHECK_FALSE(sync.add(0, sample(0.996)));  // a second time
  CHECK_FALSE(sync.add(0, sample(0.5)));
  ImuSample bad = sample(2.0);
  bad.accel_mps2.v[2] = NAN;
  CHECK_FALSE(sync.add(0, bad));
  CHECK(sync.dropped() == 3);
}

TEST_CASE("a stream that is late holds the grid back; one that has stalled, or has a hole, makes it skip") {
  ImuSynchronizer sync({}, 2);
  const auto sample = [](double t) { return ImuSample{stamp_at(t), {}, {{0.0, 0.0, 9.8}}}; };
  const auto run = [&](int from_ms, int to_ms, bool second) {
    int out = 0;
    for (int k = from_ms; k < to_ms; k += 5) {
      sync.add(0, sample(0.001 * k));
      if (second) sync.add(1, sample(0.001 * k));
      while (sync.next(stamp_at(0.001 * k)) != nullptr) ++out;
    }
    return out;
  };
  CHECK(run(0, 500, true) == 92);    // 0 to 455 ms
  CHECK(run(500, 700, false) == 8);  // to 495, where the second ends
  CHECK(sync.skipped() == 0);
  // 300 ms after its last sample the second has stalled: what the grid waits for is given up.
  CHECK(run(700, 1000, false) == 0);
  CHECK(sync.skipped() == 92);         // 500 to 955
  CHECK(run(1000, 1200, true) == 32);  // from 1000 on; between 495 and 1000 lies a hole
  CHECK(sync.skipped() == 100);
}

TEST_CASE("a rig is read from YAML; what is wrong in it is named") {
  const auto rig = parse_imu_rig(
      "sync: {rate_hz: 100}\n"
      "imus:\n"
      "  vesc: {topic: /sensors/imu/raw, x_m: 0.155, yaw_rad: -1.478, accel_scale_x: 0.995}\n"
      "  bno: {topic: /imu/bno, weight: 2}\n",
      "imu.yaml");
  REQUIRE_MESSAGE(rig.ok(), rig.error().message);
  REQUIRE(rig->imus.size() == 2);
  CHECK(rig->sync.rate_hz == 100.0);
  CHECK(rig->imus[0].name == "bno");
  CHECK(rig->imus[1].topic == "/sensors/imu/raw");
  CHECK(rig->imus[1].mount.position_m.v[0] == 0.155);
  CHECK(rig->imus[1].mount.yaw_rad == -1.478);
  CHECK(rig->imus[1].mount.accel_scale.v[0] == 0.995);
  const auto refused = [](const char* yaml) { return parse_imu_rig(yaml, "imu.yaml").error().message; };
  CHECK(refused("imus: {}\n").find("no IMU") != std::string::npos);
  CHECK(refused("imus: {a: {x_m: 1}}\n").find("imu.yaml:1") != std::string::npos);
  CHECK(refused("imus: {a: {x_m: 1}}\n").find("topic") != std::string::npos);
  CHECK(refused("imus: {a: {topic: /a, x_mm: 1}}\n").find("x_m") != std::string::npos);
  CHECK(refused("imus: {a: {topic: /a, weight: 0}}\n").find("weight") != std::string::npos);
  CHECK(refused("imu: {}\n").find("unknown key 'imu'") != std::string::npos);
  CHECK(refused("3\n").find("is a map") != std::string::npos);
}

TEST_CASE("shear mixes the axes of an accelerometer both ways") {
  ImuMount mount;
  mount.accel_shear = {{0.01, 0.02, 0.03}};
  const Vector3 out = mount.calibrated({{1.0, 10.0, 100.0}});
  CHECK(out.v[0] == doctest::Approx(1.0 + 0.1 + 2.0));
  CHECK(out.v[1] == doctest::Approx(0.01 + 10.0 + 3.0));
  CHECK(out.v[2] == doctest::Approx(0.02 + 0.3 + 100.0));
}
