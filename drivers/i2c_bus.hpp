// SPDX-License-Identifier: Apache-2.0
// Registers of a device on a Linux I2C adapter (/dev/i2c-N).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/result.hpp"
#include "drivers/bno055.hpp"

namespace pitwall::drivers {

/// The device at the 7-bit `address` (BNO055: 0x28 or 0x29). Each call is one transfer; its error names adapter and address.
[[nodiscard]] Result<std::unique_ptr<bno055::RegisterBus>> open_i2c(const std::string& path, std::uint16_t address);

}  // namespace pitwall::drivers
