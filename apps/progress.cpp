// SPDX-License-Identifier: Apache-2.0
#include "apps/progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <string>

namespace pitwall::apps {

ProgressBar::ProgressBar(std::size_t total) : total_(total), terminal_(::isatty(STDERR_FILENO) == 1) {}

void ProgressBar::show(std::size_t done) {
  constexpr std::size_t kWidth = 40;
  if (!terminal_ || total_ == 0 || done >= total_) return;
  const std::size_t filled = kWidth * done / total_;
  const std::string bar = std::string(filled, '#') + std::string(kWidth - filled, '.');
  std::fprintf(stderr, "\r[%s] %zu of %zu", bar.c_str(), done, total_);
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressBar::clear() {
  if (!drawn_) return;
  std::fputs("\r\033[K", stderr);  // carriage return, erase to the end of the line
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace pitwall::apps
