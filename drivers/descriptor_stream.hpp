// SPDX-License-Identifier: Apache-2.0
// The one ByteStream there is: a descriptor that does not block. What differs between kinds is how it was opened.
#pragma once

#include <string>
#include <utility>

#include "drivers/byte_stream.hpp"

namespace pitwall::drivers {

/// poll() of one descriptor for at most `patience`, over signals; the events, 0 for none.
int wait_for(int descriptor, short events, Duration patience);

class DescriptorStream final : public ByteStream {
 public:
  enum class Kind { kDevice, kSocket, kFifo };
  /// Takes the descriptors; `kept` is only held open.
  DescriptorStream(int descriptor, std::string name, Kind kind = Kind::kDevice, int kept = -1)
      : descriptor_(descriptor), kept_(kept), kind_(kind), name_(std::move(name)) {}
  ~DescriptorStream() override;

  IoResult read_some(std::span<std::byte> buffer, Duration patience) override;
  IoResult write_all(Bytes bytes, Duration patience) override;
  void close() override;
  [[nodiscard]] int descriptor() const override { return descriptor_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  bool set_dtr(bool on) override;

 private:
  int descriptor_;
  int kept_;
  Kind kind_;
  std::string name_;
};

}  // namespace pitwall::drivers
