// SPDX-License-Identifier: Apache-2.0
// Long lists of runs that can be stopped and gone on with: every run that has finished is written to a journal, a line each, under
// the hash of its resolved scenario; a run whose hash the journal holds is not driven again.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "scenarios/outcome.hpp"
#include "scenarios/resolve.hpp"
#include "scenarios/runner.hpp"

namespace pitwall::scenarios {

/// The part of json_line(outcome) that summaries, tables and verdicts need. Errors: no JSON, a missing key.
Result<Outcome> outcome_of_json(const std::string& line);

/// What tells one run from another: its resolved scenario and this version of the program.
std::string run_key(const ResolvedRun& run);

/// Outcomes by key, kept in a file if there is one. A last line that was cut off is ignored.
class Journal {
 public:
  /// Without a file: nothing is kept. With one: what it holds is read, and new outcomes are appended.
  static Result<Journal> open(const std::filesystem::path& file);
  [[nodiscard]] const Outcome* find(const std::string& key) const;
  /// Written at once, so that a kill loses at most the run under way.
  Status add(const std::string& key, const Outcome& outcome);
  [[nodiscard]] std::size_t size() const { return known_.size(); }

 private:
  std::filesystem::path file_;
  std::map<std::string, Outcome> known_;
};

/// run_all() with a journal: in the order of the list, those that the journal holds among them. An outcome that could not be kept is
/// an error.
Status run_all_kept(
    const std::vector<ResolvedRun>& runs, int jobs, const std::atomic<bool>& stop, Journal& journal,
    const std::function<void(const Finished&)>& on_finished,
    const RunOne& run_one = static_cast<Result<Outcome> (*)(const ResolvedRun&, const std::function<bool()>&)>(run_scenario));

}  // namespace pitwall::scenarios
