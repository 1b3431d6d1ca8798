// SPDX-License-Identifier: Apache-2.0
// Message structs list their fields once:
//
//   struct Vector3 {
//     static constexpr std::string_view kType = "geometry_msgs/msg/Vector3";
//     double x = 0.0, y = 0.0, z = 0.0;
//     template <class Self, class Visitor>
//     static void fields(Self& m, Visitor& v) { v("x", m.x)("y", m.y)("z", m.z); }
//   };
//
// and from that list come reading and writing (here), the schema text and the type hash (describe.hpp). A field is a
// number, bool, std::byte (`byte`), std::string, BoundedString, another message, or a std::array or std::vector of those.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/check.hpp"
#include "core/result.hpp"
#include "ros_messages/cdr.hpp"

namespace pitwall::ros_messages {

/// `string<=Limit`: a longer one is an error to read and a bug to write.
template <std::size_t Limit>
struct BoundedString {
  static constexpr std::size_t kLimit = Limit;
  std::string value;
  bool operator==(const BoundedString&) const = default;
};

template <class T>
inline constexpr bool kIsMessage = requires {
  T::kType;
};
template <class T>
inline constexpr bool kIsBoundedString = requires {
  T::kLimit;
};
template <class T>
inline constexpr bool kIsArray = false;
template <class T, std::size_t N>
inline constexpr bool kIsArray<std::array<T, N>> = true;
template <class T>
inline constexpr bool kIsSequence = false;
template <class T>
inline constexpr bool kIsSequence<std::vector<T>> = true;

namespace detail {

/// Bytes that a value has at least, without padding: what a sequence's length is checked against.
template <class T>
std::size_t least_size();

struct SizeVisitor {
  std::size_t size = 0;
  template <class T>
  SizeVisitor& operator()(std::string_view /*name*/, const T& /*value*/) {
    size += least_size<T>();
    return *this;
  }
};

template <class T>
std::size_t least_size() {
  if constexpr (kIsMessage<T>) {
    static const std::size_t size = [] {
      SizeVisitor visitor;
      const T message;
      T::fields(message, visitor);
      return visitor.size == 0 ? std::size_t{1} : visitor.size;
    }();
    return size;
  } else if constexpr (kIsArray<T>) {
    return std::tuple_size_v<T> * least_size<typename T::value_type>();
  } else if constexpr (kIsNumber<T> || std::is_same_v<T, bool>) {
    return sizeof(T);
  } else {
    return sizeof(std::uint32_t);  // the length of a string or sequence
  }
}

template <class T>
void read_value(CdrReader& reader, T& value);

struct ReadVisitor {
  CdrReader& reader;
  bool any = false;
  template <class T>
  ReadVisitor& operator()(std::string_view name, T& value) {
    any = true;
    if (!reader.ok()) return *this;
    read_value(reader, value);
    if (!reader.ok()) reader.in_field(name);
    return *this;
  }
};

template <class Container>
void read_elements(CdrReader& reader, Container& values) {
  using Element = typename Container::value_type;
  if constexpr (kIsNumber<Element>) {
    reader.numbers(values.data(), values.size());
  } else if constexpr (std::is_same_v<Element, bool>) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = reader.boolean();
  } else {
    for (std::size_t i = 0; i < values.size() && reader.ok(); ++i) {
      read_value(reader, values[i]);
      if (!reader.ok()) reader.in_field("[" + std::to_string(i) + "]");
    }
  }
}

template <class T>
void read_value(CdrReader& reader, T& value) {
  if constexpr (kIsMessage<T>) {
    ReadVisitor visitor{reader};
    T::fields(value, visitor);
    if (!visitor.any) reader.template number<std::uint8_t>();
  } else if constexpr (kIsArray<T>) {
    read_elements(reader, value);
  } else if constexpr (kIsSequence<T>) {
    value.resize(reader.count(least_size<typename T::value_type>()));
    read_elements(reader, value);
  } else if constexpr (kIsBoundedString<T>) {
    value.value = reader.text();
    if (value.value.size() > T::kLimit) reader.fail("a string longer than " + std::to_string(T::kLimit));
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = reader.text();
  } else if constexpr (std::is_same_v<T, bool>) {
    value = reader.boolean();
  } else {
    value = reader.template number<T>();
  }
}

template <class T>
void write_value(CdrWriter& writer, const T& value);

struct WriteVisitor {
  CdrWriter& writer;
  bool any = false;
  template <class T>
  WriteVisitor& operator()(std::string_view /*name*/, const T& value) {
    any = true;
    write_value(writer, value);
    return *this;
  }
};

template <class T>
void write_value(CdrWriter& writer, const T& value) {
  if constexpr (kIsMessage<T>) {
    WriteVisitor visitor{writer};
    T::fields(value, visitor);
    if (!visitor.any) writer.number(std::uint8_t{0});
  } else if constexpr (kIsArray<T> || kIsSequence<T>) {
    using Element = typename T::value_type;
    if constexpr (kIsSequence<T>) writer.count(value.size());
    if constexpr (kIsNumber<Element>) {
      writer.numbers(value.data(), value.size());
    } else {
      for (const Element& each : value) write_value(writer, each);
    }
  } else if constexpr (kIsBoundedString<T>) {
    PITWALL_CHECK(value.value.size() <= T::kLimit, value.value);
    writer.text(value.value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    writer.text(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    writer.boolean(value);
  } else {
    writer.number(value);
  }
}

}  // namespace detail

/// Reads one recorded or received message into `message`, reusing its memory. The error names type, field and byte;
/// `message` is then partly filled.
template <class Message>
Status read(std::string_view bytes, Message& message) {
  CdrReader reader(bytes);
  detail::read_value(reader, message);
  if (Status status = reader.finish(); !status) return Error{std::string(Message::kType) + ": " + status.error().message};
  return {};
}

/// The message that the bytes hold.
template <class Message>
Result<Message> read(std::string_view bytes) {
  Message message;
  if (Status status = read(bytes, message); !status) return status.error();
  return message;
}

/// The message as little-endian CDR with its encapsulation, in place of what `out` held.
template <class Message>
void write(const Message& message, std::string& out) {
  CdrWriter writer(out);
  detail::write_value(writer, message);
}

/// The message as little-endian CDR with its encapsulation.
template <class Message>
std::string write(const Message& message) {
  std::string out;
  write(message, out);
  return out;
}

}  // namespace pitwall::ros_messages
