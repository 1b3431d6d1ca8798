// SPDX-License-Identifier: Apache-2.0
#include "tests/support/source_dir.hpp"

namespace pitwall {

std::filesystem::path source_dir() { return PITWALL_SOURCE_DIR; }

}  // namespace pitwall
