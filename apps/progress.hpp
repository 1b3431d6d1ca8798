// SPDX-License-Identifier: Apache-2.0
// A progress bar on stderr, only where that is a terminal; everywhere else it prints nothing.
#pragma once

#include <cstddef>

namespace pitwall::apps {

class ProgressBar {
 public:
  explicit ProgressBar(std::size_t total);
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Draws the bar; nothing on anything but a terminal, or once all is done.
  void show(std::size_t done);
  /// Takes the bar off the line, so that a result can be printed there.
  void clear();

 private:
  std::size_t total_;
  bool terminal_;
  bool drawn_ = false;
};

}  // namespace pitwall::apps
