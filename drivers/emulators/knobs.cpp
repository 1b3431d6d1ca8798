// SPDX-License-Identifier: Apache-2.0
#include "drivers/emulators/knobs.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/text.hpp"

namespace pitwall::emulators {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words = split(line, ' ');
  words.erase(std::remove(words.begin(), words.end(), std::string_view{}), words.end());
  return words;
}

}  // namespace

void Knobs::add(std::string name, std::string usage, std::string what, Action action) {
  knobs_.push_back({std::move(name), std::move(usage), std::move(what), std::move(action)});
}

void Knobs::add_number(const std::string& name, std::string usage, std::string what, double least, double most,
                       std::function<void(Time, double)> set) {
  const auto action = [name, least, most, set = std::move(set)](Time now, Words words) -> Status {
    const auto value = words.size() == 1 ? parse_double(words[0]) : std::nullopt;
    if (!value || !(*value >= least && *value <= most))
      return Error{name + ": takes one number, allowed: " + format_exact(least) + " .. " + format_exact(most)};
    set(now, *value);
    return {};
  };
  add(name, std::move(usage), std::move(what), action);
}

void Knobs::add_switch(const std::string& name, std::string what, bool& value) {
  const auto action = [name, &value](Time, Words words) -> Status {
    if (words.size() != 1 || (words[0] != "0" && words[0] != "1")) return Error{name + ": takes 0 or 1"};
    value = words[0] == "1";
    return {};
  };
  add(name, "0|1", std::move(what), action);
}

Status Knobs::turn(Time now, std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  const std::string_view name = words.empty() ? std::string_view{} : words.front();
  for (const Knob& knob : knobs_) {
    if (knob.name != name) continue;
    if (knob.usage.empty() && words.size() > 1) return Error{knob.name + ": takes nothing"};
    return knob.action(now, Words(words).subspan(1));
  }
  return Error{unknown_name("knob", name, names())};
}

bool Knobs::has(std::string_view name) const {
  return std::any_of(knobs_.begin(), knobs_.end(), [&](const Knob& knob) { return knob.name == name; });
}

std::vector<std::string> Knobs::names() const {
  std::vector<std::string> names;
  for (const Knob& knob : knobs_) names.push_back(knob.name);
  return names;
}

std::string Knobs::help(std::string_view prefix) const {
  std::string text;
  for (const Knob& knob : knobs_) {
    std::string call = std::string(prefix) + " " + knob.name + (knob.usage.empty() ? "" : " ") + knob.usage;
    call.resize(std::max<std::size_t>(call.size(), 34), ' ');
    text += call + "  " + knob.what + "\n";
  }
  return text;
}

Result<std::vector<std::uint8_t>> parse_hex(Words words) {
  std::vector<std::uint8_t> bytes;
  for (const std::string_view word : words) {
    if (word.size() % 2 != 0) return Error{"'" + std::string(word) + "' is no pairs of hexadecimal digits"};
    for (std::size_t i = 0; i < word.size(); i += 2) {
      std::uint8_t byte = 0;
      const auto [end, error] = std::from_chars(word.data() + i, word.data() + i + 2, byte, 16);
      if (error != std::errc{} || end != word.data() + i + 2) return Error{"'" + std::string(word) + "' is no pairs of hexadecimal digits"};
      bytes.push_back(byte);
    }
  }
  return bytes;
}

}  // namespace pitwall::emulators
