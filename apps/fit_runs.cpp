// SPDX-License-Identifier: Apache-2.0
#include "apps/fit_runs.hpp"

#include <unistd.h>

#include <memory>
#include <optional>
#include <system_error>

#include "analysis/motion.hpp"
#include "analysis/run_data.hpp"
#include "recording/import_run.hpp"

namespace pitwall::apps {
namespace {

namespace fs = std::filesystem;

/// A folder for the time of one import.
class Temporary {
 public:
  Temporary() : path_((fs::temp_directory_path() / ("fit_sim-" + std::to_string(::getpid()) + "-XXXXXX")).string()) {
    if (::mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~Temporary() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Whether import_run knows it and nothing else does: a table, or a folder of them without a bag.
bool is_foreign(const fs::path& path) {
  std::error_code failed;
  if (path.extension() == ".csv") return true;
  return fs::is_directory(path, failed) && fs::exists(path / "commandData.csv", failed);
}

/// A scanner too slow for pairs of every second scan is matched scan by scan.
localization::ScanTrackParameters paired(double period_s) {
  localization::ScanTrackParameters parameters;
  if (period_s * static_cast<double>(parameters.stride) <= parameters.max_pair_s) return parameters;
  parameters.stride = 1;
  parameters.max_pair_s = std::max(parameters.max_pair_s, 1.5 * period_s);
  return parameters;
}

Result<fit::RunInput> read_recording(const fs::path& path, const FitRunOptions& options) {
  constexpr std::int64_t kFewestBeams = 100;  // a handful of beams matches anything
  std::unique_ptr<analysis::MotionTracker> tracker;
  analysis::LoadOptions load;
  load.car = options.recorded_car;
  load.topics = options.topics;
  load.progress = [&](std::uint64_t /*done*/, std::uint64_t /*total*/) { return !options.go_on || options.go_on(); };
  load.scan = [&](const recording::RunData& run, const LaserScan& scan) {
    if (static_cast<std::int64_t>(scan.ranges.size()) < kFewestBeams) return;
    if (!tracker) {
      const Pose2 mount = run.T_base_lidar.value_or(options.car.lidar_mount());
      tracker = std::make_unique<analysis::MotionTracker>(paired(run.scan_period_s), mount, run.origin, options.jobs);
    }
    tracker->add(scan);
  };
  const Result<recording::RunData> run = analysis::load_run(path, load);
  if (!run) return run.error();
  return fit::drive_of(*run, tracker ? tracker->finish() : localization::MotionSeries{});
}

}  // namespace

Result<fit::RunInput> read_drive(const fs::path& path, const FitRunOptions& options) {
  if (!is_foreign(path)) return read_recording(path, options);
  const Temporary folder;
  if (folder.path().empty()) return Error{fs::temp_directory_path().string() + ": no folder can be made in it"};
  recording::ImportOptions import;
  import.log = path;
  import.output = folder.path();
  const Result<recording::ImportReport> imported = recording::import_run(import);
  if (!imported) return imported.error();
  Result<fit::RunInput> input = read_recording(folder.path(), options);
  if (!input) {
    std::string message = input.error().message;
    if (const auto at = message.find(folder.path()); at != std::string::npos) message.replace(at, folder.path().size(), path.string());
    return Error{message};
  }
  input->drive.name = path.stem().string();
  for (const std::string& trap : imported->traps) input->notes.push_back("imported: " + trap);
  return input;
}

}  // namespace pitwall::apps
