// SPDX-License-Identifier: Apache-2.0
#include "tracks/build/raceline_io.hpp"

#include "tracks/line_csv.hpp"

namespace pitwall::tracks::build {
std::string raceline_csv(const Raceline& line, const std::vector<std::string>& remarks) {
  std::string text;
  for (const std::string& remark : remarks) text += "# " + remark + "\n";
  text += "# s_m; x_m; y_m; psi_rad; kappa_radpm; vx_mps; ax_mps2\n";
  const Path& path = line.path;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::size_t next = i + 1 < path.size() ? i + 1 : (path.closed() ? 0 : i);
    const double ds = i + 1 < path.size() ? path.s_of(i + 1) - path.s_of(i) : path.length_m() - path.s_of(i);
    const double v = line.speed_mps[i];
    const double a = ds > 0.0 ? (line.speed_mps[next] * line.speed_mps[next] - v * v) / (2.0 * ds) : 0.0;
    const Vec2 p = path.points()[i];
    text += decimals(path.s_of(i), 6) + "; " + decimals(p.x, 6) + "; " + decimals(p.y, 6) + "; " +
            decimals(path.heading_at(path.s_of(i)), 6) + "; " + decimals(line.curvature_per_m[i], 6) + "; " + decimals(v, 4) + "; " +
            decimals(a, 4) + "\n";
  }
  return text;
}

}  // namespace pitwall::tracks::build
