// SPDX-License-Identifier: Apache-2.0
// A controller whose parameters can change while it runs (live tuning), whichever it is: one that cannot change them itself is made anew
// with the new values and goes on from its last command; what it has seen before is forgotten, but the car does not jerk. A replay that
// makes the same changes at the same calls gives the same bits.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "core/controller.hpp"
#include "core/node.hpp"
#include "core/result.hpp"

namespace pitwall::controllers {

class Changeable final : public Controller {
 public:
  /// Makes the controller from all of its parameters, or says what is wrong with them.
  using Maker = std::function<Result<std::unique_ptr<Controller>>(const Node& parameters)>;

  /// Errors are those of `maker` for `parameters`.
  static Result<std::unique_ptr<Controller>> make(Node parameters, Maker maker);

  [[nodiscard]] std::string_view name() const override { return inner_->name(); }
  [[nodiscard]] Trigger trigger() const override { return inner_->trigger(); }
  /// With the parameters of the beginning.
  void reset(const Observation& first) override;
  Command update(const Observation& obs) override;
  Status change_parameters(const Node& changes) override;
  /// Of one that was made anew, since then.
  [[nodiscard]] std::vector<std::pair<std::string_view, double>> counters() const override { return inner_->counters(); }

 private:
  Changeable(Node parameters, Maker maker, std::unique_ptr<Controller> inner)
      : original_(parameters), parameters_(std::move(parameters)), maker_(std::move(maker)), inner_(std::move(inner)) {}

  Node original_;
  Node parameters_;
  Maker maker_;
  std::unique_ptr<Controller> inner_;
  bool changed_ = false;
  Time last_time_;
  std::optional<Command> last_;
};

}  // namespace pitwall::controllers
