// SPDX-License-Identifier: Apache-2.0
#include "core/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace pitwall::detail {

void check_failed(const char* file, int line, const char* condition, const std::string& values) {
  std::fprintf(stderr, "%s:%d: internal error: check `%s` failed:%s\n", file, line, condition, values.c_str());
  std::abort();
}

}  // namespace pitwall::detail
