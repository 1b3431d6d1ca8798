// SPDX-License-Identifier: Apache-2.0
// Where the source tree is, for tests that read its files. A function, so that only one object file knows the path and
// every other one is shared between checkouts by ccache.
#pragma once

#include <filesystem>

namespace pitwall {

/// The root of the source tree that this program was built from.
std::filesystem::path source_dir();

}  // namespace pitwall
