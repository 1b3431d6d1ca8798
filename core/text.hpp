// SPDX-License-Identifier: Apache-2.0
// Small text helpers shared by loaders and messages. Numbers are read and written without the locale.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pitwall {

/// The whole text as a number ("1e-3", "-.5", "nan", "inf", ".nan" and ".inf" as YAML spells them); nothing if anything
/// is left over, or if the number is too large or too small for a double.
std::optional<double> parse_double(std::string_view text);
/// The whole text as a decimal integer of 64 bits; nothing otherwise.
std::optional<std::int64_t> parse_int(std::string_view text);

/// Shortest text that reads back to the same bits; "nan", "inf", "-inf" for the others.
std::string format_exact(double value);
/// `digits` significant digits, as people read it.
std::string format_number(double value, int digits);
/// `decimals` digits after the point; "-" for what is not finite.
std::string format_fixed(double value, int decimals);
/// "1.23 m": three significant digits.
std::string format_metres(double value_m);
/// "(1.2345, 6.789)": five significant digits.
std::string format_place(double x_m, double y_m);

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// A to Z only.
std::string to_lower(std::string_view text);
/// `take(number from 1, line without its end)`.
template <class Take>
void each_line(std::string_view text, const Take& take) {
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    take(++number, text.substr(at, end - at));
    at = end + 1;
  }
}

/// Blanks, tabs and carriage returns off both ends.
std::string_view trim(std::string_view text);
/// Pieces between separators, trimmed; an empty text gives one empty piece.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The candidate nearest to `name` by edit distance, or nothing where none is near enough to be meant.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates);
/// "unknown <what> 'name'; did you mean 'x'? known: a, b, c": the one wording for a wrong name. Where one is meant, a
/// list of more than 12 is left out.
std::string unknown_name(std::string_view what, std::string_view name, std::span<const std::string> candidates);
/// "a, b, c".
std::string join(std::span<const std::string> pieces, std::string_view separator = ", ");

}  // namespace pitwall
