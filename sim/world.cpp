// SPDX-License-Identifier: Apache-2.0
#include "sim/world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/check.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"
#include "sim/contact.hpp"
#include "sim/response.hpp"
#include "sim/sim_car.hpp"

namespace pitwall::sim {
namespace {

constexpr std::size_t kContactsKept = 1024;

std::string text(const Pose2& pose) {
  return "(" + format_number(pose.x, 6) + ", " + format_number(pose.y, 6) + ", " + format_number(pose.yaw, 6) + " rad)";
}

Status check_period(const std::string& car, const std::string& key, double period_s, const WorldSettings& settings) {
  const std::int64_t period = from_seconds(period_s).ns;
  const std::int64_t step = from_seconds(settings.step_s).ns;
  if (period % step == 0) return {};
  return Error{car + ": " + key + " = " + format_exact(period_s) +
               ": must be a multiple of the physics step, step_s = " + format_exact(settings.step_s)};
}

Status check_sensors(const CarSetup& car, const WorldSettings& settings) {
  if (const Status status = check_fields(car.name + ": sensors", car.sensors); !status) return status;
  const std::array<std::pair<const char*, double>, 4> periods{{{"sensors.lidar.period_s", car.sensors.lidar.period_s},
                                                               {"sensors.odometry.period_s", car.sensors.odometry.period_s},
                                                               {"sensors.pose.period_s", car.sensors.pose.period_s},
                                                               {"sensors.joy.period_s", car.sensors.joy.period_s}}};
  for (const auto& [key, period_s] : periods) {
    if (const Status status = check_period(car.name, key, period_s, settings); !status) return status;
  }
  if (car.sensors.lidar.range_min_m >= car.sensors.lidar.range_max_m) {
    return Error{car.name + ": sensors.lidar.range_min_m = " + format_exact(car.sensors.lidar.range_min_m) +
                 ": must be below range_max_m = " + format_exact(car.sensors.lidar.range_max_m)};
  }
  return {};
}

Status check_controller(const CarSetup& car) {
  if (!car.controller) return {};
  const Trigger trigger = car.controller->trigger();
  const std::string who = car.name + ": controller '" + std::string(car.controller->name()) + "'";
  if (trigger.period && trigger.period->ns < 100'000) {
    return Error{who + ": period " + format_exact(trigger.period->seconds()) + " s; allowed: 0.0001 s or more"};
  }
  if (!trigger.period && !car.sensors.lidar.enabled) return Error{who + " runs on scans, but sensors.lidar.enabled is false"};
  return {};
}

Status check_start(const CarSetup& car, const Place& place) {
  const Pose2& start = car.start;
  if (!std::isfinite(start.x) || !std::isfinite(start.y) || !std::isfinite(start.yaw))
    return Error{car.name + ": start " + text(start) + " is not finite"};
  if (!std::isfinite(car.start_speed_mps))
    return Error{car.name + ": start_speed_mps = " + format_exact(car.start_speed_mps) + " is not finite"};
  const BodyRectangle chassis = car.parameters.chassis();
  if (!inside(chassis, start, *place.map)) {
    return Error{car.name + ": start " + text(start) + " is outside the map of " +
                 format_number(place.map->width() * place.map->resolution_m(), 5) + " x " +
                 format_number(place.map->height() * place.map->resolution_m(), 5) + " m with its corner at " + text(place.map->origin())};
  }
  if (overlaps(chassis, start, *place.map)) return Error{car.name + ": start " + text(start) + " is in a wall"};
  return {};
}

Status check_pairs(const std::vector<CarSetup>& cars) {
  for (std::size_t i = 0; i < cars.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (cars[i].name == cars[j].name) {
        return Error{"cars " + std::to_string(j) + " and " + std::to_string(i) + " are both named '" + cars[i].name +
                     "'; names must differ"};
      }
      if (overlaps(cars[i].parameters.chassis(), cars[i].start, cars[j].parameters.chassis(), cars[j].start)) {
        return Error{cars[i].name + ": start " + text(cars[i].start) + " is in " + cars[j].name + " at " + text(cars[j].start)};
      }
    }
  }
  return {};
}

Status check_place(const Place& place) {
  if (!place.map || !place.rays || !place.distance) return Error{"world: no map"};
  PITWALL_CHECK(&place.rays->map() == place.map.get());
  return place.line ? check_lap_line(*place.line) : Status{};
}

}  // namespace

void WorldSettings::fields(FieldVisitor& f) {
  f.number("step_s", step_s, {"s", 1e-4, 0.1, "physics step"});
  f.integer("seed", seed, {"", 0, 9.0e15, "of every noise stream"});
  f.enumeration("on_contact", on_contact, kContactPolicyNames, "what a contact does to a car");
  f.number("surface_friction", surface_friction, {"", 0.0, 3.0, "of the floor; 0: the one each car was calibrated on"});
}

class World::Impl {
 public:
  Impl(Place place, const WorldSettings& settings) : place_(std::move(place)), settings_(settings), step_(from_seconds(settings.step_s)) {}

  Status add(CarSetup setup) {
    const double friction = settings_.surface_friction > 0.0 ? settings_.surface_friction : setup.parameters.surface_friction;
    auto plant = plant::Plant::make(setup.parameters, setup.plant, friction);
    if (!plant) return Error{setup.name + ": " + plant.error().message};
    cars_.push_back(std::make_unique<SimCar>(std::move(setup), std::move(*plant), place_, static_cast<std::uint64_t>(settings_.seed)));
    return {};
  }

  void reset() {
    const std::size_t n = cars_.size();
    now_ = {};
    trace_ = {};
    contacts_.clear();
    contacts_.reserve(kContactsKept);
    lost_contacts_ = 0;
    begun_.clear();
    begun_.reserve(n * (n + 2));
    touching_.assign(n * (n + 1), 0);
    first_touch_.assign(n, 2.0);
    others_.reserve(n);
    colliding_.reserve(n);
    colliding_index_.reserve(n);
    for (auto& car : cars_) car->reset();
  }

  void observe(RunObserver* observer) {
    for (std::size_t i = 0; i < cars_.size(); ++i) cars_[i]->observe(observer, i);
  }

  void step() {
    const Time to = now_ + step_;
    look();
    decide(to);
    for (auto& car : cars_) car->move(now_, step_);
    touch();
    trace_.add(to.ns);
    for (auto& car : cars_) car->count(to, trace_);
    now_ = to;
  }

  void look() {
    for (std::size_t i = 0; i < cars_.size(); ++i) {
      others_.clear();
      for (std::size_t j = 0; j < cars_.size(); ++j) {
        if (j != i) others_.push_back(cars_[j]->seen());
      }
      cars_[i]->look(now_, others_);
    }
  }

  void decide(Time end) {
    for (;;) {
      Time next = kNever;
      for (const auto& car : cars_) next = std::min(next, car->next_event());
      if (next >= end) return;
      for (auto& car : cars_) car->deliver(next, trace_);
      for (auto& car : cars_) car->decide(next, trace_);
    }
  }

  void touch() {
    const std::size_t n = cars_.size();
    begun_.clear();
    std::fill(first_touch_.begin(), first_touch_.end(), 2.0);
    for (auto& car : cars_) car->state().touching = false;
    for (std::size_t i = 0; i < n; ++i) {
      touch_wall(i);
      for (std::size_t j = 0; j < i; ++j) touch_pair(i, j);
    }
    for (std::size_t i = 0; i < n; ++i) {
      CarState& state = cars_[i]->state();
      if (state.touching) {
        state.contact = true;
        state.contact_steps += 1;
      }
      leave_map(i);
    }
    keep_contacts();
    if (settings_.on_contact == ContactPolicy::kStop) {
      for (std::size_t i = 0; i < n; ++i) {
        if (first_touch_[i] <= 1.0 && !cars_[i]->state().stopped) cars_[i]->stand(pose_at(cars_[i]->motion(), first_touch_[i]));
      }
    }
    if (settings_.on_contact == ContactPolicy::kRespond) respond();
  }

  void touch_wall(std::size_t i) {
    const SimCar& car = *cars_[i];
    const auto touch = first_wall_touch(car.chassis(), car.motion(), step_, *place_.map, *place_.distance);
    note(i, kWall, i * (cars_.size() + 1) + cars_.size(), touch);
  }

  void touch_pair(std::size_t i, std::size_t j) {
    const SimCar& a = *cars_[i];
    const SimCar& b = *cars_[j];
    auto touch = first_car_touch(a.chassis(), a.motion(), b.chassis(), b.motion(), step_);
    note(i, static_cast<int>(j), i * (cars_.size() + 1) + j, touch);
    if (touch) touch->normal = -touch->normal;
    note(j, static_cast<int>(i), j * (cars_.size() + 1) + i, touch);
  }

  // One event per car and partner until they part.
  void note(std::size_t i, int partner, std::size_t pair, const std::optional<Touch>& touch) {
    const bool before = touching_[pair] != 0;
    touching_[pair] = touch ? 1 : 0;
    if (!touch) return;
    cars_[i]->state().touching = true;
    first_touch_[i] = std::min(first_touch_[i], touch->u);
    if (!before) begin(i, partner, *touch);
  }

  void begin(std::size_t i, int partner, const Touch& touch) {
    ContactEvent event;
    event.time = now_ + from_seconds(touch.u * step_.seconds());
    event.car = static_cast<int>(i);
    event.partner = partner;
    event.point = touch.point;
    event.normal = touch.normal;
    event.closing_speed_mps = touch.closing_speed_mps;
    event.T_map_base = pose_at(cars_[i]->motion(), touch.u);
    event.speed_mps = cars_[i]->state().velocity_mps.x;
    begun_.push_back(event);
  }

  void leave_map(std::size_t i) {
    SimCar& car = *cars_[i];
    if (car.state().off_map) return;
    const auto exit = first_exit(car.chassis(), car.motion(), step_, *place_.map);
    if (!exit) return;
    car.state().off_map = true;
    car.state().off_map_time = now_ + from_seconds(exit->u * step_.seconds());
    first_touch_[i] = std::min(first_touch_[i], exit->u);
    begin(i, kMapEdge, *exit);
  }

  void keep_contacts() {
    // Few at a time: insertion keeps equal times in the order of the cars.
    for (std::size_t k = 1; k < begun_.size(); ++k) {
      for (std::size_t m = k; m > 0 && begun_[m].time < begun_[m - 1].time; --m) std::swap(begun_[m], begun_[m - 1]);
    }
    for (const ContactEvent& event : begun_) {
      if (contacts_.size() < kContactsKept) {
        contacts_.push_back(event);
      } else {
        ++lost_contacts_;
      }
    }
  }

  void respond() {
    colliding_.clear();
    colliding_index_.clear();
    double from = 1.0;
    for (std::size_t i = 0; i < cars_.size(); ++i) {
      if (!cars_[i]->state().touching) continue;
      from = std::min(from, first_touch_[i]);
      colliding_index_.push_back(i);
    }
    for (const std::size_t i : colliding_index_) {
      const SimCar& car = *cars_[i];
      CollidingCar c;
      c.chassis = car.chassis();
      c.mass_kg = car.setup().parameters.mass_kg;
      c.yaw_inertia_kgm2 = car.setup().parameters.yaw_inertia_kgm2;
      c.cog_x_m = car.setup().parameters.lr_m();
      c.movable = !car.state().stopped;
      c.T_map_base = pose_at(car.motion(), from);
      c.velocity_map_mps = car.plant().base_velocity_map();
      c.yaw_rate_radps = car.state().yaw_rate_radps;
      colliding_.push_back(c);
    }
    collide(colliding_, *place_.map, from_seconds((1.0 - from) * step_.seconds()));
    for (std::size_t k = 0; k < colliding_.size(); ++k) {
      if (!colliding_[k].movable) continue;
      SimCar& car = *cars_[colliding_index_[k]];
      const CollidingCar& c = colliding_[k];
      car.plant().set_motion(c.T_map_base, rotate(-c.T_map_base.yaw, c.velocity_map_mps), c.yaw_rate_radps);
      car.refresh();
    }
  }

  Place place_;
  WorldSettings settings_;
  Duration step_;
  Time now_;
  std::vector<std::unique_ptr<SimCar>> cars_;
  Hash trace_;
  std::vector<ContactEvent> contacts_;
  std::size_t lost_contacts_ = 0;
  // Of the step under way.
  std::vector<SeenCar> others_;
  std::vector<ContactEvent> begun_;
  std::vector<std::uint8_t> touching_;  // car i and partner j at i (n + 1) + j; the wall is partner n
  std::vector<double> first_touch_;     // as a fraction of the step; above 1: none
  std::vector<CollidingCar> colliding_;
  std::vector<std::size_t> colliding_index_;
};

Result<World> World::make(Place place, const WorldSettings& settings, std::vector<CarSetup> cars) {
  if (const Status status = check_fields("world", settings); !status) return status.error();
  if (const Status status = check_place(place); !status) return status.error();
  for (const CarSetup& car : cars) {
    if (const Status status = check_fields(car.name, car.parameters); !status) return status.error();
    if (const Status status = check_sensors(car, settings); !status) return status.error();
    if (const Status status = check_controller(car); !status) return status.error();
    if (const Status status = check_start(car, place); !status) return status.error();
  }
  if (const Status status = check_pairs(cars); !status) return status.error();
  auto impl = std::make_unique<Impl>(std::move(place), settings);
  for (CarSetup& car : cars) {
    if (const Status status = impl->add(std::move(car)); !status) return status.error();
  }
  impl->reset();
  return World(std::move(impl));
}

World::World(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
World::~World() = default;
World::World(World&&) noexcept = default;
World& World::operator=(World&&) noexcept = default;

void World::reset() { impl_->reset(); }
void World::observe(RunObserver* observer) { impl_->observe(observer); }
void World::step() { impl_->step(); }

Time World::now() const { return impl_->now_; }
Duration World::step_duration() const { return impl_->step_; }
std::size_t World::size() const { return impl_->cars_.size(); }
const CarState& World::car(std::size_t i) const { return impl_->cars_.at(i)->state(); }
const CarParameters& World::parameters(std::size_t i) const { return impl_->cars_.at(i)->setup().parameters; }
const std::string& World::name(std::size_t i) const { return impl_->cars_.at(i)->setup().name; }
const Controller* World::controller(std::size_t i) const { return impl_->cars_.at(i)->setup().controller.get(); }
const plant::FrictionReport& World::friction(std::size_t i) const { return impl_->cars_.at(i)->plant().friction(); }
Observation World::observation(std::size_t i) const { return impl_->cars_.at(i)->observation(impl_->now_); }
std::span<const double> World::true_ranges(std::size_t i) const { return impl_->cars_.at(i)->lidar().true_ranges(); }
std::span<const double> World::lap_times(std::size_t i) const { return impl_->cars_.at(i)->lap_times(); }
std::span<const ContactEvent> World::contacts() const { return impl_->contacts_; }
std::size_t World::lost_contacts() const { return impl_->lost_contacts_; }

std::string World::failure_text(std::size_t i) const {
  const SimCar& car = *impl_->cars_.at(i);
  const CarState& state = car.state();
  const std::string controller = car.setup().controller ? std::string(car.setup().controller->name()) : std::string("none");
  const std::string when =
      " at tick " + std::to_string(state.failure_tick) + " (t = " + format_number(state.failure_time.seconds(), 9) + " s)";
  switch (state.failure) {
    case Failure::kNone:
      return {};
    case Failure::kCommandNotFinite:
      return "controller '" + controller + "' of " + car.setup().name + ": command not finite" + when;
    case Failure::kTooManyCommands:
      return "controller '" + controller + "' of " + car.setup().name + ": more than " + std::to_string(plant::kCommandsUnderWay) +
             " commands under way" + when;
    case Failure::kMotionNotFinite:
      return car.setup().name + " (controller '" + controller + "'): its motion is not finite" + when;
  }
  return {};
}

bool World::failed() const {
  return std::any_of(impl_->cars_.begin(), impl_->cars_.end(), [](const auto& car) { return car->state().failure != Failure::kNone; });
}

std::uint64_t World::trace_hash() const { return impl_->trace_.value(); }

}  // namespace pitwall::sim
