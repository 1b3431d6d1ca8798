// SPDX-License-Identifier: Apache-2.0
// A database whose writer was stopped within a transaction has a rollback journal beside it, with the pages as they were before
// (https://www.sqlite.org/fileformat.html, section 3). Until it is rolled back the file may hold half of the transaction.
#pragma once

#include <filesystem>

#include "core/result.hpp"

namespace pitwall::recording {

/// Whether a journal with a header lies beside the database: an empty one, or one whose header was cleared, is of a finished transaction.
bool has_hot_journal(const std::filesystem::path& database);

/// Copies the database and its journal, to `rolled_back` and has SQLite undo the transaction there. The originals are only read. The error
/// says what could not be written; a journal that is damaged itself is rolled back as far as its checksums hold.
Status roll_back_in_copy(const std::filesystem::path& database, const std::filesystem::path& rolled_back);

}  // namespace pitwall::recording
