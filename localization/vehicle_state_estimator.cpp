// SPDX-License-Identifier: Apache-2.0
#include "localization/vehicle_state_estimator.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "core/math.hpp"
#include "localization/pose_track.hpp"

namespace pitwall::localization {

namespace {

constexpr double kImuHeld_s = 0.1;        // after which its last sample says nothing any more
constexpr double kBlindAccel_mps2 = 3.0;  // per square root of s, while it is silent
constexpr double kGyroFilter_s = 0.03;    // of its derivative
constexpr double kWheelsFresh_s = 0.2;
constexpr double kStandingVelocity = 1e-4;  // variances
constexpr double kStandingTurn = 4e-6;
constexpr double kStandingAccel = 4e-4;
constexpr double kContradiction = 9.0;  // of the wheels, chi-square of one number
constexpr int kAgreeing = 5;            // samples in a row after which wheels are believed again
constexpr int kMostRefused = 3;
constexpr std::array<double, 4> kGate{0.0, 6.63, 9.21, 11.34};  // 99 % of chi-square with 1, 2, 3 numbers
constexpr double kMostBias_radps = 0.3 * math::kPi / 180.0;
constexpr double kKeptBias_radps = 0.1 * math::kPi / 180.0;
constexpr double kMostGravityError_mps2 = 0.1;
constexpr double kHeadingFor_s = 120.0;

double square(double x) { return x * x; }

bool all_finite(const std::array<double, 3>& a) { return std::isfinite(a[0]) && std::isfinite(a[1]) && std::isfinite(a[2]); }

}  // namespace

VehicleStateEstimator::VehicleStateEstimator(const VehicleStateParameters& parameters)
    : parameters_(parameters), standstill_(parameters.standstill), history_(4096) {
  const Status status = check_fields("vehicle_state", parameters);
  PITWALL_CHECK(status.ok(), status.error().message);
  recent_wheels_.reserve(1024);
  x_(kBias, 0) = parameters.bias_radps;
  p_(kBias, kBias) = square(parameters.bias_sigma_radps);
  p_(kScale, kScale) = square(parameters.scale_sigma);
  p_(kAx, kAx) = p_(kAy, kAy) = square(parameters.accel_bias_sigma_mps2);
}

void VehicleStateEstimator::reset() {
  VehicleStateEstimator fresh(parameters_);
  for (std::size_t i = kBias; i < kStates; ++i) {
    fresh.x_(i, 0) = x_(i, 0);
    for (std::size_t k = kBias; k < kStates; ++k) fresh.p_(i, k) = p_(i, k);
  }
  *this = std::move(fresh);
}

void VehicleStateEstimator::start(Time stamp) {
  started_ = true;
  now_ = stamp;
  for (const Index i : {kX, kY, kYaw}) p_(i, i) = 1e-4;
  for (const Index i : {kVx, kVy, kR}) p_(i, i) = 0.1;
  heading_reference_ = stamp;
  remember();
}

void VehicleStateEstimator::remember() {
  history_[history_next_] = {now_, x_, pushed_};
  history_next_ = (history_next_ + 1) % history_.size();
  history_count_ = std::min(history_count_ + 1, history_.size());
}

void VehicleStateEstimator::advance(Time stamp) {
  const double dt = (stamp - now_).seconds();
  if (!(dt > 0.0)) return;
  const bool felt = imu_stamp_ && (stamp - *imu_stamp_).seconds() <= kImuHeld_s;
  const Vec2 a = felt ? accel_ - Vec2{x_(kAx, 0), x_(kAy, 0)} : Vec2{};
  const auto [s, c] = math::sincos(x_(kYaw, 0));
  const double vx = x_(kVx, 0);
  const double vy = x_(kVy, 0);
  const double r = x_(kR, 0);
  StateMatrix f = identity<kStates>();
  f(kX, kYaw) = -dt * (vx * s + vy * c);
  f(kX, kVx) = dt * c;
  f(kX, kVy) = -dt * s;
  f(kY, kYaw) = dt * (vx * c - vy * s);
  f(kY, kVx) = dt * s;
  f(kY, kVy) = dt * c;
  f(kYaw, kR) = dt;
  if (felt) {
    f(kVx, kVy) = dt * r;
    f(kVx, kR) = dt * vy;
    f(kVy, kVx) = -dt * r;
    f(kVy, kR) = -dt * vx;
    f(kVx, kAx) = f(kVy, kAy) = -dt;
  }
  p_ = sandwich(f, p_);
  const double accel_noise = felt ? parameters_.accel_noise : kBlindAccel_mps2;
  const VehicleStateParameters& q = parameters_;
  const std::array<double, kStates> noise{q.place_noise,     q.place_noise, q.yaw_noise,  accel_noise,       accel_noise,
                                          q.yaw_accel_noise, q.bias_walk,   q.scale_walk, q.accel_bias_walk, q.accel_bias_walk};
  for (std::size_t i = 0; i < kStates; ++i) p_(i, i) += dt * square(noise[i]);
  const Pose2 moved = Pose2{x_(kX, 0), x_(kY, 0), x_(kYaw, 0)} * travelled({vx, vy, r}, dt);
  x_(kX, 0) = moved.x;
  x_(kY, 0) = moved.y;
  x_(kYaw, 0) += r * dt;
  if (felt) {
    const double push = (a.x + r * vy) * dt;
    x_(kVx, 0) += push;
    x_(kVy, 0) += (a.y - r * vx) * dt;
    pushed_ += push;
  }
  now_ = stamp;
  remember();
}

std::optional<VehicleStateEstimator::Past> VehicleStateEstimator::past(Time stamp) const {
  const Past* after = nullptr;
  for (std::size_t i = 0; i < history_count_; ++i) {
    const Past& entry = history_[(history_next_ + history_.size() - 1 - i) % history_.size()];
    if (entry.stamp > stamp) {
      after = &entry;
      continue;
    }
    if (after == nullptr || entry.stamp == stamp) return entry;
    const double share = (stamp - entry.stamp).seconds() / (after->stamp - entry.stamp).seconds();
    return Past{stamp, entry.x + share * (after->x - entry.x), entry.pushed + share * (after->pushed - entry.pushed)};
  }
  return std::nullopt;
}

template <std::size_t M>
void VehicleStateEstimator::correct(const Observed<M>& seen, const Matrix<M, M>& inverse_s, Time from) {
  const Matrix<kStates, M> gain = p_ * transposed(seen.jacobian) * inverse_s;
  const StateVector change = gain * seen.innovation;
  x_ = x_ + change;
  p_ = sandwich(identity<kStates>() - gain * seen.jacobian, p_) + sandwich(gain, diagonal(seen.variance));
  // So that the next late one is not compared with what this one has put right. The newest entry is the present.
  for (std::size_t i = 0; i < history_count_; ++i) {
    Past& entry = history_[(history_next_ + history_.size() - 1 - i) % history_.size()];
    if (entry.stamp < from) break;
    entry.x = entry.x + change;
  }
}

template <std::size_t M>
bool VehicleStateEstimator::update(Measurement kind, const Observed<M>& seen, bool gated, Time from) {
  const Matrix<M, M> inverse_s = inverse_of(sandwich(seen.jacobian, p_) + diagonal(seen.variance));
  const double nis = (transposed(seen.innovation) * inverse_s * seen.innovation)(0, 0);
  MeasurementCounts& count = counted(kind);
  int& in_a_row = refused_in_a_row_[static_cast<std::size_t>(kind)];
  if (gated && nis > kGate[M] && in_a_row < kMostRefused) {
    ++in_a_row;
    ++count.gated;
    return false;
  }
  in_a_row = 0;
  ++count.used;
  count.sum_nis += nis;
  correct(seen, inverse_s, from);
  return true;
}

std::optional<VehicleStateEstimator::Past> VehicleStateEstimator::taken_at(Measurement kind, Time stamp, bool finite) {
  if (finite) {
    if (!started_) start(stamp);
    advance(stamp);
    if (now_ - stamp <= from_seconds(parameters_.history_s)) {
      if (const auto then = past(stamp)) return then;
    }
  }
  ++counted(kind).refused;
  return std::nullopt;
}

// Velocity and turn are zero, and what the accelerometer reads is its bias: `level` with gravity taken off.
void VehicleStateEstimator::stand(Vec2 level_mps2) {
  Observed<5> still;
  const std::array<std::size_t, 5> of{kVx, kVy, kR, kAx, kAy};
  const std::array<double, 5> is{0.0, 0.0, 0.0, level_mps2.x, level_mps2.y};
  for (std::size_t i = 0; i < of.size(); ++i) {
    still.jacobian(i, of[i]) = 1.0;
    still.innovation.v[i] = is[i] - x_(of[i], 0);
  }
  still.variance = {kStandingVelocity, kStandingVelocity, kStandingTurn, kStandingAccel, kStandingAccel};
  correct(still, inverse_of(sandwich(still.jacobian, p_) + diagonal(still.variance)), now_);
  const std::array<double, 3>& mean = standstill_.mean_accel();
  gravity_off_ = std::sqrt(square(mean[0]) + square(mean[1]) + square(mean[2])) - math::kStandardGravity_mps2;
}

void VehicleStateEstimator::add_imu(const Imu& imu, double roll_rad, double pitch_rad) {
  const std::array<double, 3>& w = imu.angular_velocity_radps;
  const std::array<double, 3>& f = imu.linear_acceleration_mps2;
  const bool finite = all_finite(w) && all_finite(f) && std::isfinite(roll_rad) && std::isfinite(pitch_rad);
  if (!finite || (imu_stamp_ && imu.stamp <= *imu_stamp_)) {
    ++counted(Measurement::kGyro).refused;
    return;
  }
  const double dt = imu_stamp_ ? (imu.stamp - *imu_stamp_).seconds() : 0.0;
  const bool continues = dt > 0.0 && dt <= kImuHeld_s;
  gyro_acceleration_ = continues ? gyro_acceleration_ + dt / (kGyroFilter_s + dt) * ((w[2] - gyro_) / dt - gyro_acceleration_) : 0.0;
  gyro_ = w[2];
  const Vec2 gravity{-math::kStandardGravity_mps2 * math::sin(pitch_rad),
                     math::kStandardGravity_mps2 * math::cos(pitch_rad) * math::sin(roll_rad)};
  const double turn = (w[2] - x_(kBias, 0)) / (1.0 + x_(kScale, 0));
  const Vec2 mount{parameters_.imu_x_m, parameters_.imu_y_m};
  const Vec2 felt = Vec2{f[0], f[1]} - gravity + turn * turn * mount - gyro_acceleration_ * perpendicular(mount);
  // A step is predicted with the mean of both its ends.
  accel_ = continues ? 0.5 * (accel_ + felt) : felt;
  imu_stamp_ = imu.stamp;
  const auto then = taken_at(Measurement::kGyro, imu.stamp, true);
  accel_ = felt;
  if (!then) return;
  Observed<1> seen;
  seen.innovation = {{w[2] - (1.0 + then->x(kScale, 0)) * then->x(kR, 0) - then->x(kBias, 0)}};
  seen.jacobian(0, kR) = 1.0 + x_(kScale, 0);
  seen.jacobian(0, kBias) = 1.0;
  seen.jacobian(0, kScale) = x_(kR, 0);
  seen.variance = {square(parameters_.gyro_sigma_radps)};
  update(Measurement::kGyro, seen, false, now_);
  const bool wheels_fresh = wheels_ && (imu.stamp - wheels_->stamp).seconds() <= kWheelsFresh_s;
  standing_ = standstill_.update(imu.stamp, w, f, wheels_fresh ? std::optional(wheels_->speed_mps) : std::nullopt);
  if (standing_) stand(Vec2{standstill_.mean_accel()[0], standstill_.mean_accel()[1]} - gravity);
}

double VehicleStateEstimator::wheel_sigma(double speed_mps) const {
  return math::hypot(parameters_.wheel_sigma_mps, parameters_.wheel_sigma_share * speed_mps);
}

// Whether the wheels turn otherwise than the car moves.
bool VehicleStateEstimator::wheels_contradict(const WheelSample& sample, double innovation_mps) {
  const Time begin = sample.stamp - from_seconds(parameters_.slip_window_s);
  recent_wheels_.erase(recent_wheels_.begin(), std::find_if(recent_wheels_.begin(), recent_wheels_.end(),
                                                            [begin](const WheelSample& s) { return s.stamp >= begin; }));
  recent_wheels_.push_back(sample);
  // What the accelerometer does not account for: means over both halves of the window, since single readings are noisy.
  const std::size_t half = recent_wheels_.size() / 2;
  const auto mean_of = [this](std::size_t from, std::size_t to) {
    double sum = 0.0;
    for (std::size_t i = from; i < to; ++i) sum += recent_wheels_[i].speed_mps - recent_wheels_[i].pushed;
    return sum / static_cast<double>(std::max<std::size_t>(1, to - from));
  };
  const double unexplained = half == 0 ? 0.0 : mean_of(recent_wheels_.size() - half, recent_wheels_.size()) - mean_of(0, half);
  const double noise = wheel_sigma(sample.speed_mps);
  const double limit = parameters_.slip_change_mps + 3.0 * noise * std::sqrt(2.0 / static_cast<double>(std::max<std::size_t>(1, half)));
  const double expected = p_(kVx, kVx) + noise * noise;
  const bool off = std::abs(unexplained) > limit || square(innovation_mps) > kContradiction * expected;
  if (!slip_since_) {
    agreeing_ = 0;
    if (off) slip_since_ = sample.stamp;
    return off;
  }
  const bool agrees = !off && square(innovation_mps) < 4.0 * expected;
  agreeing_ = agrees ? agreeing_ + 1 : 0;
  const bool too_long = (sample.stamp - *slip_since_).seconds() > parameters_.slip_longest_s;
  if (too_long) p_(kVx, kVx) += square(innovation_mps);  // nothing slips for so long: it is the filter that is off
  if (too_long || agreeing_ >= kAgreeing) {
    slip_since_.reset();
    recent_wheels_.clear();
  }
  return slip_since_.has_value();
}

void VehicleStateEstimator::add_wheels(Time stamp, double speed_mps) {
  const bool newer = !wheels_ || stamp > wheels_->stamp;
  const auto then = taken_at(Measurement::kWheels, stamp, std::isfinite(speed_mps) && newer);
  if (!then) return;
  const bool first = !wheels_;
  wheels_ = WheelSample{stamp, speed_mps, then->pushed};
  Observed<1> rolling;
  rolling.innovation = {{speed_mps - then->x(kVx, 0)}};
  rolling.jacobian(0, kVx) = 1.0;
  rolling.variance = {square(wheel_sigma(speed_mps))};
  const bool silent = !imu_stamp_ || (stamp - *imu_stamp_).seconds() > kImuHeld_s;
  // Without an accelerometer there is nothing that could contradict them.
  if (!first && !silent && wheels_contradict(*wheels_, rolling.innovation(0, 0))) {
    ++counted(Measurement::kWheels).gated;
    return;
  }
  update(Measurement::kWheels, rolling, false, now_);
  const double vx = x_(kVx, 0);
  const bool unloaded = std::abs(accel_.y - x_(kAy, 0)) < parameters_.no_slide_mps2 && std::abs(x_(kR, 0) * vx) < parameters_.no_slide_mps2;
  if (!unloaded || std::abs(vx) < parameters_.no_slide_from_mps) return;
  Observed<1> no_slide;
  no_slide.innovation = {{-x_(kVy, 0)}};
  no_slide.jacobian(0, kVy) = 1.0;
  no_slide.variance = {square(parameters_.no_slide_sigma_mps)};
  correct(no_slide, inverse_of(sandwich(no_slide.jacobian, p_) + diagonal(no_slide.variance)), now_);
}

void VehicleStateEstimator::add_velocity(Time stamp, Vec2 velocity_mps, Vec2 sigma_mps) {
  const bool finite = std::isfinite(velocity_mps.x) && std::isfinite(velocity_mps.y);
  const auto then = taken_at(Measurement::kVelocity, stamp, finite);
  if (!then) return;
  Observed<2> seen;
  seen.innovation = {{velocity_mps.x - then->x(kVx, 0), velocity_mps.y - then->x(kVy, 0)}};
  seen.jacobian(0, kVx) = seen.jacobian(1, kVy) = 1.0;
  seen.variance = {square(sigma_mps.x > 0.0 ? sigma_mps.x : parameters_.velocity_sigma_mps),
                   square(sigma_mps.y > 0.0 ? sigma_mps.y : parameters_.velocity_sigma_mps)};
  update(Measurement::kVelocity, seen, true, stamp);
}

void VehicleStateEstimator::add_yaw_rate(Time stamp, double yaw_rate_radps, double sigma_radps) {
  const auto then = taken_at(Measurement::kYawRate, stamp, std::isfinite(yaw_rate_radps));
  if (!then) return;
  Observed<1> seen;
  seen.innovation = {{yaw_rate_radps - then->x(kR, 0)}};
  seen.jacobian(0, kR) = 1.0;
  seen.variance = {square(sigma_radps > 0.0 ? sigma_radps : parameters_.yaw_rate_sigma_radps)};
  update(Measurement::kYawRate, seen, true, stamp);
}

void VehicleStateEstimator::add_heading(Time stamp, double yaw_rad, double sigma_rad) {
  const auto then = taken_at(Measurement::kHeading, stamp, std::isfinite(yaw_rad));
  if (!then) return;
  const double sigma = sigma_rad > 0.0 ? sigma_rad : parameters_.heading_sigma_rad;
  if (!framed_) {
    set_frame({then->x(kX, 0), then->x(kY, 0), yaw_rad}, *then, {p_(kX, kX), p_(kY, kY), square(sigma)});
    ++counted(Measurement::kHeading).used;
    return;
  }
  Observed<1> seen;
  seen.innovation = {{wrap_angle(yaw_rad - then->x(kYaw, 0))}};
  seen.jacobian(0, kYaw) = 1.0;
  seen.variance = {square(sigma)};
  if (update(Measurement::kHeading, seen, true, stamp)) heading_reference_ = stamp;
}

// The state as if it had been at T_map_base then.
void VehicleStateEstimator::set_frame(const Pose2& T_map_base, const Past& then, const std::array<double, 3>& variance) {
  const Pose2 T_frame_base{then.x(kX, 0), then.x(kY, 0), then.x(kYaw, 0)};
  const Pose2 T_map_frame = T_map_base * inverse(T_frame_base);
  const auto moved = [&T_map_frame](StateVector& x) {
    const Vec2 p = T_map_frame * Vec2{x(kX, 0), x(kY, 0)};
    x(kX, 0) = p.x;
    x(kY, 0) = p.y;
    x(kYaw, 0) += T_map_frame.yaw;
  };
  moved(x_);
  for (std::size_t i = 0; i < history_count_; ++i) moved(history_[(history_next_ + history_.size() - 1 - i) % history_.size()].x);
  for (const std::size_t i : {std::size_t{kX}, std::size_t{kY}, std::size_t{kYaw}}) {
    for (std::size_t k = 0; k < kStates; ++k) p_(i, k) = p_(k, i) = 0.0;
    p_(i, i) = variance[i];
  }
  framed_ = true;
  heading_reference_ = then.stamp;
}

void VehicleStateEstimator::add_pose(Time stamp, const Pose2& T_map_base) {
  const auto then = taken_at(Measurement::kPose, stamp, is_finite(T_map_base));
  if (!then) return;
  const std::array<double, 3> variance{square(parameters_.place_sigma_m), square(parameters_.place_sigma_m),
                                       square(parameters_.heading_sigma_rad)};
  if (!placed_) {
    placed_ = true;
    set_frame(T_map_base, *then, variance);
    ++counted(Measurement::kPose).used;
    return;
  }
  // Brought forward by the own way since.
  const Pose2 here{x_(kX, 0), x_(kY, 0), x_(kYaw, 0)};
  const Pose2 seen_now = T_map_base * increment({then->x(kX, 0), then->x(kY, 0), then->x(kYaw, 0)}, here);
  Observed<3> seen;
  seen.innovation = {{seen_now.x - here.x, seen_now.y - here.y, wrap_angle(seen_now.yaw - here.yaw)}};
  seen.jacobian(0, kX) = seen.jacobian(1, kY) = seen.jacobian(2, kYaw) = 1.0;
  seen.variance = variance;
  if (update(Measurement::kPose, seen, true, stamp)) heading_reference_ = stamp;
}

VehicleState VehicleStateEstimator::state() const {
  VehicleState s;
  s.stamp = now_;
  s.pose = {x_(kX, 0), x_(kY, 0), wrap_angle(x_(kYaw, 0))};
  s.velocity = {x_(kVx, 0), x_(kVy, 0), x_(kR, 0)};
  s.slip_angle_rad = norm({s.velocity.x_mps, s.velocity.y_mps}) < 0.3 ? 0.0 : math::atan2(s.velocity.y_mps, s.velocity.x_mps);
  s.wheel_slip = wheels_ ? (wheels_->speed_mps - s.velocity.x_mps) / std::max(std::abs(s.velocity.x_mps), 0.5) : 0.0;
  s.gyro_bias_radps = x_(kBias, 0);
  s.gyro_scale = x_(kScale, 0);
  s.accel_bias_mps2 = {x_(kAx, 0), x_(kAy, 0)};
  s.std_bias_radps = std::sqrt(p_(kBias, kBias));
  s.std_scale = std::sqrt(p_(kScale, kScale));
  s.std_vx_mps = std::sqrt(p_(kVx, kVx));
  s.std_vy_mps = std::sqrt(p_(kVy, kVy));
  s.std_yaw_rad = std::sqrt(p_(kYaw, kYaw));
  s.standing = standing_;
  s.wheels_slip = slip_since_.has_value();
  return s;
}

VehicleStateHealth VehicleStateEstimator::health() const {
  VehicleStateHealth h;
  h.bias_large = std::abs(x_(kBias, 0)) > kMostBias_radps;
  h.gravity_wrong = standing_ && std::abs(gravity_off_) > kMostGravityError_mps2;
  h.no_heading_reference = started_ && (now_ - heading_reference_).seconds() > kHeadingFor_s;
  return h;
}

std::optional<double> VehicleStateEstimator::bias_to_keep() const {
  if (std::sqrt(p_(kBias, kBias)) > kKeptBias_radps) return std::nullopt;
  return x_(kBias, 0);
}

}  // namespace pitwall::localization
