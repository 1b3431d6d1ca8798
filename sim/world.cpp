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
#include "sim/world_checks.hpp"

namespace pitwall::sim {
namespace {

constexpr std::size_t kContactsKept = 1024;

}  // namespace

void WorldSettings::fields(FieldVisitor& f) {
  f.number("step_s", step_s, {"s", 1e-4, 0.1, "physics step"});
  f.integer("seed", seed, {"", 0, 9.0e15, "of every noise stream"});
  f.enumeration("on_contact", on_contact, kContactPolicyNames, "what a contact does to a car");
  f.number("command_timeout_s", command_timeout_s,
           {"s", 0.0, 10.0, "without a command for so long a car's driver commands zero speed; 0: never"});
  f.number("surface_friction", surface_friction, {"", 0.0, 3.0, "of the floor; 0: the one each car was calibrated on"});
}

class World::Impl {
 public:
  Impl(Place place, const WorldSettings& settings, Surroundings surroundings)
      : place_(std::move(place)), settings_(settings), step_(from_seconds(settings.step_s)), surroundings_(std::move(surroundings)) {}

  Status add(CarSetup setup) {
    const double friction = settings_.surface_friction > 0.0 ? settings_.surface_friction : setup.parameters.surface_friction;
    auto plant = plant::Plant::make(setup.parameters, setup.plant, friction);
    if (!plant) return Error{setup.name + ": " + plant.error().message};
    auto car = std::make_unique<SimCar>(std::move(setup), std::move(*plant), place_, settings_, friction);
    for (const auto& before : cars_) {
      if (car->share_beams(*before)) break;
    }
    cars_.push_back(std::move(car));
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
    const std::size_t m = surroundings_.obstacles.size();
    begun_.reserve(n * (n + m + 2));
    touching_.assign(n * partners(), 0);
    records_.assign(surroundings_.faults.size(), {});
    effects_.assign(n, {});
    obstacle_motion_.resize(m);
    for (std::size_t k = 0; k < m; ++k) obstacle_motion_[k] = {surroundings_.obstacles[k].at({}), surroundings_.obstacles[k].at({})};
    obstacle_touched_.assign(m, 0);
    first_touch_.assign(n, 2.0);
    seen_.reserve(n + m);
    moving_.reserve(n + m);
    colliding_.reserve(n + m);
    colliding_index_.reserve(n);
    for (auto& car : cars_) car->reset();
  }

  void observe(RunObserver* observer) {
    for (std::size_t i = 0; i < cars_.size(); ++i) cars_[i]->observe(observer, i);
  }

  void step() {
    const Time to = now_ + step_;
    if (!surroundings_.faults.empty()) upset(to);
    look();
    decide(to);
    for (auto& car : cars_) car->move(now_, step_);
    for (std::size_t k = 0; k < obstacle_motion_.size(); ++k)
      obstacle_motion_[k] = {obstacle_motion_[k].to, surroundings_.obstacles[k].at(to)};
    sweep();
    touch();
    trace_.add(to.ns);
    for (auto& car : cars_) car->count(to, trace_);
    now_ = to;
  }

  // Faults that act on [now, to).
  void upset(Time to) {
    std::fill(effects_.begin(), effects_.end(), FaultEffects{});
    for (std::size_t k = 0; k < records_.size(); ++k) {
      const Fault& fault = surroundings_.faults[k];
      FaultRecord& record = records_[k];
      if (!fault.acts_at(now_)) {
        record.over = record.over || now_ >= fault.end();
        continue;
      }
      bool acts = fault.kind != FaultKind::kSlipperyPatch;
      for (std::size_t i = 0; i < cars_.size(); ++i) {
        if (fault.kind != FaultKind::kSlipperyPatch && i != fault.car) continue;
        const CarParameters& car = cars_[i]->setup().parameters;
        const Vec2 middle = cars_[i]->state().T_map_base * Vec2{0.5 * car.wheelbase_m, 0.0};
        effects_[i].add(fault, middle);
        if (i == fault.car && distance(middle, fault.place) <= fault.radius_m) acts = true;
      }
      if (!acts) continue;
      if (!record.begun) {
        record.begun = true;
        record.began = now_;
        record.last_good = cars_[fault.car]->last_good(fault.kind, fault.start());
      }
      record.ended = to;
      trace_.add(std::uint64_t{k} + 1);
      trace_.add(fault.size);
    }
    for (std::size_t i = 0; i < cars_.size(); ++i) cars_[i]->suffer(effects_[i]);
  }

  void sweep() {
    if (std::none_of(cars_.begin(), cars_.end(), [](const auto& car) { return car->sweeping(); })) return;
    moving_.clear();
    for (const auto& car : cars_) moving_.push_back({car->chassis(), car->motion()});
    for (std::size_t k = 0; k < obstacle_motion_.size(); ++k) moving_.push_back({surroundings_.obstacles[k].body(), obstacle_motion_[k]});
    for (std::size_t i = 0; i < cars_.size(); ++i) cars_[i]->sweep(now_, step_, moving_, i);
  }

  void look() {
    seen_.clear();
    if (std::any_of(cars_.begin(), cars_.end(), [&](const auto& car) { return car->sees_now(now_); })) {
      for (const auto& car : cars_) seen_.push_back(car->seen());
      for (std::size_t k = 0; k < obstacle_motion_.size(); ++k)
        seen_.push_back({surroundings_.obstacles[k].body(), obstacle_motion_[k].to});
    }
    for (std::size_t i = 0; i < cars_.size(); ++i) cars_[i]->look(now_, seen_, i);
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
    std::fill(obstacle_touched_.begin(), obstacle_touched_.end(), std::uint8_t{0});
    for (auto& car : cars_) car->state().touching = false;
    for (std::size_t i = 0; i < n; ++i) {
      touch_wall(i);
      for (std::size_t j = 0; j < i; ++j) touch_pair(i, j);
      for (std::size_t k = 0; k < obstacle_motion_.size(); ++k) touch_obstacle(i, k);
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
    note(i, kWall, i * partners() + cars_.size(), touch);
  }

  void touch_pair(std::size_t i, std::size_t j) {
    const SimCar& a = *cars_[i];
    const SimCar& b = *cars_[j];
    // Circles about both over the step: cheap, and it settles nearly all of them.
    const double reach = a.reach_m() + b.reach_m();
    const Vec2 apart = a.motion().to.position() - b.motion().to.position();
    if (dot(apart, apart) > reach * reach && touching_[i * partners() + j] == 0) return;
    auto touch = first_car_touch(a.chassis(), a.motion(), b.chassis(), b.motion(), step_);
    note(i, static_cast<int>(j), i * partners() + j, touch);
    if (touch) touch->normal = -touch->normal;
    note(j, static_cast<int>(i), j * partners() + i, touch);
  }

  void touch_obstacle(std::size_t i, std::size_t k) {
    const SimCar& car = *cars_[i];
    const Obstacle& obstacle = surroundings_.obstacles[k];
    const BodyRectangle body = obstacle.body();
    // Circles about both over the step: cheap, and it settles nearly all of them.
    const double reach = car.reach_m() + norm({body.front_m, body.half_width_m}) +
                         distance(obstacle_motion_[k].from.position(), obstacle_motion_[k].to.position());
    std::optional<Touch> touch;
    if (distance(car.motion().to.position(), obstacle_motion_[k].to.position()) <= reach)
      touch = first_car_touch(car.chassis(), car.motion(), body, obstacle_motion_[k], step_);
    if (touch) obstacle_touched_[k] = 1;
    note(i, kFirstObstacle - static_cast<int>(k), i * partners() + cars_.size() + 1 + k, touch);
  }

  [[nodiscard]] std::size_t partners() const { return cars_.size() + 1 + surroundings_.obstacles.size(); }

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
    for (std::size_t k = 0; k < obstacle_motion_.size(); ++k) {
      if (obstacle_touched_[k] == 0) continue;
      CollidingCar c;
      c.chassis = surroundings_.obstacles[k].body();
      c.mass_kg = 1.0;
      c.yaw_inertia_kgm2 = 1.0;
      c.movable = false;
      c.T_map_base = obstacle_motion_[k].to;
      colliding_.push_back(c);
    }
    collide(colliding_, *place_.map, from_seconds((1.0 - from) * step_.seconds()));
    for (std::size_t k = 0; k < colliding_index_.size(); ++k) {
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
  Surroundings surroundings_;
  Time now_;
  std::vector<std::unique_ptr<SimCar>> cars_;
  std::vector<Motion> obstacle_motion_;  // of the last step
  std::vector<FaultRecord> records_;
  std::vector<FaultEffects> effects_;
  Hash trace_;
  std::vector<ContactEvent> contacts_;
  std::size_t lost_contacts_ = 0;
  // Of the step under way.
  std::vector<SeenCar> seen_;
  std::vector<ContactEvent> begun_;
  std::vector<SeenMotion> moving_;
  std::vector<std::uint8_t> touching_;  // car i and partner j at i partners() + j: n cars, the wall, m obstacles
  std::vector<std::uint8_t> obstacle_touched_;
  std::vector<double> first_touch_;  // as a fraction of the step; above 1: none
  std::vector<CollidingCar> colliding_;
  std::vector<std::size_t> colliding_index_;
};

Result<World> World::make(Place place, const WorldSettings& settings, std::vector<CarSetup> cars, Surroundings surroundings) {
  if (const Status status = check_world(place, settings, cars, surroundings); !status) return status.error();
  auto impl = std::make_unique<Impl>(std::move(place), settings, std::move(surroundings));
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
const Surroundings& World::surroundings() const { return impl_->surroundings_; }
std::span<const FaultRecord> World::fault_records() const { return impl_->records_; }
std::size_t World::lost_contacts() const { return impl_->lost_contacts_; }

std::string World::partner_name(int partner) const {
  if (partner >= 0) return name(static_cast<std::size_t>(partner));
  if (partner == kWall) return "the wall";
  if (partner == kMapEdge) return "the map's edge";
  return surroundings().obstacles.at(static_cast<std::size_t>(kFirstObstacle - partner)).name;
}

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
