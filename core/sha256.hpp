// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4): names data for good, across machines and programs (ROS 2 type hashes, files of a run). For
// traces there is the faster core/hash.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pitwall {

/// Add bytes in pieces of any size, then read hex() once.
class Sha256 {
 public:
  void add(std::string_view bytes);
  /// 64 lower-case hexadecimal digits; ends the message, so that nothing may be added afterwards.
  [[nodiscard]] std::string hex();

 private:
  void add_block(const unsigned char* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667U, 0xbb67ae85U, 0x3c6ef372U, 0xa54ff53aU,
                                         0x510e527fU, 0x9b05688cU, 0x1f83d9abU, 0x5be0cd19U};
  std::array<unsigned char, 64> block_{};
  std::size_t filled_ = 0;
  std::uint64_t size_ = 0;
};

/// The digest of one text.
std::string sha256_hex(std::string_view bytes);

}  // namespace pitwall
