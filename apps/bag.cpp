// SPDX-License-Identifier: Apache-2.0
// bag: what is in a recording, whole or damaged, without ROS.
#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apps/bag_commands.hpp"
#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "core/text.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Example:\n"
    "  bag info runs/20261201-101500/bag\n"
    "  bag cat car.mcap --topic /odom --limit 3\n"
    "  bag export car.db3 -o csv/\n"
    "  bag convert old.db3 -o new --topic /scan --topic /tf --start 10 --end 20\n"
    "  bag recover broken.db3 -o saved\n"
    "  bag diff monday/bag tuesday/bag\n"
    "\n"
    "A recording is a rosbag2 folder, a run folder, or one file: MCAP or sqlite3, split, compressed, with or without metadata.yaml.\n"
    "Exit code: 0 done; 1 damaged, lossy or different; 2 bad usage or input; 3 internal error; 130 interrupted.";

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& what, apps::BagArguments& a, int most_paths) {
  CLI::App* command = app.add_subcommand(name, what);
  command->add_option("recording", a.paths, most_paths == 1 ? "A recording" : "Recordings")
      ->required()
      ->expected(most_paths == 2 ? 2 : 1, most_paths);
  command->add_flag("--json", a.json, "Print the result as JSON");
  return command;
}

/// Refuses what is no number from 0 to 1e9 ("nan" included): sums of such times fit into 64 bits of nanoseconds.
CLI::Validator from_zero() {
  const auto check = [](std::string& text) {
    const auto value = parse_double(text);
    return value && *value >= 0.0 && *value <= 1e9 ? std::string() : "'" + text + "' is not a number from 0 to 1e9";
  };
  return CLI::Validator(check, "NUMBER");
}

void add_filter(CLI::App* command, apps::BagArguments& a) {
  command->add_option("--topic", a.topics, "Only this topic (may be repeated)")->allow_extra_args(false);
  command->add_option("--start", a.start_s, "Seconds after the first message")->check(from_zero());
  command->add_option("--end", a.end_s, "Seconds after the first message")->check(from_zero());
}

void add_output(CLI::App* command, apps::BagArguments& a) {
  command->add_option("-o,--output", a.output, "Folder of the new recording, which must not exist yet")->required();
  command->add_option("--format", a.format, "mcap or sqlite3")->capture_default_str()->check(CLI::IsMember({"mcap", "sqlite3"}));
  command->add_option("--compression", a.compression, "Of mcap: zstd or none")
      ->capture_default_str()
      ->check(CLI::IsMember({"zstd", "none"}));
  command->add_option("--ros-distro", a.ros_distro, "humble (metadata version 5) or jazzy (9)")
      ->capture_default_str()
      ->check(CLI::IsMember({"humble", "jazzy"}));
  command->add_option("--split-mib", a.split_mib, "Of mcap: a new file after so many MiB")->check(from_zero());
  command->add_option("--split-seconds", a.split_s, "Of mcap: a new file after so many seconds")->check(from_zero());
}

int run(int argc, char** argv) {
  CLI::App app("What is in a recording, whole or damaged, without ROS", "bag");
  app.footer(kFooter);
  app.require_subcommand(1);
  apps::BagArguments a;
  constexpr int kMany = 1 << 20;
  using Command = int (*)(const apps::BagArguments&);
  std::vector<std::pair<CLI::App*, Command>> commands;

  commands.emplace_back(add_command(app, "info", "Topics, counts, rates, worst gaps, lateness, clocks, damage", a, kMany), apps::bag_info);
  commands.emplace_back(add_command(app, "ls", "The recordings at or below a path, with their topics, without reading messages", a, kMany),
                        apps::bag_ls);
  commands.emplace_back(add_command(app, "cat", "Messages as lines of JSON", a, 1), apps::bag_cat);
  add_filter(commands.back().first, a);
  commands.back().first->add_option("--limit", a.limit, "At most so many messages")->check(CLI::NonNegativeNumber);
  commands.emplace_back(add_command(app, "export", "A CSV file a topic", a, 1), apps::bag_export);
  add_filter(commands.back().first, a);
  commands.back().first->add_option("-o,--output", a.output, "Folder of the CSV files")->required();
  commands.emplace_back(
      add_command(app, "convert", "One or several recordings to a new one: storage, compression, topics, a piece", a, kMany),
      apps::bag_convert);
  add_filter(commands.back().first, a);
  add_output(commands.back().first, a);
  commands.emplace_back(add_command(app, "recover", "What is left of a damaged recording, as a new one", a, 1), apps::bag_recover);
  add_output(commands.back().first, a);
  commands.emplace_back(add_command(app, "check", "Read every message to its last byte; exit 1 where something is damaged", a, kMany),
                        apps::bag_check);
  commands.emplace_back(add_command(app, "diff", "Whether two recordings say the same; else where each topic first differs", a, 2),
                        apps::bag_diff);
  commands.back().first->add_option("--topic", a.topics, "Only this topic (may be repeated)")->allow_extra_args(false);
  commands.back().first->add_flag("--ignore-times", a.ignore_times, "Compare what the messages say, not when they were received");

  if (const auto code = apps::parse(app, argc, argv)) return *code;
  apps::catch_interrupts();
  for (const auto& [command, body] : commands) {
    if (command->parsed()) return body(a);
  }
  return apps::kBadInput;
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}
