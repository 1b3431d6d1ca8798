// SPDX-License-Identifier: Apache-2.0
#include "ros_messages/dynamic.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "ros_messages/cdr.hpp"
#include "ros_messages/convert.hpp"
#include "ros_messages/message_sinks.hpp"

namespace pitwall::ros_messages {

namespace {

using detail::CsvSink;
using detail::expands;
using detail::JsonSink;
using detail::NoSink;
using detail::Sink;

constexpr std::size_t kMostColumns = 4096;

template <class Number>
void put(Sink& sink, Number value) {
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(value)) return sink.text(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
  }
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  sink.plain({buffer.data(), static_cast<std::size_t>(end - buffer.data())});
}

/// Reads a message by its definition and hands its values to a sink.
class Walker {
 public:
  Walker(const Definition& definition, std::string_view message, Sink& sink, WideLayout wide)
      : definition_(definition), reader_(message), sink_(sink), wide_(wide), least_(definition.types.size(), 0) {
    for (std::size_t i = 0; i < least_.size(); ++i) (void)least_size_of_type(i);
  }

  Status run() {
    message(0);
    if (Status status = reader_.finish(); !status) return Error{definition_.root().name + ": " + status.error().message};
    return {};
  }
  [[nodiscard]] std::size_t left() const { return reader_.left(); }

 private:
  void message(std::size_t type) {
    const MessageType& each = definition_.types[type];
    sink_.begin_message();
    if (each.fields.empty()) reader_.number<std::uint8_t>();
    for (const Field& field : each.fields) {
      if (!reader_.ok()) return;
      sink_.field(field.name);
      value(field.type);
      if (!reader_.ok()) reader_.in_field(field.name);
    }
    sink_.end_message();
  }

  void value(const FieldType& type) {
    if (type.shape == Shape::kSingle) return single(type);
    std::size_t count = type.length;
    const std::size_t least = std::max(std::size_t{1}, least_size(type, false));
    if (type.shape != Shape::kArray) {
      count = reader_.count(least);
      if (type.shape == Shape::kBoundedSequence && count > type.length) {
        return reader_.fail(std::to_string(count) + " elements, more than " + std::to_string(type.length) + ",");
      }
    } else if (count > reader_.left() / least) {
      return reader_.fail("an array of " + std::to_string(count));
    }
    sink_.begin_list(type);
    for (std::size_t i = 0; i < count && reader_.ok(); ++i) {
      single(type);
      if (!reader_.ok()) reader_.in_field("[" + std::to_string(i) + "]");
    }
    sink_.end_list();
  }

  void single(const FieldType& type) {
    switch (type.kind) {
      case Kind::kInt8:
        return number<std::int8_t>();
      case Kind::kUint8:
      case Kind::kByte:
      case Kind::kChar:
        return number<std::uint8_t>();
      case Kind::kInt16:
        return number<std::int16_t>();
      case Kind::kUint16:
        return number<std::uint16_t>();
      case Kind::kInt32:
        return number<std::int32_t>();
      case Kind::kUint32:
        return number<std::uint32_t>();
      case Kind::kInt64:
        return number<std::int64_t>();
      case Kind::kUint64:
        return number<std::uint64_t>();
      case Kind::kFloat32:
        return number<float>();
      case Kind::kFloat64:
        return number<double>();
      case Kind::kBool:
        return sink_.plain(reader_.boolean() ? "true" : "false");
      case Kind::kString: {
        const std::string_view text = reader_.text();
        if (type.string_limit > 0 && text.size() > type.string_limit)
          return reader_.fail("a string longer than " + std::to_string(type.string_limit));
        return sink_.text(text);
      }
      case Kind::kWString:
        return wide_text(type);
      case Kind::kMessage:
        return message(type.type);
    }
  }

  void wide_text(const FieldType& type) {
    const std::string text = reader_.wide_text(wide_);
    // The bound counts 16-bit units; each makes at most three bytes.
    if (type.string_limit > 0 && text.size() > 3 * type.string_limit)
      return reader_.fail("a wstring longer than " + std::to_string(type.string_limit));
    sink_.text(text);
  }

  template <class Number>
  void number() {
    put(sink_, reader_.number<Number>());
  }

  std::size_t least_size(const FieldType& type, bool whole) {
    if (whole && (type.shape == Shape::kSequence || type.shape == Shape::kBoundedSequence)) return sizeof(std::uint32_t);
    std::size_t size = kind_size(type.kind);
    if (type.kind == Kind::kMessage) size = least_size_of_type(type.type);
    if (type.kind == Kind::kString || type.kind == Kind::kWString) size = sizeof(std::uint32_t);
    const std::size_t count = whole && type.shape == Shape::kArray ? type.length : 1;
    return size > kHuge / count ? kHuge : size * count;
  }

  std::size_t least_size_of_type(std::size_t type) {
    if (least_[type] > 0) return least_[type];
    std::size_t sum = 0;
    for (const Field& field : definition_.types[type].fields) sum = std::min(kHuge, sum + least_size(field.type, true));
    return least_[type] = std::max(std::size_t{1}, sum);
  }

  static constexpr std::size_t kHuge = std::size_t{1} << 40;  // more than any message has
  const Definition& definition_;
  CdrReader reader_;
  Sink& sink_;
  WideLayout wide_;
  std::vector<std::size_t> least_;  ///< bytes that each type has at least; 0 until it is known
};

/// How the message holds its wide strings: as the reading does that succeeds, of two that do the one that leaves less behind.
WideLayout wide_layout(const Definition& definition, std::string_view message) {
  const auto is_wide = [](const Field& field) { return field.type.kind == Kind::kWString; };
  const auto has_wide = [&](const MessageType& type) { return std::any_of(type.fields.begin(), type.fields.end(), is_wide); };
  if (std::none_of(definition.types.begin(), definition.types.end(), has_wide)) return WideLayout::kWords;
  const auto left = [&](WideLayout layout) {
    NoSink nowhere;
    Walker walker(definition, message, nowhere, layout);
    return walker.run().ok() ? walker.left() : std::numeric_limits<std::size_t>::max();
  };
  return left(WideLayout::kUtf16) < left(WideLayout::kWords) ? WideLayout::kUtf16 : WideLayout::kWords;
}

Status walk(const Definition& definition, std::string_view message, Sink& sink, std::string& out, std::size_t keep) {
  Status status = Walker(definition, message, sink, wide_layout(definition, message)).run();
  if (!status) out.resize(keep);
  return status;
}

/// Collects the names of the columns; ok() is false where they are too many, or too much is empty.
class Columns {
 public:
  explicit Columns(const Definition& definition) : definition_(definition) {}

  void add(const FieldType& type, const std::string& name) {
    if (++steps_ > kMostSteps || names_.size() > kMostColumns) return;
    if (expands(type)) {
      FieldType one = type;
      one.shape = Shape::kSingle;
      for (std::uint64_t i = 0; i < type.length; ++i) add(one, name + "[" + std::to_string(i) + "]");
    } else if (type.shape != Shape::kSingle || type.kind != Kind::kMessage) {
      names_.push_back(name);
    } else {
      for (const Field& field : definition_.types[type.type].fields) {
        if (!ok()) return;
        add(field.type, name.empty() ? field.name : name + "." + field.name);
      }
    }
  }
  [[nodiscard]] bool ok() const { return steps_ <= kMostSteps && names_.size() <= kMostColumns; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  static constexpr int kMostSteps = 100'000;  // messages of messages of nothing have no columns, but may be many
  const Definition& definition_;
  std::vector<std::string> names_;
  int steps_ = 0;
};

}  // namespace

Status append_json(const Definition& definition, std::string_view message, std::string& out) {
  JsonSink sink(out);
  return walk(definition, message, sink, out, out.size());
}

Result<std::vector<std::string>> csv_columns(const Definition& definition) {
  Columns columns(definition);
  columns.add({Kind::kMessage, Shape::kSingle, 0, 0, 0}, "");
  if (!columns.ok()) return Error{definition.root().name + " has more than " + std::to_string(kMostColumns) + " columns"};
  return columns.names();
}

Status append_csv(const Definition& definition, std::string_view message, std::string& out) {
  CsvSink sink(out);
  return walk(definition, message, sink, out, out.size());
}

Result<std::optional<Time>> first_stamp(const Definition& definition, std::string_view message) {
  CdrReader reader(message);
  std::size_t type = 0;
  while (definition.types[type].name != Stamp::kType) {
    const MessageType& each = definition.types[type];
    if (each.fields.empty() || each.fields[0].type.kind != Kind::kMessage) return std::optional<Time>();
    const FieldType& first = each.fields[0].type;
    const bool sequence = first.shape == Shape::kSequence || first.shape == Shape::kBoundedSequence;
    if (sequence && reader.count(1) == 0 && reader.ok()) return std::optional<Time>();
    type = first.type;
  }
  const auto sec = reader.number<std::int32_t>();
  const auto nanosec = reader.number<std::uint32_t>();
  if (!reader.ok()) return Error{definition.root().name + ": " + reader.finish().error().message};
  return std::optional<Time>(to_time({sec, nanosec}));
}

}  // namespace pitwall::ros_messages
