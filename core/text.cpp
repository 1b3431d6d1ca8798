// SPDX-License-Identifier: Apache-2.0
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/hash.hpp"

namespace pitwall {
namespace {

/// Letters to insert, drop, replace, or swap with their neighbour (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

/// A leading plus off, for from_chars takes none; "+-1" keeps it and so stays no number.
std::string_view without_plus(std::string_view text) {
  if (text.size() >= 2 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

}  // namespace

std::optional<double> parse_double(std::string_view text) {
  text = without_plus(trim(text));
  const bool negative = text.starts_with('-');
  const std::string name = to_lower(negative ? text.substr(1) : text);
  if (!negative && (name == "nan" || name == ".nan")) return std::numeric_limits<double>::quiet_NaN();
  if (name == "inf" || name == ".inf") return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  // from_chars would also take "infinity" and "nan(1)".
  if (name.empty() || name.find_first_not_of("0123456789.e+-") != std::string::npos) return std::nullopt;
  double value = 0.0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_int(std::string_view text) {
  text = without_plus(trim(text));
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string format_exact(double value) {
  if (std::isnan(value)) return "nan";
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};
}

std::string format_number(double value, int digits) {
  if (std::isnan(value)) return "nan";
  std::array<char, 64> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general, digits);
  return {buffer.data(), result.ptr};
}

std::string format_fixed(double value, int decimals) {
  if (!std::isfinite(value)) return "-";
  std::array<char, 384> buffer{};  // the largest double has 309 digits before its point
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, decimals);
  return {buffer.data(), result.ptr};
}

std::string format_metres(double value_m) { return format_number(value_m, 3) + " m"; }

std::string format_place(double x_m, double y_m) { return "(" + format_number(x_m, 5) + ", " + format_number(y_m, 5) + ")"; }

std::string to_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (true) {
    const std::size_t end = text.find(separator);
    pieces.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates) {
  const std::string wanted = to_lower(name);
  std::optional<std::string> best;
  // Half the letters wrong is no longer a typing error.
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 2) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t d = edit_distance(wanted, to_lower(candidate));
    if (d < best_distance && d < std::max(name.size(), candidate.size())) {
      best_distance = d;
      best = candidate;
    }
  }
  return best;
}

std::string unknown_name(std::string_view what, std::string_view name, std::span<const std::string> candidates) {
  constexpr std::size_t kListed = 12;
  std::string message = "unknown " + std::string(what) + " '" + std::string(name) + "'";
  const auto nearest = nearest_name(name, candidates);
  if (nearest) message += "; did you mean '" + *nearest + "'?";
  if (nearest && candidates.size() > kListed) return message;
  return message + (nearest ? " known: " : "; known: ") + join(candidates);
}

std::string join(std::span<const std::string> pieces, std::string_view separator) {
  std::string text;
  for (const std::string& piece : pieces) {
    if (!text.empty()) text += separator;
    text += piece;
  }
  return text;
}

std::string to_hex(std::uint64_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = 0; i < 16; ++i) text[15 - i] = kDigits[(value >> (4 * i)) & 0xF];
  return text;
}

}  // namespace pitwall
