// SPDX-License-Identifier: Apache-2.0
#include "drivers/device_link.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "core/check.hpp"

namespace pitwall::drivers {
namespace {

constexpr Duration kFirstWait = from_milliseconds(100);
constexpr Duration kLongestWait = from_milliseconds(2'000);
constexpr Duration kStable = from_milliseconds(5'000);
constexpr Duration kWritePatience = from_milliseconds(20);
constexpr int kReadsPerStep = 16;  // then time and commands have their turn again

}  // namespace

void Backoff::failed(Time now) {
  next_ = now + wait_;
  wait_ = std::min(2 * wait_, kLongestWait);
}

void Backoff::lost(Time now) {
  if (now - opened_ >= kStable) {
    wait_ = kFirstWait;
  }
  failed(now);
}

DeviceLink::DeviceLink(Session& session, Opener opener) : session_(session), opener_(std::move(opener)) {
  wake_descriptor_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  PITWALL_CHECK(wake_descriptor_ >= 0);
}

DeviceLink::DeviceLink(Session& session, StreamAddress address)
    : DeviceLink(session, [address = std::move(address)] { return open_stream(address); }) {}

DeviceLink::~DeviceLink() { ::close(wake_descriptor_); }

void DeviceLink::wake() {
  const std::uint64_t one = 1;
  (void)!::write(wake_descriptor_, &one, sizeof one);
}

void DeviceLink::open(Time now) {
  if (now < backoff_.next_attempt()) {
    return;
  }
  auto stream = opener_();
  if (!stream) {
    trouble_ = stream.error().message;
    lost_since_ = lost_since_.value_or(now);
    backoff_.failed(monotonic_now());
    return;
  }
  stream_ = std::move(*stream);
  now = monotonic_now();
  backoff_.opened(now);
  trouble_.clear();
  lost_since_.reset();
  if (on_open_) {
    on_open_(*stream_);
  }
  session_.start(now);
}

void DeviceLink::lose(const std::string& why, Time now) {
  trouble_ = stream_->name() + ": " + why;
  stream_.reset();
  session_.lost(trouble_);
  lost_since_ = now;
  backoff_.lost(now);
}

void DeviceLink::write_queued(Time now) {
  const std::vector<std::byte> bytes = session_.to_send();
  if (!stream_ || bytes.empty()) {
    return;
  }
  const IoResult written = stream_->write_all(bytes, kWritePatience);
  if (written.lost()) {
    lose(written.message, now);
  } else if (!written.done()) {
    // Half a frame is on the wire; nothing that follows it would be understood.
    lose("the device takes no more bytes", now);
  }
}

void DeviceLink::read_ready() {
  std::array<std::byte, 4096> buffer;
  for (int i = 0; i < kReadsPerStep && stream_; ++i) {
    const IoResult got = stream_->read_some(buffer, Duration{});
    const Time now = monotonic_now();
    if (got.done()) {
      session_.receive(Bytes(buffer).first(got.bytes), now);
    } else if (got.lost()) {
      lose(got.message, now);
    } else {
      return;
    }
  }
}

void DeviceLink::step(Duration longest_wait) {
  Time now = monotonic_now();
  if (!stream_) {
    open(now);
  }
  now = monotonic_now();
  session_.advance(now);
  write_queued(now);
  const Time due = stream_ ? session_.next_deadline() : backoff_.next_attempt();
  const Duration left{std::clamp<std::int64_t>(due.ns > now.ns ? due.ns - now.ns : 0, 0, std::max<std::int64_t>(longest_wait.ns, 0))};
  const timespec wait{left.ns / 1'000'000'000, left.ns % 1'000'000'000};
  std::array<pollfd, 2> entries{{{wake_descriptor_, POLLIN, 0}, {stream_ ? stream_->descriptor() : -1, POLLIN, 0}}};
  if (::ppoll(entries.data(), entries.size(), &wait, nullptr) > 0) {
    std::uint64_t woken = 0;
    (void)!::read(wake_descriptor_, &woken, sizeof woken);
    if (entries[1].revents != 0) {
      read_ready();
    }
  }
  now = monotonic_now();
  session_.advance(now);
  write_queued(now);
  if (stream_ && session_.phase() == Phase::kReconnect) {
    lose(session_.status(), now);
  }
}

void DeviceLink::close(Duration patience) {
  const std::vector<std::byte> bytes = session_.to_send();
  if (stream_ && !bytes.empty()) {
    (void)stream_->write_all(bytes, patience);
  }
  stream_.reset();
  trouble_ = "closed";
  session_.lost(trouble_);
}

}  // namespace pitwall::drivers
