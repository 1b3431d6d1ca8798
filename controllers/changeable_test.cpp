// SPDX-License-Identifier: Apache-2.0
#include "controllers/changeable.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/text.hpp"

using namespace pitwall;

namespace {

/// Counts its calls, and commands `speed` plus that count; goes on from the speed that it is given.
class Counting final : public Controller {
 public:
  explicit Counting(double speed) : speed_(speed) {}
  [[nodiscard]] std::string_view name() const override { return "counting"; }
  [[nodiscard]] Trigger trigger() const override { return {from_seconds(0.1 * speed_)}; }
  void reset(const Observation& /*first*/) override { calls_ = 0; }
  Command update(const Observation& /*obs*/) override {
    Command command;
    command.speed_mps = static_cast<float>(speed_ + ++calls_) + resumed_;
    return command;
  }
  void resume(const Command& last, Time at) override { resumed_ = last.speed_mps + static_cast<float>(at.ns); }

 private:
  double speed_;
  int calls_ = 0;
  float resumed_ = 0.0F;
};

Result<std::unique_ptr<Controller>> counting(const Node& parameters) {
  const Node* speed = parameters.find("speed");
  const auto value = speed != nullptr ? parse_double(speed->scalar) : std::nullopt;
  if (!value || *value > 10.0) return Error{"speed is off"};
  return std::unique_ptr<Controller>(std::make_unique<Counting>(*value));
}

float speed_at(Controller& controller, std::int64_t ns) {
  Observation obs;
  obs.now = {ns};
  return controller.update(obs).speed_mps;
}

}  // namespace

TEST_CASE("a changed parameter is in force from the next call; the last command goes on, all else begins anew") {
  auto made = controllers::Changeable::make(*parse_yaml("{speed: 2}", "test"), counting);
  REQUIRE(made.ok());
  Controller& controller = **made;
  controller.reset({});
  CHECK(controller.name() == "counting");
  CHECK(speed_at(controller, 5) == 3.0F);
  CHECK(speed_at(controller, 6) == 4.0F);
  REQUIRE(controller.change_parameters(*parse_yaml("{speed: 3}", "test")).ok());
  CHECK(controller.trigger().period->ns == 300'000'000);
  CHECK(speed_at(controller, 7) == 3.0F + 1.0F + 4.0F + 6.0F);
  controller.reset({});
  CHECK(speed_at(controller, 8) == 3.0F);  // as at the beginning
}

TEST_CASE("a change that is refused changes nothing") {
  auto made = controllers::Changeable::make(*parse_yaml("{speed: 2}", "test"), counting);
  Controller& controller = **made;
  controller.reset({});
  CHECK(speed_at(controller, 1) == 3.0F);
  const Node change = *parse_yaml("{speed: 11}", "test");
  CHECK(controller.change_parameters(change).error().message == "speed is off");
  CHECK(speed_at(controller, 2) == 4.0F);
  Counting bare(1.0);
  CHECK(bare.change_parameters(change).error().message == "counting: its parameters are fixed while it drives");
  CHECK(controllers::Changeable::make(*parse_yaml("{speed: 20}", "test"), counting).error().message == "speed is off");
}
