// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/files.hpp"
#include "core/text.hpp"
#include "tracks/track.hpp"

namespace pitwall::tracks {
namespace {

enum Column : std::size_t { kX, kY, kRight, kLeft, kPsi, kKappa, kSpeed, kOther, kColumns };

struct ColumnName {
  std::string_view name;
  Column column;
};
// Spellings met in the wild: f1tenth_racetracks, forzaeth's race_stack, global_racetrajectory_optimization.
constexpr std::array<ColumnName, 18> kColumnNames{{{"x_m", kX},
                                                   {"x", kX},
                                                   {"y_m", kY},
                                                   {"y", kY},
                                                   {"w_tr_right_m", kRight},
                                                   {"w_right_m", kRight},
                                                   {"width_right_m", kRight},
                                                   {"d_right", kRight},
                                                   {"w_tr_left_m", kLeft},
                                                   {"w_left_m", kLeft},
                                                   {"width_left_m", kLeft},
                                                   {"d_left", kLeft},
                                                   {"psi_rad", kPsi},
                                                   {"psi", kPsi},
                                                   {"kappa_radpm", kKappa},
                                                   {"kappa", kKappa},
                                                   {"vx_mps", kSpeed},
                                                   {"v_mps", kSpeed}}};

constexpr std::string_view kKnownForms =
    "expected 2 columns (x_m, y_m), 3 (with speed), 4 (x_m, y_m, w_tr_right_m, w_tr_left_m), 7 (s_m, x_m, y_m, psi_rad, kappa_radpm, "
    "vx_mps, ax_mps2), or a header "
    "that names x_m and y_m";

constexpr double kSamePoint = 1e-6;
constexpr double kRepeatedWithin = 0.01;
constexpr double kFarthestApart = 1000.0;

using Layout = std::vector<Column>;

Column column_of(std::string_view name) {
  for (const ColumnName& known : kColumnNames) {
    if (known.name == name) return known.column;
  }
  return kOther;
}

bool has(const Layout& layout, Column column) { return std::find(layout.begin(), layout.end(), column) != layout.end(); }

char separator_of(std::string_view row) { return row.find(';') != std::string_view::npos ? ';' : ','; }

/// The columns that a line of names stands for, if it names both coordinates.
std::optional<Layout> header_layout(std::string_view row) {
  Layout layout;
  for (const std::string_view name : split(row, separator_of(row))) layout.push_back(column_of(name));
  if (!has(layout, kX) || !has(layout, kY)) return std::nullopt;
  return layout;
}

std::optional<Layout> layout_by_count(std::size_t columns) {
  if (columns == 2) return Layout{kX, kY};
  if (columns == 3) return Layout{kX, kY, kSpeed};
  if (columns == 4) return Layout{kX, kY, kRight, kLeft};
  if (columns == 7) return Layout{kOther, kX, kY, kPsi, kKappa, kSpeed, kOther};
  return std::nullopt;
}

struct Row {
  int line = 0;
  std::array<double, kColumns> values{};
};

class LineParser {
 public:
  LineParser(std::string_view text, const std::string& name) : text_(text), name_(name) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  }

  Status parse() {
    while (!text_.empty()) {
      const std::size_t end = text_.find('\n');
      const std::string_view row = trim(text_.substr(0, end));
      text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
      ++line_;
      Status status = take(row);
      if (!status) return status;
    }
    return {};
  }

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  std::vector<Row>& rows() { return rows_; }
  [[nodiscard]] const Layout& layout() const { return layout_; }

 private:
  [[nodiscard]] Error error(const std::string& what) const { return Error{name_ + ":" + std::to_string(line_) + ": " + what}; }

  Status take(std::string_view row) {
    if (row.empty()) return {};
    if (row.front() == '#') {
      if (rows_.empty()) {
        if (auto named = header_layout(trim(row.substr(1)))) return take_header(*std::move(named));
      }
      return {};
    }
    const std::vector<std::string_view> pieces = split(row, separator_of(row));
    if (rows_.empty() && layout_.empty()) {
      if (auto named = header_layout(row)) return take_header(*std::move(named));
      auto counted = layout_by_count(pieces.size());
      if (!counted) return error(std::to_string(pieces.size()) + " columns: " + std::string(kKnownForms));
      layout_ = *std::move(counted);
    }
    return take_numbers(pieces);
  }

  Status take_header(Layout layout) {
    std::array<int, kColumns> seen{};
    for (const Column column : layout) {
      if (++seen[column] > 1 && column != kOther) return error("the header names a column twice");
    }
    layout_ = std::move(layout);
    return {};
  }

  Status take_numbers(const std::vector<std::string_view>& pieces) {
    if (pieces.size() != layout_.size()) {
      return error(std::to_string(pieces.size()) + " columns where " + std::to_string(layout_.size()) + " are expected");
    }
    Row row;
    row.line = line_;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const std::optional<double> value = parse_double(pieces[i]);
      if (!value || !std::isfinite(*value)) {
        return error("column " + std::to_string(i + 1) + " = '" + std::string(pieces[i].substr(0, 40)) + "': must be a finite number");
      }
      const bool not_negative = layout_[i] == kRight || layout_[i] == kLeft || layout_[i] == kSpeed;
      if (not_negative && *value < 0.0) {
        return error("column " + std::to_string(i + 1) + " = " + format_exact(*value) + ": a " +
                     (layout_[i] == kSpeed ? "speed" : "width") + " must not be negative");
      }
      row.values[layout_[i]] = *value;
    }
    rows_.push_back(row);
    return {};
  }

  std::string_view text_;
  const std::string& name_;
  int line_ = 0;
  Layout layout_;
  std::vector<Row> rows_;
};

Vec2 point_of(const Row& row) { return {row.values[kX], row.values[kY]}; }

/// A closed line may end on its first point again; decimals may have moved it a little.
void drop_repeated_end(std::vector<Row>& rows) {
  if (rows.size() < 3) return;
  double length = 0.0;
  for (std::size_t i = 1; i < rows.size(); ++i) length += distance(point_of(rows[i - 1]), point_of(rows[i]));
  const double spacing = length / static_cast<double>(rows.size() - 1);
  if (distance(point_of(rows.front()), point_of(rows.back())) < std::clamp(0.01 * spacing, kSamePoint, kRepeatedWithin)) rows.pop_back();
}

/// Neighbours are neither the same point nor out of sight of one another.
Status check_spacing(const std::vector<Row>& rows, bool closed, const std::string& name) {
  for (std::size_t i = closed ? 0 : 1; i < rows.size(); ++i) {
    const Row& before = rows[(i + rows.size() - 1) % rows.size()];
    const double apart = distance(point_of(before), point_of(rows[i]));
    const std::string where = name + ":" + std::to_string(rows[i].line) + ": ";
    if (apart < kSamePoint) return Error{where + "the same point as in line " + std::to_string(before.line)};
    if (!(apart <= kFarthestApart)) {
      return Error{where + format_number(apart, 4) + " m from the point of line " + std::to_string(before.line) + ": must be at most " +
                   format_number(kFarthestApart, 4) + " m"};
    }
  }
  return {};
}

/// Headings as the standard has them: psi is either that already or 0 along +y; the points tell which.
std::optional<std::vector<double>> standard_headings(const std::vector<Row>& rows, bool closed) {
  double along_x = 0.0;  // sum over the points of cos(psi - chord), and the same with psi turned by a quarter
  double along_y = 0.0;
  double total = 0.0;
  const std::size_t count = rows.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (!closed && (i == 0 || i + 1 == count)) continue;
    const Vec2 chord = point_of(rows[(i + 1) % count]) - point_of(rows[(i + count - 1) % count]);
    const Vec2 psi = unit_vector(rows[i].values[kPsi]);
    along_x += dot(psi, chord);
    along_y += dot(perpendicular(psi), chord);
    total += norm(chord);
  }
  // A line that psi belongs to fits to within a few degrees; one that fits worse than 37 degrees is another line.
  if (total > 0.0 && std::max(along_x, along_y) < 0.8 * total) return std::nullopt;
  const double turn = along_y > along_x ? math::kPi / 2.0 : 0.0;
  std::vector<double> headings;
  headings.reserve(count);
  for (const Row& row : rows) headings.push_back(wrap_angle(row.values[kPsi] + turn));
  return headings;
}

/// Curvatures as the standard has them, positive to the left: planners count them either way, the points tell which. A column of
/// zeros, as planners write beside a centre line, counts as none.
std::vector<double> signed_curvatures(const Path& path, std::vector<double> kappa) {
  double alike = 0.0;
  for (std::size_t i = 0; i < kappa.size(); ++i) alike += kappa[i] * path.vertex_curvature(i);
  if (alike == 0.0) return {};
  if (alike < 0.0) {
    for (double& k : kappa) k = -k;
  }
  return kappa;
}

std::vector<double> column(const std::vector<Row>& rows, Column which) {
  std::vector<double> values;
  values.reserve(rows.size());
  for (const Row& row : rows) values.push_back(row.values[which]);
  return values;
}

}  // namespace

Result<Line> parse_line(std::string_view text, const std::string& name, bool closed) {
  LineParser parser(text, name);
  const Status parsed = parser.parse();
  if (!parsed) return parsed.error();
  std::vector<Row>& rows = parser.rows();
  if (closed) drop_repeated_end(rows);
  const std::size_t fewest = closed ? 3 : 2;
  if (rows.size() < fewest) {
    return Error{name + ": " + std::to_string(rows.size()) + " points: a line needs at least " + std::to_string(fewest)};
  }
  const Status spaced = check_spacing(rows, closed, name);
  if (!spaced) return spaced.error();
  std::vector<Vec2> points;
  points.reserve(rows.size());
  for (const Row& row : rows) points.push_back(point_of(row));
  Result<Path> path = Path::make(std::move(points), closed);
  if (!path) return Error{name + ": " + path.error().message};

  Line line{*std::move(path), {}, {}, {}, {}, {}, name};
  const Layout& layout = parser.layout();
  if (has(layout, kRight)) line.width_right_m = column(rows, kRight);
  if (has(layout, kLeft)) line.width_left_m = column(rows, kLeft);
  if (has(layout, kPsi)) {
    auto headings = standard_headings(rows, closed);
    if (!headings) {
      return Error{name + ": psi fits the points neither measured from +x nor from +y"};
    }
    line.heading_rad = *std::move(headings);
  }
  if (has(layout, kKappa)) line.curvature_per_m = signed_curvatures(line.path, column(rows, kKappa));
  if (has(layout, kSpeed)) {
    std::vector<double> speeds = column(rows, kSpeed);
    // Planners fill the column of a centre line, which has no speeds, with zeros.
    if (std::any_of(speeds.begin(), speeds.end(), [](double v) { return v > 0.0; })) line.speed_mps = std::move(speeds);
  }
  return line;
}

Result<Line> load_line(const std::filesystem::path& file, bool closed) {
  const Result<std::string> text = read_file(file);
  if (!text) return text.error();
  return parse_line(*text, file.string(), closed);
}

}  // namespace pitwall::tracks
