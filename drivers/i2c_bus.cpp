// SPDX-License-Identifier: Apache-2.0
#include "drivers/i2c_bus.hpp"

#include <fcntl.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace pitwall::drivers {
namespace {

class I2cBus final : public bno055::RegisterBus {
 public:
  I2cBus(int descriptor, std::string name, std::uint16_t address) : descriptor_(descriptor), name_(std::move(name)), address_(address) {}
  ~I2cBus() override { ::close(descriptor_); }
  I2cBus(const I2cBus&) = delete;
  I2cBus& operator=(const I2cBus&) = delete;

  Status write(std::uint8_t first, Bytes values) override {
    std::vector<std::uint8_t> bytes{first};
    for (const std::byte b : values) {
      bytes.push_back(std::to_integer<std::uint8_t>(b));
    }
    i2c_msg message{address_, 0, static_cast<std::uint16_t>(bytes.size()), bytes.data()};
    return transfer(&message, 1);
  }

  Status read(std::uint8_t first, std::span<std::byte> values) override {
    // One transfer with a repeated start: nobody gets between the register's number and its contents.
    std::array<i2c_msg, 2> messages{
        {{address_, 0, 1, &first},
         {address_, I2C_M_RD, static_cast<std::uint16_t>(values.size()), reinterpret_cast<std::uint8_t*>(values.data())}}};
    return transfer(messages.data(), messages.size());
  }

 private:
  Status transfer(i2c_msg* messages, std::size_t count) {
    i2c_rdwr_ioctl_data data{messages, static_cast<std::uint32_t>(count)};
    if (::ioctl(descriptor_, I2C_RDWR, &data) < 0) {
      return Error{name_ + ", address " + std::to_string(address_) + ": " + std::strerror(errno)};
    }
    return {};
  }

  int descriptor_;
  std::string name_;
  std::uint16_t address_;
};

}  // namespace

Result<std::unique_ptr<bno055::RegisterBus>> open_i2c(const std::string& path, std::uint16_t address) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) {
    return Error{path + ": " + std::strerror(errno)};
  }
  unsigned long abilities = 0;
  if (::ioctl(descriptor, I2C_FUNCS, &abilities) < 0 || (abilities & I2C_FUNC_I2C) == 0) {
    ::close(descriptor);
    return Error{path + " is no I2C adapter"};
  }
  return std::unique_ptr<bno055::RegisterBus>(std::make_unique<I2cBus>(descriptor, path, address));
}

}  // namespace pitwall::drivers
