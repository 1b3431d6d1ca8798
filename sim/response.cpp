// SPDX-License-Identifier: Apache-2.0
#include "sim/response.hpp"

#include <box2d/box2d.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace pitwall::sim {
namespace {

constexpr double kUnitsPerMetre = 20.0;
// Of 3D-printed bumpers and walls of wood or foam: a car comes back with a third of its speed, and slides along.
constexpr double kRestitution = 0.3;
constexpr double kFriction = 0.3;
// The linear tyre is no model of a car that moves sideways: what is beyond this slip angle is taken as scrubbed off.
constexpr double kMaxSideToForward = 0.6;
constexpr double kMaxYawRate_radps = 12.0;
constexpr double kMaxUnitsPerSubstep = 0.5;

b2Vec2 units(Vec2 p) { return {static_cast<float>(kUnitsPerMetre * p.x), static_cast<float>(kUnitsPerMetre * p.y)}; }
Vec2 metres(b2Vec2 p) { return {static_cast<double>(p.x) / kUnitsPerMetre, static_cast<double>(p.y) / kUnitsPerMetre}; }

// A box whose skin (b2_polygonRadius) lies inside the rectangle rather than around it.
void add_box(b2Body& body, double half_length_m, double half_width_m, Vec2 centre, double angle) {
  const auto half = [](double metres_half) {
    return static_cast<float>(
        std::max(0.25 * kUnitsPerMetre * metres_half, kUnitsPerMetre * metres_half - static_cast<double>(b2_polygonRadius)));
  };
  b2PolygonShape shape;
  shape.SetAsBox(half(half_length_m), half(half_width_m), units(centre), static_cast<float>(angle));
  b2FixtureDef fixture;
  fixture.shape = &shape;
  fixture.density = 1.0F;
  fixture.friction = static_cast<float>(kFriction);
  fixture.restitution = static_cast<float>(kRestitution);
  body.CreateFixture(&fixture);
}

b2Body* add_car(b2World& world, const CollidingCar& car, Vec2 origin) {
  const Vec2 ahead = unit_vector(car.T_map_base.yaw);
  b2BodyDef def;
  def.type = car.movable ? b2_dynamicBody : b2_staticBody;
  def.position = units(car.T_map_base.position() - origin);
  def.angle = static_cast<float>(car.T_map_base.yaw);
  def.allowSleep = false;
  b2Body* body = world.CreateBody(&def);
  const BodyRectangle& r = car.chassis;
  add_box(*body, 0.5 * (r.front_m - r.rear_m), r.half_width_m, {0.5 * (r.front_m + r.rear_m), 0.0}, 0.0);
  if (car.movable) {
    b2MassData mass;
    mass.mass = static_cast<float>(car.mass_kg);
    mass.center = units({car.cog_x_m, 0.0});
    const double about_cog = car.yaw_inertia_kgm2 * kUnitsPerMetre * kUnitsPerMetre;
    // Box2D wants it about the body's own origin.
    mass.I = static_cast<float>(about_cog) + mass.mass * b2Dot(mass.center, mass.center);
    body->SetMassData(&mass);
    body->SetLinearVelocity(units(car.velocity_map_mps + (car.yaw_rate_radps * car.cog_x_m) * perpendicular(ahead)));
    body->SetAngularVelocity(static_cast<float>(car.yaw_rate_radps));
  }
  return body;
}

// Blocked cells within reach of any car, each row's runs as one box, so that a car slides along a wall without catching on cells.
void add_walls(b2World& world, std::span<const CollidingCar> cars, const tracks::OccupancyMap& map, Vec2 origin, double reach_m) {
  b2BodyDef def;
  b2Body* walls = world.CreateBody(&def);
  const double resolution = map.resolution_m();
  for (const CollidingCar& car : cars) {
    const Vec2 g = map.to_grid(car.T_map_base.position());
    const double r = reach_m / resolution;
    const auto bound = [](double value, int size) { return static_cast<int>(std::clamp(std::floor(value), 0.0, size - 1.0)); };
    const int i0 = bound(g.x - r, map.width());
    const int i1 = bound(g.x + r, map.width());
    for (int j = bound(g.y - r, map.height()); j <= bound(g.y + r, map.height()); ++j) {
      for (int i = i0; i <= i1; ++i) {
        if (!map.blocked(i, j)) continue;
        int end = i;
        while (end + 1 <= i1 && map.blocked(end + 1, j)) ++end;
        const Vec2 centre = map.to_map({0.5 * (i + end + 1), j + 0.5}) - origin;
        add_box(*walls, 0.5 * resolution * (end + 1 - i), 0.5 * resolution, centre, map.origin().yaw);
        i = end;
      }
    }
  }
}

void read_back(const b2Body& body, CollidingCar& car, Vec2 origin) {
  const Vec2 p = metres(body.GetPosition()) + origin;
  car.T_map_base = {p.x, p.y, wrap_angle(static_cast<double>(body.GetAngle()))};
  car.yaw_rate_radps = std::clamp(static_cast<double>(body.GetAngularVelocity()), -kMaxYawRate_radps, kMaxYawRate_radps);
  const Vec2 ahead = unit_vector(car.T_map_base.yaw);
  const Vec2 cog_velocity = metres(body.GetLinearVelocity());
  const double forward = dot(cog_velocity, ahead);
  const double most = kMaxSideToForward * std::abs(forward);
  const double side = std::clamp(cross(ahead, cog_velocity), -most, most);
  car.velocity_map_mps = forward * ahead + (side - car.yaw_rate_radps * car.cog_x_m) * perpendicular(ahead);
}

}  // namespace

void collide(std::span<CollidingCar> cars, const tracks::OccupancyMap& map, Duration rest) {
  if (cars.empty() || rest.ns <= 0) return;
  b2World world({0.0F, 0.0F});
  const Vec2 origin = cars.front().T_map_base.position();
  double fastest = 0.0;
  double radius = 0.0;
  for (const CollidingCar& car : cars) {
    const double r = norm({std::max(std::abs(car.chassis.rear_m), std::abs(car.chassis.front_m)), car.chassis.half_width_m});
    radius = std::max(radius, r);
    fastest = std::max(fastest, norm(car.velocity_map_mps) + std::abs(car.yaw_rate_radps) * r);
  }
  std::vector<b2Body*> bodies;
  for (const CollidingCar& car : cars) bodies.push_back(add_car(world, car, origin));
  add_walls(world, cars, map, origin, radius + 2.0 * fastest * rest.seconds() + 2.0 * map.resolution_m());
  // Short enough that no car moves far in one of them.
  const int substeps = 1 + static_cast<int>(fastest * rest.seconds() * kUnitsPerMetre / kMaxUnitsPerSubstep);
  for (int k = 0; k < substeps; ++k) world.Step(static_cast<float>(rest.seconds() / substeps), 10, 10);
  for (std::size_t i = 0; i < cars.size(); ++i) {
    if (cars[i].movable) read_back(*bodies[i], cars[i], origin);
  }
}

}  // namespace pitwall::sim
