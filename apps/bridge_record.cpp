// SPDX-License-Identifier: Apache-2.0
// bridge_record: a ROS 2 graph into a rosbag2 folder, without ROS.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "apps/bridge_parts.hpp"
#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "ros_bridge/bag_recorder.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Example:\n"
    "  bridge_record -o run1                                  # the topics of a race car\n"
    "  bridge_record -o run1 --topics /scan /odom /my/topic   # these alone, of any type\n"
    "  bridge_record -o run1 --all --max-duration 60          # whatever there is, a new file each minute\n"
    "  bridge_record -o run1 --params record.yaml             # topics: [...], max_duration_s: 60, all: false\n"
    "\n"
    "Ends at Ctrl-C. The bag is MCAP, as `ros2 bag play`, Foxglove and our `bag` read it.\n"
    "Exit code: 0 done; 1 the bag is not complete; 2 bad usage or input; 3 internal error.";

constexpr Duration kTick = from_milliseconds(50);

struct Arguments {
  std::string output;
  std::vector<std::string> topics;
  std::string parameter_file;
  double max_duration_s = 0.0;
  double seconds = 0.0;
  bool all = false;
  bool quiet = false;
};

/// What the file says, and over it what the command line says.
Result<ros_bridge::BagRecorderOptions> options_of(const Arguments& arguments) {
  struct File {
    Node topics;
    double max_duration_s = 0.0;
    bool all = false;
    void fields(FieldVisitor& f) {
      f.subtree("topics", topics, "names of topics");
      f.number("max_duration_s", max_duration_s, {"s", 0.0, 1e6, "of one file; 0: one file for all"});
      f.flag("all", all, "every topic");
    }
  } file;
  ros_bridge::BagRecorderOptions options;
  if (!arguments.parameter_file.empty()) {
    const Result<Node> node = load_yaml(arguments.parameter_file);
    if (!node) return node.error();
    if (const Status loaded = load_fields(*node, "bridge_record", file); !loaded) return loaded.error();
    if (!file.topics.is_null() && !file.topics.is_list()) return Error{file.topics.where() + ": topics: a list of names is wanted"};
    if (file.topics.is_list()) options.topics.clear();
    for (const Node& topic : file.topics.items) options.topics.push_back(topic.scalar);
  }
  if (!arguments.topics.empty()) options.topics = arguments.topics;
  for (const std::string& topic : options.topics) {
    if (topic.empty() || topic.front() != '/') return Error{"topic '" + topic + "': a name begins with /"};
  }
  options.all = arguments.all || file.all;
  const double split_s = arguments.max_duration_s > 0.0 ? arguments.max_duration_s : file.max_duration_s;
  options.write.split_after = from_seconds(split_s);
  return options;
}

int record(const Arguments& arguments) {
  const auto options = options_of(arguments);
  if (!options) return apps::bad_input(options.error());
  auto graph = apps::open_graph("bridge_record");
  if (!graph) return apps::bad_input(graph.error());
  auto recorder = ros_bridge::BagRecorder::make(arguments.output, *options, **graph);
  if (!recorder) return apps::bad_input(recorder.error());
  apps::catch_interrupts();
  const Time began = (*graph)->now();
  const Time end = began + from_seconds(arguments.seconds);
  while (!apps::interrupted() && (*recorder)->status() && (arguments.seconds <= 0.0 || (*graph)->now() < end)) {
    (*graph)->wait((*graph)->now() + kTick);
    (*recorder)->tick();
  }
  const Status closed = (*recorder)->close();
  std::string text = "wrote " + arguments.output + ": " + std::to_string((*recorder)->messages()) + " messages on " +
                     std::to_string((*recorder)->topics().size()) + " topics in " + format_number(((*graph)->now() - began).seconds(), 4) +
                     " s\n";
  for (const recording::Topic& topic : (*recorder)->topics())
    text += "  " + topic.name + "  " + topic.type + "  " + std::to_string(topic.message_count) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  const std::vector<std::string> missing = (*recorder)->missing();
  if (!missing.empty()) log::info("nobody published " + join(missing));
  if (!closed) log::error(closed.error().message);
  return closed ? apps::kPassed : apps::kFailed;
}

int run(int argc, char** argv) {
  CLI::App app("A ROS 2 graph into a rosbag2 folder, without ROS", "bridge_record");
  app.footer(kFooter);
  Arguments arguments;
  app.add_option("-o,--output", arguments.output, "Folder of the bag, which must not exist or be empty")->required();
  app.add_option("--topics", arguments.topics, "What is recorded (default: a race car's topics, docs/ros.md)");
  app.add_flag("--all", arguments.all, "Every topic");
  app.add_option("--max-duration", arguments.max_duration_s, "A new file after so many seconds (default: one file)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--params", arguments.parameter_file, "YAML file with topics, max_duration_s, all");
  app.add_option("--seconds", arguments.seconds, "End after so long (default: at Ctrl-C)")->check(CLI::NonNegativeNumber);
  app.add_flag("--quiet", arguments.quiet, "Warnings only");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  log::set_quiet(arguments.quiet);
  return record(arguments);
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}
