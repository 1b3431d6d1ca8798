// SPDX-License-Identifier: Apache-2.0
#include "scenarios/course_setup.hpp"

#include <utility>

#include "controllers/make.hpp"
#include "scenarios/course_driver.hpp"

namespace pitwall::scenarios {

Result<std::unique_ptr<Controller>> make_course_driver(const ResolvedRun& run, std::shared_ptr<const SteeringTable> tyres,
                                                       const Pose2& T_map_start) {
  const CourseSpec& spec = run.scenario.course;
  const CarSpec& car = run.cars.front();
  Result<Node> slow = gap_follow_at_most(parameters_of(run.scenario, car), spec.mapping_max_speed_mps);
  if (!slow) return slow.error();
  Result<std::unique_ptr<Controller>> mapper = controllers::make(car.controller, *slow, run.parameters, nullptr);
  if (!mapper) return mapper;
  CourseDriver::Setup setup;
  setup.spec = spec;
  setup.mapping = MappingSettings::of(run.parameters);
  setup.mapping.speed = run.scenario.speed;
  setup.T_base_lidar = run.parameters.lidar_mount();
  setup.T_map_start = T_map_start;
  setup.mapper = *std::move(mapper);
  setup.make_racer = [name = spec.race_controller, parameters = controller_parameters(run.scenario, spec.race_controller),
                      of = run.parameters, tyres = std::move(tyres)](const controllers::LineToFollow& made) {
    controllers::LineToFollow line = made;
    line.steering_table = tyres;
    return controllers::make(name, parameters, of, &line);
  };
  return std::unique_ptr<Controller>(std::make_unique<CourseDriver>(std::move(setup)));
}

}  // namespace pitwall::scenarios
