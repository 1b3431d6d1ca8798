// SPDX-License-Identifier: Apache-2.0
#include "apps/program.hpp"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <vector>

#include "core/log.hpp"
#include "core/text.hpp"

namespace pitwall::apps {
namespace {

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* /*any*/) { return true; })) names.push_back(command->get_name());
  return names;
}

/// The subcommand that was given, or the program itself.
const CLI::App& command_of(const CLI::App& app) {
  const auto given = app.get_subcommands();
  return given.empty() ? app : *given.front();
}

/// An empty value (an unset variable of a shell script, as a rule) would otherwise mean "not given".
const CLI::Option* empty_option(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& value : option->results()) {
      if (value.empty()) return option;
    }
  }
  return nullptr;
}

}  // namespace

std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  app.set_version_flag("--version", app.get_name() + " " PITWALL_VERSION);
  try {
    app.parse(argc, argv);
    if (const CLI::Option* empty = empty_option(command_of(app))) {
      log::error(empty->get_name() + ": an empty value; see --help");
      return kBadInput;
    }
    return std::nullopt;
  } catch (const CLI::ExtrasError&) {
    for (const std::string& argument : app.remaining(true)) {
      const std::string flag = argument.substr(0, argument.find('='));
      log::error(flag.starts_with('-') ? unknown_name("option", flag, flags_of(command_of(app)))
                                       : "unexpected argument '" + argument + "'; see --help");
      return kBadInput;
    }
    return kBadInput;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      app.exit(error, std::cout, std::cerr);
      return kPassed;
    }
    const std::vector<std::string> commands = names_of_commands(app);
    if (!commands.empty() && app.get_subcommands().empty() && argc > 1 && argv[1][0] != '-') {
      log::error(unknown_name("command", argv[1], commands));
      return kBadInput;
    }
    log::error(std::string(error.what()) + "; see --help");
    return kBadInput;
  }
}

int bad_input(const Error& error) {
  log::error(error.message);
  return kBadInput;
}

Result<int> choose(std::string_view flag, const std::string& value, std::span<const std::string_view> names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == value) return static_cast<int>(i);
  }
  const std::vector<std::string> allowed(names.begin(), names.end());
  return Error{std::string(flag) + ": " + unknown_name("value", value, allowed)};
}

int guarded(const std::function<int()>& body) {
  try {
    const int code = body();
    const bool flushed = std::fflush(stdout) == 0;
    if (flushed && std::ferror(stdout) == 0) return code;
    return bad_input(Error{std::string("cannot write the output") + (flushed ? "" : std::string(": ") + std::strerror(errno))});
  } catch (const std::exception& error) {
    log::error(std::string("internal error: ") + error.what());
    return kInternalError;
  }
}

}  // namespace pitwall::apps
