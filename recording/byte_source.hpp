// SPDX-License-Identifier: Apache-2.0
// Where recordings come from and go to: files, or memory in tests. Reads are by position; nothing is mapped, since a
// file that shrinks under a mapping kills the process.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/result.hpp"
#include "recording/bytes.hpp"

namespace pitwall::recording {

/// Bytes that can be read anywhere.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Reads up to `into.size()` bytes from `offset` on and says how many there were: fewer at the end of the file or
  /// where the medium fails.
  virtual std::size_t read(std::uint64_t offset, std::span<std::uint8_t> into) = 0;
};

/// A file; the error names it and says why it cannot be read.
Result<std::unique_ptr<ByteSource>> open_source(const std::filesystem::path& path);

/// Bytes in memory, which must outlive it.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(Bytes bytes) : bytes_(bytes) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  std::size_t read(std::uint64_t offset, std::span<std::uint8_t> into) override;

 private:
  Bytes bytes_;
};

/// Where a writer's bytes go, in order.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;

  /// All of the bytes, or an error; after an error the sink is not used again.
  virtual Status write(Bytes bytes) = 0;
  /// Waits until the medium has them, where asked for at opening.
  virtual Status sync() { return {}; }
};

/// A new file (an old one of that name is refused). `durable`: sync() waits for the disk.
Result<std::unique_ptr<ByteSink>> create_sink(const std::filesystem::path& path, bool durable);

class MemorySink final : public ByteSink {
 public:
  Status write(Bytes bytes) override {
    append(bytes_, bytes);
    return {};
  }
  [[nodiscard]] const Buffer& bytes() const { return bytes_; }

 private:
  Buffer bytes_;
};

}  // namespace pitwall::recording
