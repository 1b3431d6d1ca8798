// SPDX-License-Identifier: Apache-2.0
#include "localization/vehicle_state_estimator.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <limits>

#include "localization/test_drives.hpp"
#include "tests/support/allocation_guard.hpp"

using namespace pitwall;
using namespace pitwall::localization;
using namespace pitwall::localization::drives;

namespace {

constexpr double kDeg = math::kPi / 180.0;

struct Rms {
  double squares = 0.0;
  double count = 0.0;
  void add(double error) {
    squares += error * error;
    count += 1.0;
  }
  [[nodiscard]] double value() const { return std::sqrt(squares / count); }
};

double slip_angle(const Twist& v) { return norm({v.x_mps, v.y_mps}) < 0.3 ? 0.0 : math::atan2(v.y_mps, v.x_mps); }

// Straight, then slides of 20 degrees to either side, during which the driven wheels turn 35 % too fast.
Drive power_slides() {
  Drive d;
  const auto sliding = [](double t) { return pulse(t, 4.0, 7.0, 0.6) - pulse(t, 9.0, 12.0, 0.6); };
  d.velocity = [sliding](double t) {
    return Twist{3.5 * ramp(t, 1.0, 2.0) - 0.4 * std::abs(sliding(t)), -1.15 * sliding(t), 1.6 * sliding(t)};
  };
  d.wheel_slip = [sliding](double t) { return 0.35 * std::abs(sliding(t)); };
  return d;
}

struct SlideErrors {
  Rms beta;
  Rms r;
  double slipping_share = 0.0;
};

SlideErrors slide(const VehicleStateParameters& parameters, bool external) {
  VehicleStateEstimator estimator(parameters);
  const Drive d = power_slides();
  const Rng noise(5, "external");
  SlideErrors errors;
  double slipping = 0.0;
  double sliding = 0.0;
  run(estimator, d, 14.0, [&](double t, std::uint64_t k, const Pose2&) {
    const Twist v = d.velocity(t);
    if (external && k % 10 == 0) estimator.add_velocity(at(t), {v.x_mps + 0.1 * noise.normal(k, 0), v.y_mps + 0.1 * noise.normal(k, 1)});
    if (t < 2.0) return;
    const VehicleState s = estimator.state();
    errors.beta.add((s.slip_angle_rad - slip_angle(v)) / kDeg);
    errors.r.add(s.velocity.yaw_radps - v.yaw_radps);
    if (d.wheel_slip(t) < 0.3) return;
    sliding += 1.0;
    slipping += s.wheels_slip ? 1.0 : 0.0;
  });
  errors.slipping_share = slipping / sliding;
  return errors;
}

}  // namespace

TEST_CASE("in power slides with wheels 35 % too fast the slip angle is known to 6 degrees, and to 2.5 with an external velocity at 20 Hz") {
  const SlideErrors alone = slide({}, false);
  const SlideErrors helped = slide({}, true);
  MESSAGE("beta rms " << alone.beta.value() << " deg alone, " << helped.beta.value() << " with velocity; r " << alone.r.value()
                      << " rad/s; slip seen in " << alone.slipping_share);
  CHECK(alone.beta.value() < 3.0);
  CHECK(alone.r.value() < 0.02);
  CHECK(helped.beta.value() < 1.5);
  CHECK(alone.slipping_share > 0.8);
  // A filter that believes such wheels is off by degrees.
  VehicleStateParameters credulous;
  credulous.slip_change_mps = 10.0;
  credulous.accel_noise = 3.0;
  CHECK(slide(credulous, false).beta.value() > 2.0 * alone.beta.value());
}

TEST_CASE("in a slalom the slip angle is known to 2 degrees") {
  Drive d;
  d.velocity = [](double t) {
    const double vx = 3.0 * ramp(t, 1.0, 2.0);
    const double r = 1.2 * math::sin(math::kPi * t) * ramp(t, 3.0, 1.0);
    return Twist{vx, -0.02 * vx * r, r};  // tyres yield 0.02 s of the lateral acceleration
  };
  VehicleStateEstimator estimator({});
  Rms beta;
  run(estimator, d, 20.0, [&](double t, std::uint64_t, const Pose2&) {
    if (t > 2.0) beta.add((estimator.state().slip_angle_rad - slip_angle(d.velocity(t))) / kDeg);
  });
  MESSAGE("beta rms " << beta.value() << " deg");
  CHECK(beta.value() < 2.0);
}

TEST_CASE("after half a minute of circles the place is known to a metre, by wheels and gyro alone") {
  Drive d;
  d.gyro_bias = [](double) { return 0.5 * kDeg; };
  d.velocity = [](double t) { return Twist{2.0 * ramp(t, 3.0, 1.0), 0.0, 0.8 * ramp(t, 3.0, 1.0)}; };
  VehicleStateEstimator estimator({});
  double off = 0.0;
  run(estimator, d, 60.0, [&](double t, std::uint64_t, const Pose2& truth) {
    if (t < 30.0) off = std::max(off, distance(estimator.state().pose.position(), truth.position()));
    if (t > 29.99 && t < 30.0) CHECK(std::abs(estimator.state().pose.yaw) <= math::kPi);
  });
  MESSAGE("farthest off " << off << " m");
  CHECK(off < 1.0);
}

TEST_CASE("stop and go: a gyro bias that wanders by 0.02 deg/s^2 is followed, and no standstill is seen while moving") {
  Drive d;
  d.gyro_bias = [](double t) { return (0.3 + 0.02 * t) * kDeg; };
  d.velocity = [](double t) {
    const double phase = t - 15.0 * std::floor(t / 15.0);
    const double go = pulse(phase, 5.0, 15.0, 1.0);
    return Twist{2.0 * go, 0.0, 0.4 * go * math::sin(0.7 * t)};
  };
  VehicleStateEstimator estimator({});
  double fixed_bias = 0.0;
  double fixed_yaw = 0.0;
  double online = 0.0;
  double fixed = 0.0;
  double worst_bias = 0.0;
  bool false_stand = false;
  run(estimator, d, 123.5, [&](double t, std::uint64_t k, const Pose2& truth) {
    const VehicleState s = estimator.state();
    false_stand = false_stand || (s.standing && d.velocity(t).x_mps > 0.1);
    if (t < 4.0) {
      fixed_bias = s.gyro_bias_radps;
      fixed_yaw = s.pose.yaw;
      return;
    }
    fixed_yaw += 0.005 * (imu_of(d, t, k).angular_velocity_radps[2] - fixed_bias);
    online = std::max(online, std::abs(wrap_angle(s.pose.yaw - truth.yaw)));
    fixed = std::max(fixed, std::abs(wrap_angle(fixed_yaw - truth.yaw)));
    if (s.standing) worst_bias = std::max(worst_bias, std::abs(s.gyro_bias_radps - d.gyro_bias(t)));
  });
  MESSAGE("heading " << online / kDeg << " deg online, " << fixed / kDeg << " fixed; bias off by at most " << worst_bias / kDeg
                     << " deg/s while standing");
  CHECK(online < 0.3 * fixed);
  CHECK(estimator.state().standing);
  CHECK(std::abs(estimator.state().gyro_bias_radps - d.gyro_bias(123.5)) < 0.1 * kDeg);
  CHECK_FALSE(false_stand);
  REQUIRE(estimator.bias_to_keep());
  CHECK(estimator.health().bias_large);
}

TEST_CASE("a heading at 10 Hz holds the heading, and one that is 90 degrees off is refused") {
  Drive d;
  d.gyro_bias = [](double) { return 0.8 * kDeg; };
  d.velocity = [](double t) { return Twist{2.5, 0.0, 1.2 + 0.3 * math::sin(t)}; };
  VehicleStateEstimator estimator({});
  const Rng noise(6, "heading");
  double worst = 0.0;
  run(estimator, d, 40.0, [&](double t, std::uint64_t k, const Pose2& truth) {
    if (k % 20 == 0) {
      const bool outlier = k > 1000 && k % 600 == 0;
      estimator.add_heading(at(t), wrap_angle(truth.yaw + 1.0 * kDeg * noise.normal(k) + (outlier ? 0.5 * math::kPi : 0.0)));
    }
    if (t > 1.0) worst = std::max(worst, std::abs(wrap_angle(estimator.state().pose.yaw - truth.yaw)));
  });
  MESSAGE("heading off by at most " << worst / kDeg << " deg");
  CHECK(worst < 2.0 * kDeg);
  CHECK(estimator.counts(Measurement::kHeading).gated == 12);
  CHECK_FALSE(estimator.health().no_heading_reference);
}

TEST_CASE("the scale of the gyro is learnt from headings, and used when they end") {
  Drive d;
  d.gyro_scale = 0.03;
  d.velocity = [](double t) { return Twist{2.0, 0.0, 1.5 + 0.5 * math::sin(0.3 * t)}; };
  VehicleStateEstimator estimator({});
  VehicleStateParameters rigid_parameters;
  rigid_parameters.scale_sigma = 0.0;
  rigid_parameters.scale_walk = 0.0;
  VehicleStateEstimator rigid(rigid_parameters);
  double off = 0.0;
  double off_rigid = 0.0;
  for (VehicleStateEstimator* e : {&estimator, &rigid}) {
    run(*e, d, 80.0, [&](double t, std::uint64_t k, const Pose2& truth) {
      if (t < 60.0 && k % 20 == 0) e->add_heading(at(t), truth.yaw);
      (e == &rigid ? off_rigid : off) = std::abs(wrap_angle(e->state().pose.yaw - truth.yaw));
    });
  }
  MESSAGE("scale " << estimator.state().gyro_scale << " +- " << estimator.state().std_scale << ", bias "
                   << estimator.state().gyro_bias_radps << "; after 20 s alone " << off / kDeg << " deg, without scale "
                   << off_rigid / kDeg);
  CHECK(std::abs(estimator.state().gyro_scale - 0.03) < 3.0 * estimator.state().std_scale);
  CHECK(off < 5.0 * kDeg);
  CHECK(off < 0.5 * off_rigid);
}

TEST_CASE("a pose that is 80 ms late is taken in at its own time: 8 cm") {
  Drive d;
  d.velocity = [](double t) { return Twist{3.0, 0.0, 0.8 * math::sin(0.5 * t)}; };
  for (const double wrong_stamp_s : {0.0, 0.08}) {
    VehicleStateEstimator estimator({});
    const Rng noise(7, "pose");
    const Pose2 T_map_start{4.0, -2.0, 2.5};
    std::deque<Pose2> on_the_way;
    Rms off;
    double yaw_off = 0.0;
    run(estimator, d, 30.0, [&](double t, std::uint64_t k, const Pose2& truth) {
      const Pose2 here = T_map_start * truth;
      if (k % 10 == 0) {
        on_the_way.push_back(
            {here.x + 0.03 * noise.normal(k, 0), here.y + 0.03 * noise.normal(k, 1), here.yaw + 0.01 * noise.normal(k, 2)});
      }
      // Every 50 ms, 80 ms after it was measured.
      if (k % 10 == 6 && k >= 16) {
        const double measured = t - 0.08;
        estimator.add_pose(at(measured + wrong_stamp_s), on_the_way.front());
        on_the_way.pop_front();
      }
      if (t < 2.0) return;
      off.add(distance(estimator.state().pose.position(), here.position()));
      yaw_off = std::max(yaw_off, std::abs(wrap_angle(estimator.state().pose.yaw - here.yaw)));
    });
    if (wrong_stamp_s > 0.0) {
      CHECK(off.value() > 0.15);  // what 80 ms at 3 m/s are worth
      continue;
    }
    MESSAGE("place rms " << off.value() << " m, yaw at most " << yaw_off / kDeg << " deg; nis "
                         << estimator.counts(Measurement::kPose).sum_nis / static_cast<double>(estimator.counts(Measurement::kPose).used));
    CHECK(off.value() < 0.04);
    CHECK(yaw_off < 2.0 * kDeg);
  }
}

TEST_CASE("late poses in flight do not put the same error right again and again") {
  Drive d;
  d.velocity = [](double) { return Twist{1.0, 0.0, 0.0}; };
  VehicleStateParameters sure;
  sure.place_sigma_m = 0.02;
  VehicleStateEstimator estimator(sure);
  double farthest = 0.0;
  run(estimator, d, 6.0, [&](double t, std::uint64_t k, const Pose2& truth) {
    if (k < 40 || k % 2 != 0) return;
    // 200 ms late; from 2 s on 4 cm to the left.
    estimator.add_pose(at(t - 0.2), {truth.x - 0.2, t > 2.0 ? 0.04 : 0.0, 0.0});
    farthest = std::max(farthest, estimator.state().pose.y);
  });
  CHECK(estimator.state().pose.y == doctest::Approx(0.04).epsilon(0.1));
  CHECK(farthest < 0.07);
}

TEST_CASE("a pose that jumps is refused three times and then believed") {
  Drive d;
  d.velocity = [](double) { return Twist{1.0, 0.0, 0.0}; };
  VehicleStateEstimator estimator({});
  run(estimator, d, 2.0, [&](double t, std::uint64_t k, const Pose2& truth) {
    if (k % 20 == 0) estimator.add_pose(at(t), truth);
  });
  const Pose2 moved{30.0, 0.0, 0.0};
  for (int i = 1; i <= 3; ++i) {
    estimator.add_pose(at(2.0 + 1e-6 * i), moved);
    CHECK(estimator.state().pose.x < 2.2);
  }
  estimator.add_pose(at(2.00001), moved);
  CHECK(estimator.state().pose.x > 4.0);
  CHECK(estimator.counts(Measurement::kPose).gated == 3);
}

TEST_CASE("a car that creeps at 3 cm/s is not told to stand") {
  Drive d;
  d.wheel_noise = 0.002;
  d.velocity = [](double t) { return Twist{0.03 * ramp(t, 2.0, 0.1), 0.0, 0.0}; };
  VehicleStateEstimator estimator({});
  run(estimator, d, 22.0, [&](double t, std::uint64_t, const Pose2&) {
    if (t > 1.0 && t < 1.9) CHECK(estimator.state().standing);
    if (t > 2.6) CHECK_FALSE(estimator.state().standing);
  });
  CHECK(estimator.state().pose.x == doctest::Approx(0.6).epsilon(0.1));
}

TEST_CASE("wheels that lock while the car slides on are not believed") {
  Drive d;
  d.velocity = [](double t) { return Twist{4.0 * ramp(t, 1.0, 1.5) - 4.0 * std::clamp((t - 4.0) / 0.9, 0.0, 1.0), 0.0, 0.0}; };
  d.wheel_slip = [](double t) { return t > 4.0 && t < 4.9 ? -1.0 : 0.0; };
  d.wheel_noise = 0.0;
  VehicleStateEstimator estimator({});
  double worst = 0.0;
  bool stood = false;
  run(estimator, d, 7.0, [&](double t, std::uint64_t, const Pose2&) {
    if (t > 4.0 && t < 4.85) worst = std::max(worst, std::abs(estimator.state().velocity.x_mps - d.velocity(t).x_mps));
    stood = stood || (estimator.state().standing && std::abs(d.velocity(t).x_mps) > 0.5);
  });
  CHECK(worst < 0.4);
  CHECK_FALSE(stood);
  CHECK(estimator.state().standing);
  CHECK(estimator.state().velocity.x_mps == doctest::Approx(0.0).epsilon(0.02));
}

TEST_CASE("wheels that contradict for longer than any slip are believed again") {
  Drive d;
  d.velocity = [](double) { return Twist{2.0, 0.0, 0.0}; };
  d.wheel_slip = [](double t) { return t > 5.0 ? 0.6 : 0.0; };
  VehicleStateParameters sure;
  sure.accel_noise = 0.01;
  sure.accel_bias_sigma_mps2 = 0.001;
  sure.accel_bias_walk = 0.0;
  VehicleStateEstimator estimator(sure);
  run(estimator, d, 30.0, [&](double t, std::uint64_t k, const Pose2&) {
    if (k == 1700) {
      CHECK(t < 5.0 + sure.slip_longest_s);
      CHECK(estimator.state().wheels_slip);
      CHECK(estimator.state().velocity.x_mps < 2.2);
    }
  });
  CHECK(estimator.state().velocity.x_mps > 3.0);
}

TEST_CASE("tilt of the accelerometer is learnt standing, gravity is taken off by roll and pitch, and the mount is accounted for") {
  Drive d;
  d.accel_offset = {0.25, -0.3};
  d.velocity = [](double t) { return Twist{2.0 * ramp(t, 2.0, 1.0), 0.0, 1.4 * ramp(t, 3.0, 1.0)}; };
  VehicleStateEstimator level({});
  Rms lateral;
  run(level, d, 12.0, [&](double t, std::uint64_t, const Pose2&) {
    if (t > 2.0) lateral.add(level.state().velocity.y_mps);
  });
  CHECK(lateral.value() < 0.15);

  // A car on a banked floor, whose roll and pitch are known.
  Drive flat = d;
  flat.accel_offset = {};
  VehicleStateEstimator tilted({});
  for (std::uint64_t k = 0; k < 200; ++k) {
    Imu imu = imu_of(flat, 0.0, k);
    imu.stamp = at(0.005 * static_cast<double>(k));
    imu.linear_acceleration_mps2[0] -= 9.80665 * math::sin(0.1);
    imu.linear_acceleration_mps2[1] += 9.80665 * math::cos(0.1) * math::sin(-0.05);
    imu.linear_acceleration_mps2[2] = 9.80665 * math::cos(0.1) * math::cos(-0.05);
    tilted.add_imu(imu, -0.05, 0.1);
    if (k < 80) CHECK(norm({tilted.state().velocity.x_mps, tilted.state().velocity.y_mps}) < 0.1);
  }
  CHECK_FALSE(tilted.health().gravity_wrong);

  // 0.3 m ahead and 0.2 m aside, in turns that begin and end.
  Drive mounted;
  mounted.imu_at = {0.3, 0.2};
  mounted.velocity = [](double t) { return Twist{1.5 * ramp(t, 1.0, 1.0), 0.0, 2.0 * math::sin(2.0 * t) * ramp(t, 2.0, 1.0)}; };
  VehicleStateParameters there;
  there.imu_x_m = 0.3;
  there.imu_y_m = 0.2;
  there.no_slide_mps2 = 0.0;  // nothing else may hold vy
  VehicleStateParameters ignored = there;
  ignored.imu_x_m = ignored.imu_y_m = 0.0;
  Rms right;
  Rms wrong;
  for (const bool told : {true, false}) {
    VehicleStateEstimator estimator(told ? there : ignored);
    run(estimator, mounted, 8.0, [&](double t, std::uint64_t, const Pose2&) {
      if (t > 2.0) (told ? right : wrong).add(estimator.state().velocity.y_mps);
    });
  }
  MESSAGE("vy rms " << right.value() << " with the mount, " << wrong.value() << " without");
  CHECK(right.value() < 0.12);
  CHECK(wrong.value() > 2.0 * right.value());
}

TEST_CASE("the bias of the accelerometer is learnt while driving, too") {
  Drive d;
  d.accel_offset = {0.6, -0.4};
  d.wheel_noise = 0.15;
  d.velocity = [](double t) { return Twist{2.5 + 0.5 * math::sin(0.4 * t), 0.0, 0.3 * math::sin(0.9 * t)}; };
  VehicleStateEstimator estimator(VehicleStateParameters{.accel_bias_sigma_mps2 = 0.8});
  Rms forward;
  run(estimator, d, 40.0, [&](double t, std::uint64_t, const Pose2&) {
    if (t > 10.0) forward.add(estimator.state().velocity.x_mps - d.velocity(t).x_mps);
  });
  CHECK(std::abs(estimator.state().accel_bias_mps2.x - 0.6) < 0.1);
  CHECK(std::abs(estimator.state().accel_bias_mps2.y + 0.4) < 0.1);
  CHECK(forward.value() < 0.08);
}

TEST_CASE("input that is not finite, not newer or too late is refused and changes nothing") {
  Drive d;
  d.velocity = [](double) { return Twist{2.0, 0.0, 0.3}; };
  VehicleStateEstimator estimator({});
  run(estimator, d, 3.0, [](double, std::uint64_t, const Pose2&) {});
  const VehicleState before = estimator.state();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Imu bad = imu_of(d, 3.1, 700);
  bad.linear_acceleration_mps2[1] = nan;
  estimator.add_imu(bad);
  estimator.add_imu(imu_of(d, 3.0, 700));
  estimator.add_imu(imu_of(d, 2.0, 700));
  estimator.add_wheels(at(3.1), nan);
  estimator.add_wheels(at(2.9), 0.0);
  estimator.add_velocity(at(3.1), {nan, 0.0});
  estimator.add_heading(at(3.1), nan);
  estimator.add_yaw_rate(at(3.1), std::numeric_limits<double>::infinity());
  estimator.add_pose(at(3.1), {0.0, nan, 0.0});
  estimator.add_pose(at(0.5), {0.0, 0.0, 0.0});
  const VehicleState after = estimator.state();
  CHECK(after.stamp == before.stamp);
  CHECK(after.pose == before.pose);
  CHECK(after.velocity == before.velocity);
  CHECK(estimator.counts(Measurement::kGyro).refused == 3);
  CHECK(estimator.counts(Measurement::kWheels).refused == 2);
  CHECK(estimator.counts(Measurement::kPose).refused == 2);
}

TEST_CASE("while the IMU is silent the wheels carry on, and say how little they know") {
  Drive d;
  d.velocity = [](double) { return Twist{2.0, 0.0, 0.0}; };
  VehicleStateEstimator estimator({});
  run(estimator, d, 3.0, [](double, std::uint64_t, const Pose2&) {});
  const VehicleState before = estimator.state();
  for (int i = 1; i <= 100; ++i) estimator.add_wheels(at(3.0 + 0.02 * i), 2.0);
  const VehicleState s = estimator.state();
  CHECK(s.velocity.x_mps == doctest::Approx(2.0).epsilon(0.05));
  CHECK(distance(s.pose.position(), before.pose.position()) == doctest::Approx(4.0).epsilon(0.05));
  CHECK(s.std_yaw_rad > 5.0 * before.std_yaw_rad);
  CHECK(s.std_vy_mps >= before.std_vy_mps);
}

TEST_CASE("an external yaw rate shows the bias without a standstill") {
  Drive d;
  d.gyro_bias = [](double) { return 1.0 * kDeg; };
  d.velocity = [](double t) { return Twist{2.0, 0.0, 0.5 * math::sin(t)}; };
  VehicleStateEstimator estimator({});
  run(estimator, d, 20.0, [&](double t, std::uint64_t k, const Pose2&) {
    if (k % 10 == 0) estimator.add_yaw_rate(at(t), d.velocity(t).yaw_radps);
  });
  CHECK(estimator.state().gyro_bias_radps / kDeg == doctest::Approx(1.0).epsilon(0.1));
  estimator.reset();
  CHECK(estimator.state().gyro_bias_radps / kDeg == doctest::Approx(1.0).epsilon(0.1));
  CHECK(estimator.state().velocity == Twist{});
}

TEST_CASE("same input, same bits, and nothing is allocated while it runs") {
  const Drive d = power_slides();
  VehicleStateEstimator a({});
  VehicleStateEstimator b({});
  std::size_t allocations = 0;
  for (std::uint64_t k = 0; k < 2400; ++k) {
    const double t = 0.005 * static_cast<double>(k);
    const Imu imu = imu_of(d, t, k);
    const AllocationGuard guard;
    for (VehicleStateEstimator* e : {&a, &b}) {
      e->add_imu(imu);
      if (k % 4 == 0) e->add_wheels(at(t), wheels_of(d, t, k));
      if (k % 20 == 0) e->add_velocity(at(t - 0.05), {1.0, 0.0});
    }
    allocations += guard.count();
  }
  CHECK(allocations == 0);
  CHECK(a.state().pose == b.state().pose);
  CHECK(a.state().velocity == b.state().velocity);
}

TEST_CASE("health: gravity that is not g, and a heading without reference for two minutes") {
  Drive d;
  d.velocity = [](double) { return Twist{}; };
  VehicleStateEstimator estimator({});
  for (std::uint64_t k = 0; k < 26'000; ++k) {
    Imu imu = imu_of(d, 0.005 * static_cast<double>(k), k);
    imu.linear_acceleration_mps2[2] = 9.95;
    estimator.add_imu(imu);
    if (k == 400) {
      CHECK(estimator.state().standing);
      CHECK(estimator.health().gravity_wrong);
      CHECK_FALSE(estimator.health().no_heading_reference);
      CHECK_FALSE(estimator.health().bias_large);
    }
  }
  CHECK(estimator.health().no_heading_reference);
}
