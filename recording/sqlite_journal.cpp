// SPDX-License-Identifier: Apache-2.0
#include "recording/sqlite_journal.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <string>
#include <system_error>

#include "recording/byte_source.hpp"

namespace pitwall::recording {

namespace {

namespace fs = std::filesystem;

fs::path journal_of(const fs::path& database) { return database.string() + "-journal"; }

/// A copy that may be written, whatever may be done to the original.
Status writable_copy(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  fs::copy_file(from, to, failed);
  if (!failed) fs::permissions(to, fs::perms::owner_read | fs::perms::owner_write, failed);
  if (failed) return Error{from.string() + ": cannot be copied to " + to.string() + ": " + failed.message()};
  return {};
}

}  // namespace

bool has_hot_journal(const fs::path& database) {
  constexpr std::array<std::uint8_t, 8> kMagic = {0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7};
  const auto journal = open_source(journal_of(database));
  std::array<std::uint8_t, kMagic.size()> start{};
  return journal && (*journal)->read(0, start) == start.size() && start == kMagic;
}

Status roll_back_in_copy(const fs::path& database, const fs::path& rolled_back) {
  const fs::path journal = journal_of(rolled_back);
  std::error_code ignored;
  Status copied = writable_copy(database, rolled_back);
  if (copied) copied = writable_copy(journal_of(database), journal);
  if (!copied) {
    fs::remove(rolled_back, ignored);
    fs::remove(journal, ignored);
    return copied;
  }
  sqlite3* raw = nullptr;
  // The first read rolls back. What a damaged file answers to it is found out again when the copy is read.
  if (sqlite3_open_v2(rolled_back.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr) == SQLITE_OK) {
    sqlite3_exec(raw, "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr);
  }
  const int code = sqlite3_errcode(raw);
  const std::string why = sqlite3_errmsg(raw);
  sqlite3_close(raw);
  fs::remove(journal, ignored);
  const bool written = code != SQLITE_FULL && code != SQLITE_IOERR && code != SQLITE_CANTOPEN && code != SQLITE_READONLY;
  return written ? Status() : Status(Error{rolled_back.string() + ": cannot be rolled back: " + why});
}

}  // namespace pitwall::recording
