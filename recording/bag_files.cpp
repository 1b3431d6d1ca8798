// SPDX-License-Identifier: Apache-2.0
#include "recording/bag_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <system_error>
#include <tuple>

#include "core/files.hpp"
#include "core/text.hpp"
#include "recording/byte_source.hpp"
#include "recording/compression.hpp"
#include "recording/mcap_records.hpp"
#include "recording/sqlite_journal.hpp"

namespace pitwall::recording {
namespace {

namespace fs = std::filesystem;

/// "run_12.mcap.zstd": the family "run", split 12. A name without a number is split -1 of itself.
struct SplitName {
  std::string family;
  std::int64_t number = -1;
};
SplitName split_name(const fs::path& path) {
  std::string stem = path.filename().string();
  stem.resize(std::min(stem.size(), stem.find('.', 1)));
  const std::size_t bar = stem.rfind('_');
  const auto number = bar == std::string::npos ? std::nullopt : parse_int(std::string_view(stem).substr(bar + 1));
  if (!number || *number < 0) return {stem, -1};
  return {stem.substr(0, bar), *number};
}

bool is_side_file(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with("-wal") || name.ends_with("-shm") || name.ends_with("-journal") || name == "metadata.yaml";
}

/// Files of the folder that are recordings by content, splits in order; an error where it cannot be listed.
Result<std::vector<fs::path>> recordings_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code failed;
  fs::directory_iterator it(folder, failed);
  if (failed) return Error{folder.string() + ": cannot be listed: " + failed.message()};
  for (const fs::directory_iterator end; it != end && !failed; it.increment(failed)) {
    if (it->is_regular_file(failed) && !is_side_file(it->path()) && kind_of(it->path()) != FileKind::kOther) found.push_back(it->path());
  }
  std::sort(found.begin(), found.end(), [](const fs::path& a, const fs::path& b) {
    const SplitName x = split_name(a);
    const SplitName y = split_name(b);
    return std::tie(x.family, x.number, a) < std::tie(y.family, y.number, b);
  });
  // x.db3 beside x.db3.zstd is what a player left behind when it decompressed.
  std::erase_if(found, [&](const fs::path& path) { return std::find(found.begin(), found.end(), path.string() + ".zstd") != found.end(); });
  return found;
}

/// The file that a line of metadata.yaml means, or nothing.
std::optional<fs::path> listed_file(const fs::path& folder, const std::string& listed) {
  std::error_code ignored;
  const fs::path name = fs::path(listed).filename();
  for (const fs::path& path : {folder / name, folder / (name.string() + ".zstd")}) {
    if (fs::is_regular_file(path, ignored)) return path;
  }
  return std::nullopt;
}

std::string names(const std::vector<fs::path>& paths) {
  std::vector<std::string> list;
  for (const fs::path& path : paths) list.push_back(path.filename().string());
  return join(list);
}

Result<BagFiles> without_metadata(const fs::path& folder, std::vector<fs::path> found) {
  if (found.empty()) return Error{folder.string() + ": holds no recording (neither MCAP nor sqlite3 files, plain or zstd)"};
  for (std::size_t k = 1; k < found.size(); ++k) {
    const SplitName before = split_name(found[k - 1]);
    const SplitName here = split_name(found[k]);
    if (before.family != here.family || before.number == here.number) {
      return Error{folder.string() + ": holds several recordings and no metadata.yaml; name one of: " + names(found)};
    }
  }
  return BagFiles{std::move(found), std::nullopt};
}

/// Listed files, then splits of the same family that the list does not know yet.
Result<BagFiles> with_metadata(const fs::path& folder, BagMetadata metadata, const std::vector<fs::path>& found, Findings& findings) {
  const std::string name = (folder / "metadata.yaml").string();
  BagFiles files;
  for (const std::string& listed : metadata.paths) {
    const auto path = listed_file(folder, listed);
    if (path) {
      files.paths.push_back(*path);
    } else {
      findings.add({Severity::kDamage, name, 0, "lists " + listed + ", which is not there", "read the others"});
    }
  }
  const std::vector<fs::path> listed = files.paths;
  for (const fs::path& path : found) {
    if (std::find(listed.begin(), listed.end(), path) != listed.end()) continue;
    const SplitName here = split_name(path);
    const bool decompressed = std::find(listed.begin(), listed.end(), path.string() + ".zstd") != listed.end();
    const bool later = std::all_of(listed.begin(), listed.end(), [&](const fs::path& other) {
      const SplitName split = split_name(other);
      return split.family == here.family && split.number != here.number;
    });
    if (later && !decompressed) {
      files.paths.push_back(path);
      findings.add({Severity::kNote, name, 0, "does not list " + path.filename().string(), "read it as a later split"});
    } else {
      findings.add(
          {Severity::kNote, name, 0, path.filename().string() + " lies beside the files listed and is no split of theirs", "left it out"});
    }
  }
  if (files.paths.empty()) return Error{name + ": none of the files it lists is there"};
  files.metadata = std::move(metadata);
  return files;
}

fs::path temporary_name(const fs::path& path) {
  static std::atomic<int> count = 0;
  return fs::temp_directory_path() / ("pitwall_" + std::to_string(::getpid()) + "_" + std::to_string(count++) + "_" + path.stem().string());
}

}  // namespace

FileKind kind_of(const fs::path& file) {
  const std::string name = file.filename().string();
  auto source = open_source(file);
  if (!source) return FileKind::kOther;
  std::array<std::uint8_t, 128> bytes{};
  const std::size_t size = (*source)->read(0, bytes);
  const Bytes start = Bytes(bytes).first(size);
  constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);
  if (size >= mcap::kMagic.size() && std::equal(mcap::kMagic.begin(), mcap::kMagic.end(), start.begin())) return FileKind::kMcap;
  if (as_text(start).starts_with(kSqliteMagic)) return FileKind::kSqlite;
  if (is_zstd(start)) return FileKind::kCompressed;
  // Without its magic: an MCAP file goes on with a header record, a database with fixed fractions at byte 21.
  if (size > 8 + mcap::kRecordHead && start[8] == 1 && load_le<std::uint64_t>(&start[9]) < (1U << 16) &&
      name.find(".mcap") != std::string::npos) {
    return FileKind::kMcap;
  }
  if (size >= 100 && start[21] == 64 && start[22] == 32 && start[23] == 32) return FileKind::kSqlite;
  if (name.ends_with(".mcap")) return FileKind::kMcap;
  return name.ends_with(".db3") ? FileKind::kSqlite : FileKind::kOther;
}

Result<BagFiles> find_files(const fs::path& given, Findings& findings) {
  std::error_code failed;
  const fs::file_status status = fs::status(given, failed);
  if (!fs::exists(status)) return Error{given.string() + ": no such file or folder"};
  if (!fs::is_directory(status)) {
    if (!fs::is_regular_file(status)) return Error{given.string() + ": is no regular file"};
    auto readable = open_source(given);
    if (!readable) return readable.error();
    if (kind_of(given) == FileKind::kOther) return Error{given.string() + ": is neither MCAP nor sqlite3, plain or zstd"};
    return BagFiles{{given}, std::nullopt};
  }
  const fs::path folder = fs::exists(given / "run.json", failed) && fs::is_directory(given / "bag", failed) ? given / "bag" : given;
  const Result<std::vector<fs::path>> listed = recordings_in(folder);
  if (!listed) return listed.error();
  const std::vector<fs::path>& found = *listed;
  const std::string name = (folder / "metadata.yaml").string();
  if (!fs::exists(name, failed)) {
    findings.add({Severity::kNote, name, 0, "is missing", "read the files without it"});
    return without_metadata(folder, found);
  }
  const auto text = read_file(name);
  auto metadata = text ? parse_metadata(*text, name) : Result<BagMetadata>(text.error());
  if (!metadata) {
    findings.add({Severity::kNote, name, 0, "is unreadable: " + metadata.error().message, "read the files without it"});
    return without_metadata(folder, found);
  }
  if (metadata->paths.empty()) {
    findings.add({Severity::kNote, name, 0, "lists no files", "read the files without it"});
    return without_metadata(folder, found);
  }
  return with_metadata(folder, std::move(*metadata), found, findings);
}

Result<OpenFile> OpenFile::open(const fs::path& path, Findings& findings) {
  const std::string name = path.string();
  OpenFile file;
  fs::path plain = path;
  file.kind_ = kind_of(path);
  if (file.kind_ == FileKind::kCompressed) {
    plain = file.temporary_ = temporary_name(path);
    const auto decoded = decompress_file(path, plain);
    if (!decoded) return decoded.error();
    if (*decoded != Decoded::kWhole) {
      const std::string what = *decoded == Decoded::kCut ? "the zstd data end early" : "the zstd data are damaged";
      findings.add({Severity::kDamage, name, 0, what, "kept what decodes before"});
    }
    file.kind_ = kind_of(plain);
  }
  if (file.kind_ == FileKind::kSqlite && has_hot_journal(plain)) {
    plain = file.temporary_ = temporary_name(path);
    if (const Status rolled_back = roll_back_in_copy(path, plain); !rolled_back) return rolled_back.error();
    findings.add({Severity::kDamage, name, 0, "a rollback journal lies beside it: its writer was stopped, or is, within a transaction",
                  "rolled a copy back to the state before"});
  }
  if (file.kind_ == FileKind::kSqlite) {
    file.storage_ = open_sqlite(plain.string(), name, findings);
    return file;
  }
  if (file.kind_ != FileKind::kMcap) findings.add({Severity::kDamage, name, 0, "what decodes is neither MCAP nor sqlite3", ""});
  auto source = open_source(plain);
  if (!source) return source.error();
  file.storage_ = open_mcap(std::move(*source), name, findings);
  return file;
}

OpenFile::OpenFile(OpenFile&& other) noexcept
    : temporary_(std::exchange(other.temporary_, {})), storage_(std::move(other.storage_)), kind_(other.kind_) {}

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(temporary_, other.temporary_);
  std::swap(storage_, other.storage_);
  std::swap(kind_, other.kind_);
  return *this;
}

OpenFile::~OpenFile() {
  storage_.reset();
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove(temporary_, ignored);
}

}  // namespace pitwall::recording
