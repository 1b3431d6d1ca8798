// SPDX-License-Identifier: Apache-2.0
// Runs two simulated seconds of gap_follow from the installed libraries and data (argument: share/pitwall). Prints the
// trace hash: the flags that come with the package must give the hash that the installed program gives.
#include <cstdio>

#include "scenarios/run.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  pitwall::scenarios::ValidationOptions options;
  options.data = argv[1];
  options.scenario = "gap";
  options.quick = true;
  options.timeout_s = 2.0;
  const auto runs = pitwall::scenarios::resolve(options);
  if (!runs) {
    std::fprintf(stderr, "%s\n", runs.error().message.c_str());
    return 2;
  }
  const auto outcome = pitwall::scenarios::run_scenario(runs->front(), [] { return false; });
  if (!outcome) return 2;
  std::printf("%s\n", outcome->trace_hash.c_str());
  return 0;
}
