// SPDX-License-Identifier: Apache-2.0
// Where the values of a message go while it is read by its definition: to JSON, to a row of CSV, to nowhere. Internal to dynamic.cpp.
#pragma once

#include <string>
#include <string_view>

#include "ros_messages/definition.hpp"
#include "ros_messages/dynamic.hpp"

namespace pitwall::ros_messages::detail {

void append_json_string(std::string_view text, std::string& out);

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

/// For a message that is only to be walked through.
class NoSink final : public Sink {
 public:
  void begin_message() override {}
  void field(const std::string& /*name*/) override {}
  void end_message() override {}
  void begin_list(const FieldType& /*type*/) override {}
  void end_list() override {}
  void plain(std::string_view /*text*/) override {}
  void text(std::string_view /*text*/) override {}
};

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
inline bool expands(const FieldType& type) {
  constexpr std::uint64_t kMostExpanded = 64;
  return type.shape == Shape::kArray && type.length <= kMostExpanded;
}

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

}  // namespace pitwall::ros_messages::detail
