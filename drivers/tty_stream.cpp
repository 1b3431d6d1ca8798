// SPDX-License-Identifier: Apache-2.0
// Serial lines through termios2, which takes any baud rate; the header that declares it cannot stand beside <termios.h>.
#include <asm/termbits.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "drivers/descriptor_stream.hpp"

namespace pitwall::drivers {
namespace {

Status make_raw(int descriptor, const std::string& path, int baud) {
  termios2 settings{};
  if (::ioctl(descriptor, TCGETS2, &settings) != 0) {
    return Error{path + " is no serial line: " + std::strerror(errno)};
  }
  settings.c_iflag = IGNBRK;
  settings.c_oflag = 0;
  settings.c_lflag = 0;
  // Neither modem lines nor RTS/CTS are wired on these devices; no HUPCL, so that closing resets nothing.
  settings.c_cflag = CS8 | CREAD | CLOCAL | BOTHER | static_cast<tcflag_t>(BOTHER << IBSHIFT);
  settings.c_ispeed = static_cast<speed_t>(baud);
  settings.c_ospeed = static_cast<speed_t>(baud);
  settings.c_cc[VMIN] = 1;
  settings.c_cc[VTIME] = 0;
  if (::ioctl(descriptor, TCSETS2, &settings) != 0) {
    return Error{path + ": no " + std::to_string(baud) + " baud: " + std::strerror(errno)};
  }
  ::ioctl(descriptor, TCFLSH, TCIOFLUSH);
  return {};
}

// A slave of a pseudo terminal stays exclusive for as long as anybody has it open, which an emulated device has.
bool is_pty(int descriptor) {
  constexpr unsigned kFirst = 136;
  constexpr unsigned kLast = 143;
  struct stat file {};
  return ::fstat(descriptor, &file) == 0 && major(file.st_rdev) >= kFirst && major(file.st_rdev) <= kLast;
}

Error held(const std::string& path) {
  const std::string holders = holders_of(path);
  return Error{path + " is held by another program" + (holders.empty() ? " (of another user)" : ": " + holders)};
}

}  // namespace

Result<std::unique_ptr<ByteStream>> open_tty(const std::string& path, const TtyOptions& options) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) {
    const int error = errno;
    if (error == EBUSY) {
      return held(path);
    }
    const char* hint = error == EACCES ? " (is this user in group dialout?)" : error == ENOENT ? " (not plugged in?)" : "";
    return Error{path + ": " + std::strerror(error) + hint};
  }
  auto stream = std::make_unique<DescriptorStream>(descriptor, path);
  // The lock binds whoever asks for it, root too; TIOCEXCL everybody else.
  if (options.exclusive && ::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    stream->close();
    return held(path);
  }
  if (const Status raw = make_raw(descriptor, path, options.baud); !raw) {
    return raw.error();
  }
  if (options.exclusive && !is_pty(descriptor)) {
    ::ioctl(descriptor, TIOCEXCL);
  }
  return std::unique_ptr<ByteStream>(std::move(stream));
}

Result<PtyPair> open_pty() {
  const int near = ::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  int unlock = 0;
  unsigned number = 0;
  if (near < 0 || ::ioctl(near, TIOCSPTLCK, &unlock) != 0 || ::ioctl(near, TIOCGPTN, &number) != 0) {
    const int error = errno;
    if (near >= 0) {
      ::close(near);
    }
    return Error{std::string("/dev/ptmx: ") + std::strerror(error)};
  }
  const std::string path = "/dev/pts/" + std::to_string(number);
  // Held open, so that the master reads no error between two openers; opened before any of them, so no lock is in its way.
  const int kept = ::open(path.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (kept >= 0) {
    (void)make_raw(kept, path, 115200);
  }
  return PtyPair{std::make_unique<DescriptorStream>(near, path, DescriptorStream::Kind::kDevice, kept), path};
}

}  // namespace pitwall::drivers
