// SPDX-License-Identifier: Apache-2.0
// The car that the emulated VESC's commands drive, on an injected clock.
#include "apps/emulated_world.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/math.hpp"
#include "drivers/emulators/vesc_fields.hpp"

namespace pitwall::apps {
namespace {

using emulators::VescPayload;
namespace vesc_id = emulators::vesc_id;

/// A car with its devices, driven by frames.
class Bench {
 public:
  explicit Bench(const std::string& track, std::int64_t seed = 1) {
    Result<std::unique_ptr<EmulatedWorld>> made = EmulatedWorld::make({track, "rb2", seed, 0.0, {"world.on_contact=record"}});
    REQUIRE_MESSAGE(made.ok(), (made.ok() ? "" : made.error().message));
    world_ = *std::move(made);
    const emulators::RigOptions options = world_->devices();
    vesc_ = std::make_unique<emulators::Vesc>(*options.vesc);
    hokuyo_ = std::make_unique<emulators::Hokuyo>(*options.hokuyo);
    (void)world_->advance(Time{}, devices());
  }

  [[nodiscard]] emulators::Rig::Devices devices() { return {vesc_.get(), hokuyo_.get(), nullptr, nullptr, nullptr, nullptr}; }
  void send(std::uint8_t id, double value, double scale) {
    VescPayload p(id);
    if (id == vesc_id::kSetServoPos) {
      p.i16(value, scale);
    } else {
      p.i32(value, scale);
    }
    vesc_->receive(now_, emulators::vesc_frame(p.bytes()));
  }
  void rpm(double speed_mps) { send(vesc_id::kSetRpm, std::round(world_->hardware().speed_to_erpm_gain * speed_mps), 1.0); }
  void steer(double steering_rad) {
    const auto& h = world_->hardware();
    send(vesc_id::kSetServoPos, h.servo_gain_per_rad * steering_rad + h.servo_offset, 1e3);
  }
  /// Lets time pass in steps of 5 ms; `before_step` may send.
  void run(double seconds, const std::function<void()>& before_step = {}) {
    for (int i = 0; i < static_cast<int>(seconds * 200.0 + 0.5); ++i) {
      if (before_step) before_step();
      now_ = now_ + from_milliseconds(5);
      vesc_->advance(now_);
      (void)world_->advance(now_, devices());
    }
  }

  [[nodiscard]] EmulatedWorld& world() { return *world_; }
  [[nodiscard]] emulators::Vesc& vesc() { return *vesc_; }
  [[nodiscard]] emulators::Hokuyo& hokuyo() { return *hokuyo_; }

 private:
  std::unique_ptr<EmulatedWorld> world_;
  std::unique_ptr<emulators::Vesc> vesc_;
  std::unique_ptr<emulators::Hokuyo> hokuyo_;
  Time now_;
};

}  // namespace

TEST_CASE("a positive eRPM drives ahead, and eRPM and tachometer say so") {
  Bench bench("larkfield");
  bench.run(2.0, [&] { bench.rpm(2.0); });
  CHECK(bench.world().speed_mps() == doctest::Approx(2.0).epsilon(0.02));
  CHECK(bench.vesc().motor().erpm == doctest::Approx(2.0 * 4614.0).epsilon(0.05));
  const double before = bench.vesc().motor().revolutions;
  const double progress = bench.world().report(bench.devices()).progress_m;
  bench.run(1.0, [&] { bench.rpm(2.0); });
  const double way = bench.world().report(bench.devices()).progress_m - progress;
  CHECK((bench.vesc().motor().revolutions - before) * 60.0 / 4614.0 == doctest::Approx(way).epsilon(0.05));
  Bench back("larkfield");
  back.run(2.0, [&] { back.rpm(-1.0); });
  CHECK(back.world().speed_mps() == doctest::Approx(-1.0).epsilon(0.05));
  CHECK(back.vesc().motor().revolutions < 0.0);
}

TEST_CASE("a brake current slows the car by its force, and then holds") {
  for (const double amperes : {10.0, 25.0}) {
    CAPTURE(amperes);
    Bench bench("larkfield");
    bench.run(2.0, [&] { bench.rpm(3.0); });
    const auto brake = [&] { bench.send(vesc_id::kSetCurrentBrake, amperes, 1e3); };
    bench.run(0.15, brake);
    const double from = bench.world().speed_mps();
    bench.run(0.2, brake);
    const double deceleration = (from - bench.world().speed_mps()) / 0.2;
    CHECK(deceleration == doctest::Approx(amperes * bench.world().mps2_per_a()).epsilon(0.2));
    bench.run(3.0, brake);
    CHECK(std::fabs(bench.world().speed_mps()) < 0.01);
  }
}

TEST_CASE("RPM 0 and a timeout without brake current roll out") {
  Bench bench("larkfield");
  bench.run(2.0, [&] { bench.rpm(3.0); });
  bench.run(0.5, [&] { bench.rpm(0.0); });
  CHECK(bench.world().speed_mps() > 2.5);
  Bench left("larkfield");
  left.run(2.0, [&] { left.rpm(3.0); });
  left.run(0.9);
  CHECK(left.world().speed_mps() == doctest::Approx(3.0).epsilon(0.02));
  left.run(0.6);
  CHECK(left.vesc().timed_out());
  CHECK(left.world().speed_mps() < 2.95);
  CHECK(left.world().speed_mps() > 2.3);
}

TEST_CASE("a servo above its offset turns right, as the map of the profile has it") {
  Bench bench("larkfield");
  bench.run(2.0, [&] {
    bench.rpm(1.0);
    bench.steer(0.1);
  });
  const double expected = bench.world().speed_mps() * math::tan(0.1) / bench.world().parameters().wheelbase_m;
  CHECK(bench.world().yaw_rate_radps() == doctest::Approx(expected).epsilon(0.15));
}

TEST_CASE("scans come 40 times a second as the host asked for them, with the stamps of the device's clock") {
  Bench bench("larkfield");
  const std::string request = "MD0000108000000\n";
  bench.hokuyo().receive(Time{}, emulators::Bytes(request.begin(), request.end()));
  (void)bench.hokuyo().take();
  bench.run(1.1);
  CHECK(bench.hokuyo().scans_sent() >= 40);
  CHECK(bench.hokuyo().scans_sent() <= 44);
}

TEST_CASE("the same frames at the same times give the same drive") {
  const auto drive = [] {
    Bench bench("larkfield", 7);
    int step = 0;
    bench.run(3.0, [&] {
      bench.rpm(2.0);
      bench.steer(0.05 * math::sin(0.05 * ++step));
    });
    return std::pair{bench.world().speed_mps(), bench.world().yaw_rate_radps()};
  };
  CHECK(drive() == drive());
}

TEST_CASE("a car of the simulator only is refused, and what is unknown is named") {
  const auto complaint = [](const EmulatedWorldOptions& options) {
    const auto made = EmulatedWorld::make(options);
    return made ? std::string() : made.error().message;
  };
  CHECK(complaint({"larkfield", "f1tenth", 1, 0.0, {}}).find("rb1 or rb2") != std::string::npos);
  CHECK(complaint({"larkfeld", "rb2", 1, 0.0, {}}).find("did you mean 'larkfield'") != std::string::npos);
  CHECK(complaint({"circuits", "rb2", 1, 0.0, {}}).find("give one") != std::string::npos);
}

}  // namespace pitwall::apps
