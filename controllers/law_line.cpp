// SPDX-License-Identifier: Apache-2.0
#include "controllers/law_line.hpp"

#include <algorithm>

namespace pitwall::controllers {

LawLine::LawLine(const tracks::Path& path, std::span<const double> speed_mps, std::span<const double> free_right_m,
                 std::span<const double> free_left_m)
    : path_(&path),
      speed_mps_(speed_mps),
      free_right_m_(free_right_m),
      free_left_m_(free_left_m),
      fastest_mps_(*std::max_element(speed_mps.begin(), speed_mps.end())) {
  // The mean curvature of a stretch is what the heading turns on it.
  const double reach = 0.5 * std::min(kSmoothing_m, 0.5 * path.length_m());
  curvature_.reserve(path.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    const double s = path.s_of(i);
    const double from = path.closed() ? s - reach : std::max(0.0, s - reach);
    const double to = path.closed() ? s + reach : std::min(path.length_m(), s + reach);
    curvature_.push_back(wrap_angle(path.heading_at(to) - path.heading_at(from)) / (to - from));
  }
}

double LawLine::interpolated(std::span<const double> values, double s_m) const {
  const double s = path_->wrap_s(s_m);
  const std::size_t i = path_->segment_at(s);
  const std::size_t next = i + 1 < path_->size() ? i + 1 : 0;
  const double end = i + 1 < path_->size() ? path_->s_of(i + 1) : path_->length_m();
  const double t = std::clamp((s - path_->s_of(i)) / (end - path_->s_of(i)), 0.0, 1.0);
  return values[i] + t * (values[next] - values[i]);
}

double LawLine::curvature_at(double s_m) const {
  const bool beyond = !path_->closed() && (s_m < 0.0 || s_m > path_->length_m());
  return beyond ? 0.0 : interpolated(curvature_, s_m);
}

double LawLine::speed_at(double s_m) const { return controllers::speed_at(*path_, speed_mps_, s_m); }
double LawLine::heading_at(double s_m) const { return path_->heading_at(path_->wrap_s(s_m)); }
double LawLine::room_right_at(double s_m) const { return interpolated(free_right_m_, s_m); }
double LawLine::room_left_at(double s_m) const { return interpolated(free_left_m_, s_m); }

LawLine::Frame LawLine::at(double s_m, const LineShift& shift) const {
  Frame frame;
  frame.heading_rad = heading_at(s_m);
  frame.curvature_per_m = curvature_at(s_m);
  frame.point = detail::shifted_point(*path_, s_m, shift(s_m));
  if (shift.none()) return frame;
  // With d(s) to the left: the way is sqrt((1 - kappa d)^2 + d'^2) ds, the direction turns by atan(d' / (1 - kappa d)).
  constexpr double kStep_m = 0.1;
  const double before = shift(s_m - kStep_m);
  const double here = shift(s_m);
  const double after = shift(s_m + kStep_m);
  const double slope = (after - before) / (2.0 * kStep_m);
  const double bend = (after - 2.0 * here + before) / (kStep_m * kStep_m);
  frame.stretch = std::max(0.1, 1.0 - frame.curvature_per_m * here);
  const double aside = math::atan2(slope, frame.stretch);
  const double c = math::cos(aside);
  frame.heading_rad = wrap_angle(frame.heading_rad + aside);
  // kappa of the offset curve, for slowly changing curvature of the line.
  frame.curvature_per_m =
      c * (frame.curvature_per_m + c * c * (bend + frame.curvature_per_m * slope * slope / frame.stretch) / frame.stretch) / frame.stretch;
  return frame;
}

}  // namespace pitwall::controllers
