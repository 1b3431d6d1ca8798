// SPDX-License-Identifier: Apache-2.0
// The IDL that ROS 2 knows (https://design.ros2.org/articles/idl_interface_definition.html; a part of OMG IDL 4.2): modules, structs,
// typedefs and constants. A recording holds each file of it behind a line of 80 '=' and one of "IDL: package/msg/Type".
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/text.hpp"
#include "ros_messages/definition_sections.hpp"

namespace pitwall::ros_messages::detail {

namespace {

struct Token {
  std::string_view text;  ///< an identifier, a number, a literal with its quotes, "::", or one character; empty at the end
  int line = 0;
};

/// Blanks, comments, #include lines and the lines between files are stepped over.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { next(); }

  [[nodiscard]] const Token& peek() const { return token_; }
  Token take() {
    const Token taken = token_;
    next();
    return taken;
  }

 private:
  void next() {
    skip();
    token_ = {text_.substr(0, length()), line_};
    drop(token_.text.size());
  }
  void drop(std::size_t count) {
    line_ += static_cast<int>(std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(count), '\n'));
    line_start_ = count > 0 && text_[count - 1] == '\n';
    text_.remove_prefix(count);
  }
  void drop_line() { drop(std::min(text_.find('\n'), text_.size() - 1) + 1); }

  void skip() {
    while (!text_.empty()) {
      if (text_.starts_with("//") || text_[0] == '#' || (line_start_ && (text_.starts_with("===") || text_.starts_with("IDL:")))) {
        drop_line();
      } else if (text_.starts_with("/*")) {
        drop(std::min(text_.find("*/", 2), text_.size() - 2) + 2);
      } else if (std::string_view(" \t\r\n\f\v").find(text_[0]) != std::string_view::npos) {
        drop(1);
      } else {
        return;
      }
    }
  }

  /// Of the token at the front.
  [[nodiscard]] std::size_t length() const {
    if (text_.empty()) return 0;
    const auto word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
    if (word(text_[0])) return static_cast<std::size_t>(std::find_if_not(text_.begin(), text_.end(), word) - text_.begin());
    if (text_.starts_with("::")) return 2;
    if (text_[0] != '"' && text_[0] != '\'') return 1;
    std::size_t end = 1;
    while (end < text_.size() && text_[end] != text_[0]) end += text_[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text_.size());
  }

  std::string_view text_;
  Token token_;
  int line_ = 1;
  bool line_start_ = true;
};

/// A type as IDL names it; `message` is the name of one that is not built in.
struct Named {
  FieldType type;
  std::string message;
};

std::optional<Kind> kind_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Kind>, 19> kNames = {{{"int8", Kind::kInt8},
                                                                         {"uint8", Kind::kUint8},
                                                                         {"int16", Kind::kInt16},
                                                                         {"uint16", Kind::kUint16},
                                                                         {"int32", Kind::kInt32},
                                                                         {"uint32", Kind::kUint32},
                                                                         {"int64", Kind::kInt64},
                                                                         {"uint64", Kind::kUint64},
                                                                         {"short", Kind::kInt16},
                                                                         {"unsigned short", Kind::kUint16},
                                                                         {"long", Kind::kInt32},
                                                                         {"unsigned long", Kind::kUint32},
                                                                         {"long long", Kind::kInt64},
                                                                         {"unsigned long long", Kind::kUint64},
                                                                         {"float", Kind::kFloat32},
                                                                         {"double", Kind::kFloat64},
                                                                         {"boolean", Kind::kBool},
                                                                         {"octet", Kind::kByte},
                                                                         {"char", Kind::kChar}}};
  const auto found = std::find_if(kNames.begin(), kNames.end(), [&](const auto& each) { return each.first == name; });
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

class IdlParser {
 public:
  IdlParser(const std::string& root, std::string_view text, Sections& sections) : root_(root), lexer_(text), sections_(sections) {}

  Status run() {
    body("");
    if (!lexer_.peek().text.empty()) fail("'" + std::string(lexer_.peek().text) + "' closes nothing");
    return status_;
  }

 private:
  static constexpr int kMaxModules = 8;

  [[nodiscard]] bool at(std::string_view text) const { return status_.ok() && lexer_.peek().text == text; }
  bool accept(std::string_view text) {
    if (!at(text)) return false;
    lexer_.take();
    return true;
  }
  void fail(const std::string& what) {
    if (status_) status_ = at_line(root_, lexer_.peek().line, what);
  }
  void fail_at_token(const std::string& wanted) {
    const std::string_view found = lexer_.peek().text;
    fail("expected " + wanted + ", found " + (found.empty() ? "the end" : "'" + std::string(found) + "'"));
  }
  void expect(std::string_view text) {
    if (!accept(text)) fail_at_token("'" + std::string(text) + "'");
  }
  std::string name() {
    const std::string text(lexer_.peek().text);
    if (!is_identifier(text)) fail_at_token("a name");
    if (status_) lexer_.take();
    return text;
  }

  /// Everything up to the '}' that closes a module, or the end.
  void body(const std::string& scope) {
    while (status_ && !lexer_.peek().text.empty() && !at("}")) {
      annotations();
      if (accept("module")) {
        module(scope);
      } else if (accept("struct")) {
        structure(scope);
      } else if (accept("typedef")) {
        Named type = type_of(scope);
        declarators(type, [&](const std::string& alias, const Named& declared) { typedefs_[scope + alias] = declared; });
      } else if (accept("const")) {
        while (status_ && !lexer_.peek().text.empty() && !at(";")) lexer_.take();
        expect(";");
      } else {
        fail_at_token("module, struct, typedef or const (no ROS type has more)");
      }
    }
  }

  void module(const std::string& scope) {
    const std::string inner = scope + name() + "/";
    if (std::count(inner.begin(), inner.end(), '/') > kMaxModules) fail("more than " + std::to_string(kMaxModules) + " modules deep");
    expect("{");
    body(inner);
    expect("}");
    accept(";");
  }

  void structure(const std::string& scope) {
    const std::string full = scope + name();
    if (!is_type_name(full)) fail("struct '" + full + "' lies deeper than package::msg");
    expect("{");
    Section section;
    while (status_ && !at("}")) {
      annotations();
      Named type = type_of(scope);
      declarators(type, [&](const std::string& field, const Named& declared) {
        const auto same = [&](const RawField& each) { return each.field.name == field; };
        if (std::any_of(section.fields.begin(), section.fields.end(), same)) fail("field '" + field + "' is there twice");
        section.fields.push_back({{field, declared.type, ""}, declared.message, lexer_.peek().line});
      });
    }
    expect("}");
    expect(";");
    // What stands for no field at all: the one byte that such a type has anyway.
    if (section.fields.size() == 1 && section.fields[0].field.name == "structure_needs_at_least_one_member") section.fields.clear();
    if (status_) sections_.emplace(full_type_name(full), std::move(section));
  }

  /// '@name' or '@name (...)', any number of them.
  void annotations() {
    while (accept("@")) {
      name();
      if (!accept("(")) continue;
      for (int open = 1; status_ && open > 0;) {
        const Token token = lexer_.take();
        if (token.text.empty()) return fail("an annotation lacks its ')'");
        open += token.text == "(" ? 1 : token.text == ")" ? -1 : 0;
      }
    }
  }

  /// "a, b[3];" after a type.
  template <class Declare>
  void declarators(const Named& type, const Declare& declare) {
    do {
      const std::string declared = name();
      Named each = type;
      if (accept("[")) {
        if (each.type.shape != Shape::kSingle) fail("'" + declared + "' is an array of arrays or sequences, which no ROS type has");
        each.type.shape = Shape::kArray;
        each.type.length = length();
        expect("]");
        if (at("[")) fail("'" + declared + "' has two dimensions, which no ROS type has");
      }
      if (status_) declare(declared, each);
    } while (accept(","));
    expect(";");
  }

  std::uint64_t length() {
    const Result<std::uint64_t> value = parse_length(lexer_.peek().text);
    if (!value) fail(value.error().message);
    if (status_) lexer_.take();
    return value ? *value : 1;
  }

  Named type_of(const std::string& scope) {
    if (accept("sequence")) return sequence(scope);
    Named named;
    if (at("string") || at("wstring")) {
      named.type.kind = lexer_.take().text == "string" ? Kind::kString : Kind::kWString;
      if (!accept("<")) return named;
      named.type.string_limit = length();
      expect(">");
      return named;
    }
    std::string text(at("::") ? "" : name());
    while (at("short") || at("long") || at("double")) text += " " + name();  // "unsigned long long"
    if (const auto kind = kind_of(text)) {
      named.type.kind = *kind;
      return named;
    }
    while (accept("::")) text += (text.empty() ? "" : "/") + name();
    if (const Named* alias = typedef_of(scope, text)) return *alias;
    if (!is_type_name(text) || text.find(' ') != std::string::npos || text == "wchar" || text == "unsigned")
      fail("'" + text + "' is not a type of ROS");
    named.type.kind = Kind::kMessage;
    named.message = text;
    return named;
  }

  Named sequence(const std::string& scope) {
    expect("<");
    Named named;
    if (at("sequence")) {
      fail("a sequence of sequences, which no ROS type has");
    } else {
      named = type_of(scope);
    }
    if (named.type.shape != Shape::kSingle) fail("a sequence of arrays or sequences, which no ROS type has");
    named.type.shape = Shape::kSequence;
    if (accept(",")) {
      named.type.shape = Shape::kBoundedSequence;
      named.type.length = length();
    }
    expect(">");
    return named;
  }

  /// Looked up from the scope outwards.
  [[nodiscard]] const Named* typedef_of(std::string scope, const std::string& text) const {
    while (true) {
      const auto found = typedefs_.find(scope + text);
      if (found != typedefs_.end()) return &found->second;
      if (scope.empty()) return nullptr;
      scope.pop_back();
      scope.resize(scope.rfind('/') + 1);
    }
  }

  const std::string& root_;
  Lexer lexer_;
  Sections& sections_;
  std::map<std::string, Named> typedefs_;
  Status status_;
};

}  // namespace

Status add_idl_sections(const std::string& root, std::string_view text, Sections& sections) {
  return IdlParser(root, text, sections).run();
}

}  // namespace pitwall::ros_messages::detail
