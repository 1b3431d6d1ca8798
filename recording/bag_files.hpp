// SPDX-License-Identifier: Apache-2.0
// Which files a recording consists of, and what each is: told by content, not by name.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "recording/bag.hpp"
#include "recording/metadata.hpp"
#include "recording/storage.hpp"

namespace pitwall::recording {

enum class FileKind : std::uint8_t { kMcap, kSqlite, kCompressed, kOther };

/// By the first bytes; where a damage took those, by what follows them, and by the name only where nothing does.
FileKind kind_of(const std::filesystem::path& file);

/// A recording on disk, before any of it is read.
struct BagFiles {
  std::vector<std::filesystem::path> paths;  ///< in play order
  std::optional<BagMetadata> metadata;       ///< as metadata.yaml claims
};

/// Finds the files of a folder (those that metadata.yaml lists, then later splits beside them) or takes the one file given.
/// The error says what is missing.
Result<BagFiles> find_files(const std::filesystem::path& folder_or_file, Findings& findings);

/// An open storage file; decompressed, or rolled back, into a temporary one where need be, which is gone with it.
class OpenFile {
 public:
  static Result<OpenFile> open(const std::filesystem::path& path, Findings& findings);
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile();

  [[nodiscard]] Storage& storage() const { return *storage_; }
  [[nodiscard]] FileKind kind() const { return kind_; }
  [[nodiscard]] bool is_temporary() const { return !temporary_.empty(); }

 private:
  OpenFile() = default;
  std::filesystem::path temporary_;
  std::unique_ptr<Storage> storage_;
  FileKind kind_ = FileKind::kOther;
};

}  // namespace pitwall::recording
