// SPDX-License-Identifier: Apache-2.0
// Plain CDR (XCDR1), the bytes of every ROS 2 message: four bytes of encapsulation, then each value aligned to its own
// size (at most 8) counted from the fifth byte; strings are a uint32 length with the final NUL, then the bytes; sequences a
// uint32 count, then the elements; a struct without fields is one byte (OMG CORBA 3.0 ch. 15, DDS-XTypes 7.4). Both byte
// orders are read, little endian is written. Nothing is read past the end or allocated before it is known to be there.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/result.hpp"

namespace pitwall::ros_messages {

/// A number of the wire; bools are read with CdrReader::boolean.
template <class T>
inline constexpr bool kIsNumber = (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) || std::is_same_v<T, std::byte>;

template <class T>
T byte_swapped(T value) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  for (std::size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(bytes[i], bytes[sizeof(T) - 1 - i]);
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// The two ways in which middlewares write a wstring; neither ends in NUL.
enum class WideLayout : std::uint8_t {
  kWords,  ///< a count of units, then each in 32 bits (Fast DDS; Cyclone DDS up to Foxy)
  kUtf16   ///< a count of bytes, then units of 16 bits (Cyclone DDS later; DDS-XTypes 1.2)
};

/// Reads values in order. After the first error everything reads as zero or empty and ok() stays false.
class CdrReader {
 public:
  /// `message` with its encapsulation; what is not plain CDR is refused.
  explicit CdrReader(std::string_view message);

  [[nodiscard]] bool ok() const { return error_.empty(); }
  [[nodiscard]] std::size_t left() const { return body_.size() - at_; }

  template <class T>
  T number() {
    static_assert(kIsNumber<T>);
    T value{};
    numbers(&value, 1);
    return value;
  }
  /// `count` numbers in a row; the caller has made room.
  template <class T>
  void numbers(T* out, std::size_t count) {
    static_assert(kIsNumber<T>);
    if (count == 0 || !align(sizeof(T)) || !need(count, sizeof(T))) return;
    std::memcpy(out, body_.data() + at_, count * sizeof(T));
    at_ += count * sizeof(T);
    if (!swap_) return;
    for (std::size_t i = 0; i < count; ++i) out[i] = byte_swapped(out[i]);
  }
  bool boolean() { return number<std::uint8_t>() != 0; }
  /// The bytes of a string, without its NUL, inside the message. A length of 0 (written by some) is an empty string.
  std::string_view text();
  /// A wide string as UTF-8; half a surrogate pair becomes U+FFFD.
  std::string wide_text(WideLayout layout);
  /// Elements of a sequence, of at least `element_size` bytes each: never more than can still be there.
  std::size_t count(std::size_t element_size);

  /// The first error wins. Names the byte.
  void fail(const std::string& what);
  /// Says in which field the error was met; called from the inside out.
  void in_field(std::string_view name);
  /// After the last value: the error, or that more than padding (7 bytes) is left over.
  [[nodiscard]] Status finish() const;

 private:
  bool align(std::size_t size);
  bool need(std::size_t count, std::size_t size);

  std::string_view body_;  ///< after the encapsulation
  std::size_t at_ = 0;
  bool swap_ = false;
  std::string error_;
  std::string field_;
};

/// Appends values in order, little endian.
class CdrWriter {
 public:
  /// Writes to `out`, whose content is replaced (its capacity is kept).
  explicit CdrWriter(std::string& out);

  template <class T>
  void number(T value) {
    numbers(&value, 1);
  }
  template <class T>
  void numbers(const T* values, std::size_t count) {
    static_assert(kIsNumber<T>);
    if (count == 0) return;
    out_.append((kEncapsulation - out_.size() % sizeof(T)) % sizeof(T), '\0');
    if constexpr (std::endian::native == std::endian::little) {
      out_.append(reinterpret_cast<const char*>(values), count * sizeof(T));
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        const T swapped = byte_swapped(values[i]);
        out_.append(reinterpret_cast<const char*>(&swapped), sizeof(T));
      }
    }
  }
  void boolean(bool value) { out_ += value ? '\1' : '\0'; }
  void text(std::string_view value);
  void count(std::size_t elements);

 private:
  static constexpr std::size_t kEncapsulation = 4;
  std::string& out_;
};

}  // namespace pitwall::ros_messages
