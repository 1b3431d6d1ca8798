// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and SIGTERM as a question that long work asks now and then, so that it can end with what is complete.
#pragma once

namespace pitwall::apps {

/// From here on SIGINT and SIGTERM no longer end the process; interrupted() says that they came; and a file that
/// reaches the limit of the shell is an error of the write.
void catch_interrupts();
bool interrupted();

}  // namespace pitwall::apps
