// SPDX-License-Identifier: Apache-2.0
#include "ros_messages/dynamic.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "ros_messages/cdr.hpp"
#include "ros_messages/convert.hpp"

namespace pitwall::ros_messages {

namespace {

constexpr std::uint64_t kMostExpanded = 64;
constexpr std::size_t kMostColumns = 4096;

/// Where the values of a message go, in order.
class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;
  virtual void begin_message() = 0;
  virtual void field(const std::string& name) = 0;
  virtual void end_message() = 0;
  virtual void begin_list(const FieldType& type) = 0;
  virtual void end_list() = 0;
  /// A number or boolean, as JSON spells it.
  virtual void plain(std::string_view text) = 0;
  virtual void text(std::string_view text) = 0;
};

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
  Walker(const Definition& definition, std::string_view message, Sink& sink)
      : definition_(definition), reader_(message), sink_(sink), least_(definition.types.size(), 0) {
    for (std::size_t i = 0; i < least_.size(); ++i) (void)least_size_of_type(i);
  }

  Status run() {
    message(0);
    if (Status status = reader_.finish(); !status) return Error{definition_.root().name + ": " + status.error().message};
    return {};
  }

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
        return reader_.fail("a wstring, whose bytes differ between middlewares,");
      case Kind::kMessage:
        return message(type.type);
    }
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
  std::vector<std::size_t> least_;  ///< bytes that each type has at least; 0 until it is known
};

/// Bytes of the UTF-8 character at the front (RFC 3629), or 0.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first < 0xE0 ? 2 : first >= 0xE0 && first < 0xF0 ? 3 : first >= 0xF0 && first < 0xF5 ? 4 : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool outside = (first == 0xED && byte(1) >= 0xA0) || (first == 0xF4 && byte(1) >= 0x90);
  return overlong || outside ? 0 : length;
}

void append_json_string(std::string_view text, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    const char c = text[0];
    const std::size_t length = utf8_length(text);
    if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (c == '\n' || c == '\t' || c == '\r') {
      (out += '\\') += c == '\n' ? 'n' : c == '\t' ? 't' : 'r';
    } else if (static_cast<unsigned char>(c) < 0x20) {
      ((out += "\\u00") += kHex[static_cast<unsigned char>(c) >> 4U]) += kHex[static_cast<unsigned char>(c) & 15U];
    } else if (length == 0) {
      out += "\xef\xbf\xbd";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max(std::size_t{1}, length));
  }
  out += '"';
}

class JsonSink final : public Sink {
 public:
  explicit JsonSink(std::string& out) : out_(out) {}
  void begin_message() override { open('{'); }
  void field(const std::string& name) override {
    comma();
    ((out_ += '"') += name) += "\":";
    first_ = true;
  }
  void end_message() override { close('}'); }
  void begin_list(const FieldType& /*type*/) override { open('['); }
  void end_list() override { close(']'); }
  void plain(std::string_view text) override {
    comma();
    out_ += text;
  }
  void text(std::string_view text) override {
    comma();
    append_json_string(text, out_);
  }
  /// For the next text, after `out` was emptied.
  void restart() { first_ = true; }

 private:
  void comma() {
    if (!first_) out_ += ',';
    first_ = false;
  }
  void open(char bracket) {
    comma();
    out_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    first_ = false;
  }
  std::string& out_;
  bool first_ = true;  ///< nothing stands before the next value
};

/// Whether each element has its own columns.
bool expands(const FieldType& type) { return type.shape == Shape::kArray && type.length <= kMostExpanded; }

/// One row. A list without columns of its own goes through a JsonSink into one cell.
class CsvSink final : public Sink {
 public:
  explicit CsvSink(std::string& out) : out_(out) {}
  void begin_message() override {
    if (inside_ > 0) json_.begin_message();
  }
  void field(const std::string& name) override {
    if (inside_ > 0) json_.field(name);
  }
  void end_message() override {
    if (inside_ > 0) json_.end_message();
  }
  void begin_list(const FieldType& type) override {
    if (inside_ == 0 && expands(type)) {
      ++expanded_;
      return;
    }
    ++inside_;
    json_.begin_list(type);
  }
  void end_list() override {
    if (inside_ == 0) {
      --expanded_;
      return;
    }
    json_.end_list();
    if (--inside_ > 0) return;
    cell(csv_cell(list_));
    list_.clear();
    json_.restart();
  }
  void plain(std::string_view text) override { inside_ > 0 ? json_.plain(text) : cell(text); }
  void text(std::string_view text) override { inside_ > 0 ? json_.text(text) : cell(csv_cell(text)); }

 private:
  void cell(std::string_view text) {
    if (!first_) out_ += ',';
    first_ = false;
    out_ += text;
  }
  std::string& out_;
  std::string list_;
  JsonSink json_{list_};
  int inside_ = 0;    ///< lists, the outermost of which becomes a cell
  int expanded_ = 0;  ///< lists with columns of their own
  bool first_ = true;
};

Status walk(const Definition& definition, std::string_view message, Sink& sink, std::string& out, std::size_t keep) {
  Status status = Walker(definition, message, sink).run();
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

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(text, out);
  return out;
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

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
