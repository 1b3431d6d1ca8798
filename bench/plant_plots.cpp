// SPDX-License-Identifier: Apache-2.0
// Draws the figures of docs/plant.md: plant_plots FOLDER writes steady_turn.svg, braking_in_a_turn.svg and slide.svg.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/files.hpp"
#include "core/text.hpp"
#include "plant/plant.hpp"
#include "plant/single_track.hpp"

namespace {

using namespace pitwall;
using namespace pitwall::plant;

struct Series {
  std::string name;
  std::vector<Vec2> points;
};

/// Lines in axes, as an SVG picture.
std::string picture(const std::string& title, const std::string& x_name, const std::string& y_name, const std::vector<Series>& all) {
  constexpr const char* kColours[] = {"#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#7f7f7f"};
  Vec2 low{std::numeric_limits<double>::infinity(), 0.0};
  Vec2 high{-std::numeric_limits<double>::infinity(), 1e-9};
  for (const Series& series : all) {
    for (const Vec2 p : series.points) {
      low = {std::min(low.x, p.x), std::min(low.y, p.y)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    }
  }
  const auto at = [&](Vec2 p) {
    return Vec2{70.0 + 520.0 * (p.x - low.x) / (high.x - low.x), 330.0 - 280.0 * (p.y - low.y) / (high.y - low.y)};
  };
  const auto number = [](double v) { return format_number(v, 4); };
  const auto text = [&](double x, double y, const std::string& words, const std::string& more) {
    return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" " + more + ">" + words + "</text>\n";
  };
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 390\" font-family=\"sans-serif\" font-size=\"13\">\n"
      "<rect width=\"760\" height=\"390\" fill=\"white\"/>\n";
  svg += text(330, 25, title, "text-anchor=\"middle\" font-size=\"16\"") + text(330, 375, x_name, "text-anchor=\"middle\"") +
         text(18, 190, y_name, "text-anchor=\"middle\" transform=\"rotate(-90 18 190)\"");
  for (int i = 0; i <= 5; ++i) {
    const Vec2 value{low.x + 0.2 * i * (high.x - low.x), low.y + 0.2 * i * (high.y - low.y)};
    const Vec2 p = at(value);
    svg += "<path d=\"M" + number(p.x) + " 50V330M70 " + number(p.y) + "H590\" stroke=\"#ddd\" fill=\"none\"/>\n";
    svg += text(p.x, 348, format_number(value.x, 3), "text-anchor=\"middle\"") +
           text(64, p.y + 4, format_number(value.y, 3), "text-anchor=\"end\"");
  }
  for (std::size_t k = 0; k < all.size(); ++k) {
    svg += "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" + std::string(kColours[k % 5]) + "\" points=\"";
    for (const Vec2 p : all[k].points) svg += number(at(p).x) + "," + number(at(p).y) + " ";
    svg += "\"/>\n" + text(600, 70 + 20.0 * static_cast<double>(k), all[k].name, "fill=\"" + std::string(kColours[k % 5]) + "\"");
  }
  return svg + "</svg>\n";
}

CarParameters stock_car() {
  CarParameters car = car_of(Fidelity::kLegacy, {});
  car.lidar_fov_rad = 4.7;
  car.lidar_range_max_m = 30.0;
  car.lidar_rate_hz = 40.0;
  car.steering_servo_gain_per_s = 25.0;
  car.longitudinal_grip_coupling = 1.0;
  car.rolling_resistance = 0.02;
  car.drag_area_m2 = 0.03;
  // The measured curve of the ForzaETH car NUC2.
  car.magic_front_b = 4.7985;
  car.magic_front_c = 2.1640;
  car.magic_front_d = 0.65023;
  car.magic_front_e = 0.37322;
  car.magic_rear_b = 20.0;
  car.magic_rear_c = 1.5;
  car.magic_rear_d = 0.61842;
  return car;
}

Plant plant_of(Tyre tyre, double friction) {
  Options options;
  options.tyre = tyre;
  return Plant::make(stock_car(), options, friction).value();
}

Time run(Plant& plant, Time from, double seconds) {
  for (int i = 0; i < static_cast<int>(seconds / 0.005 + 0.5); ++i) {
    plant.step(from, from_milliseconds(5));
    from = from + from_milliseconds(5);
  }
  return from;
}

std::string steady_turn() {
  std::vector<Series> all;
  for (const auto& [name, tyre] :
       {std::pair{"linear", Tyre::kLinear}, std::pair{"brush", Tyre::kBrush}, std::pair{"magic formula", Tyre::kMagicFormula}}) {
    Series series{name, {}};
    for (int i = 0; i <= 40; ++i) {
      const double steering = 0.01 * i;
      Plant plant = plant_of(tyre, 0.9);
      plant.reset({}, 3.0);
      (void)plant.command(steering, 3.0, {});
      run(plant, {}, 4.0);
      series.points.push_back({steering, plant.lateral_acceleration_mps2()});
    }
    all.push_back(std::move(series));
  }
  all.push_back({"mu g", {{0.0, 0.9 * kGravity}, {0.4, 0.9 * kGravity}}});
  return picture("Steady turn at 3 m/s, mu 0.9", "wheel angle, rad", "v r, m/s^2", all);
}

std::string braking_in_a_turn() {
  std::vector<Series> all;
  for (const double braked : {3.5, 2.0, 0.0}) {
    Plant plant = plant_of(Tyre::kBrush, 0.6);
    plant.reset({}, 3.5);
    (void)plant.command(0.2, 3.5, {});
    Time now = run(plant, {}, 1.0);
    Series series{braked > 3.0 ? "no braking" : "to " + format_number(braked, 2) + " m/s", {}};
    for (int i = 0; i < 160; ++i) {
      if (i == 40) (void)plant.command(0.2, braked, now);
      const AxleForces f = plant.forces();
      series.points.push_back({0.005 * i, (f.front.across_n + f.rear.across_n) / 3.74});
      now = run(plant, now, 0.005);
    }
    all.push_back(std::move(series));
  }
  return picture("Braking in a turn at the limit, from 0.2 s on, mu 0.6", "t, s", "side force over mass, m/s^2", all);
}

std::string slide() {
  Plant plant = plant_of(Tyre::kBrush, 0.5);
  plant.reset({}, 4.0);
  Time now;
  Series speed{"v_x, m/s", {}}, across{"v_y, m/s", {}}, turn{"r, rad/s", {}}, wheels{"10 x wheel angle", {}};
  for (int i = 0; i < 600; ++i) {
    const double t = 0.005 * i;
    if (i % 5 == 0) (void)plant.command(t < 0.3 ? 0.0 : t < 1.0 ? 0.4 : 0.0, t < 1.0 ? 5.0 : 2.0, now);
    speed.points.push_back({t, plant.body().vx});
    across.points.push_back({t, plant.body().vy});
    turn.points.push_back({t, plant.body().yaw_rate});
    wheels.points.push_back({t, 10.0 * plant.steering_rad()});
    now = run(plant, now, 0.005);
  }
  return picture("A slide at 4 m/s under power, mu 0.5, wheels straight again at 1 s", "t, s", "", {speed, across, turn, wheels});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: plant_plots FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  for (const auto& [name, svg] : {std::pair{"steady_turn.svg", steady_turn()}, std::pair{"braking_in_a_turn.svg", braking_in_a_turn()},
                                  std::pair{"slide.svg", slide()}}) {
    const Status written = write_file(folder / name, svg);
    if (!written) {
      std::fprintf(stderr, "%s\n", written.error().message.c_str());
      return 2;
    }
    std::printf("wrote %s\n", (folder / name).c_str());
  }
  return 0;
}
