// SPDX-License-Identifier: Apache-2.0
#include "core/sha256.hpp"

#include <doctest/doctest.h>

namespace pitwall {

TEST_CASE("SHA-256 has the published digests") {  // FIPS 180-4 examples, and the million a's of the NIST set
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256_hex(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256 does not depend on how the bytes were cut") {
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes += static_cast<char>(i * 7);
  for (std::size_t length = 0; length < 150; ++length) {  // over the ends of one and two blocks
    const std::string_view message = std::string_view(bytes).substr(0, length);
    for (const std::size_t piece : {1UL, 3UL, 55UL, 64UL}) {
      Sha256 hash;
      for (std::size_t at = 0; at < length; at += piece) hash.add(message.substr(at, piece));
      CHECK(hash.hex() == sha256_hex(message));
    }
  }
}

}  // namespace pitwall
