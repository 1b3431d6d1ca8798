// SPDX-License-Identifier: Apache-2.0
// A value, or the one message a user needs: what is wrong, in which file, line and key, and what is allowed.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "core/check.hpp"

namespace pitwall {

/// Bad input or a failed environment, in words for the user (no stack, no type names).
struct Error {
  std::string message;
};

/// Either a T or an Error. Reading the side that is not there is a bug and aborts with the message.
template <class T>
class [[nodiscard]] Result {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): so that `return value;` reads as it should
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): so that `return Error{...};` reads as it should
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & {
    PITWALL_CHECK(ok(), std::get<1>(state_).message);
    return std::get<0>(state_);
  }
  [[nodiscard]] const T& value() const& {
    PITWALL_CHECK(ok(), std::get<1>(state_).message);
    return std::get<0>(state_);
  }
  [[nodiscard]] T&& value() && {
    PITWALL_CHECK(ok(), std::get<1>(state_).message);
    return std::get<0>(std::move(state_));
  }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }

  [[nodiscard]] const Error& error() const {
    PITWALL_CHECK(!ok());
    return std::get<1>(state_);
  }

 private:
  std::variant<T, Error> state_;
};

/// Success, or an Error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): so that `return Error{...};` reads as it should
  Status(Error error) : error_(std::move(error)) {}

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const {
    PITWALL_CHECK(!ok());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace pitwall
