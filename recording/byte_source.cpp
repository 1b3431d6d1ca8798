// SPDX-License-Identifier: Apache-2.0
#include "recording/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace pitwall::recording {
namespace {

class FileSource final : public ByteSource {
 public:
  FileSource(int file, std::uint64_t size) : file_(file), size_(size) {}
  ~FileSource() override { ::close(file_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  [[nodiscard]] std::uint64_t size() const override { return size_; }

  std::size_t read(std::uint64_t offset, std::span<std::uint8_t> into) override {
    std::size_t done = 0;
    while (done < into.size()) {
      const ssize_t got = ::pread(file_, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  int file_;
  std::uint64_t size_;
};

class FileSink final : public ByteSink {
 public:
  FileSink(int file, std::string name, bool durable) : file_(file), name_(std::move(name)), durable_(durable) {}
  ~FileSink() override { ::close(file_); }
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  Status write(Bytes bytes) override {
    while (!bytes.empty()) {
      const ssize_t put = ::write(file_, bytes.data(), bytes.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return Error{name_ + ": cannot write: " + std::strerror(errno)};
      bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
    return {};
  }

  Status sync() override {
    if (durable_ && ::fdatasync(file_) != 0) return Error{name_ + ": cannot sync: " + std::strerror(errno)};
    return {};
  }

 private:
  int file_;
  std::string name_;
  bool durable_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_source(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return Error{path.string() + ": cannot read: " + std::strerror(errno)};
  struct stat about {};
  if (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
    ::close(file);
    return Error{path.string() + ": is no regular file"};
  }
  return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(file, static_cast<std::uint64_t>(about.st_size)));
}

std::size_t MemorySource::read(std::uint64_t offset, std::span<std::uint8_t> into) {
  if (offset >= bytes_.size()) return 0;
  const std::size_t count = std::min(into.size(), bytes_.size() - static_cast<std::size_t>(offset));
  if (count > 0) std::memcpy(into.data(), bytes_.data() + offset, count);
  return count;
}

Result<std::unique_ptr<ByteSink>> create_sink(const std::filesystem::path& path, bool durable) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) return Error{path.string() + ": cannot create: " + std::strerror(errno)};
  return std::unique_ptr<ByteSink>(std::make_unique<FileSink>(file, path.string(), durable));
}

}  // namespace pitwall::recording
