// SPDX-License-Identifier: Apache-2.0
#include "controllers/changeable.hpp"

#include <utility>

#include "core/check.hpp"

namespace pitwall::controllers {

Result<std::unique_ptr<Controller>> Changeable::make(Node parameters, Maker maker) {
  Result<std::unique_ptr<Controller>> inner = maker(parameters);
  if (!inner) return inner.error();
  return std::unique_ptr<Controller>(new Changeable(std::move(parameters), std::move(maker), *std::move(inner)));
}

void Changeable::reset(const Observation& first) {
  if (std::exchange(changed_, false)) {
    parameters_ = original_;
    Result<std::unique_ptr<Controller>> made = maker_(parameters_);
    PITWALL_CHECK(made.ok());  // it was made of them before
    inner_ = *std::move(made);
  }
  last_.reset();
  inner_->reset(first);
}

Command Changeable::update(const Observation& obs) {
  last_time_ = obs.now;
  last_ = inner_->update(obs);
  return *last_;
}

Status Changeable::change_parameters(const Node& changes) {
  Node parameters = parameters_;
  lay_over(changes, parameters);
  Result<std::unique_ptr<Controller>> made = maker_(parameters);
  if (!made) return made.error();
  parameters_ = std::move(parameters);
  changed_ = true;
  if (inner_->change_parameters(changes)) return {};
  inner_ = *std::move(made);
  Observation nothing;
  nothing.now = last_time_;
  inner_->reset(nothing);
  if (last_) inner_->resume(*last_, last_time_);
  return {};
}

}  // namespace pitwall::controllers
