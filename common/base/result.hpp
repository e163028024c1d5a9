// Result<T> — a value or an Error: how every expected failure travels in chipweave.
//
// Exceptions are for broken invariants and for constructors; anything that a caller can provoke
// (bad input, a full node, a peer that is gone) is a Result. The class is [[nodiscard]], so an
// ignored failure does not compile.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace chipweave {

// What kind of failure it is; each protocol maps it to its own codes in one table.
enum class Errc {
  invalid_argument,  // the input is wrong; repeating it will not help
  not_found,
  conflict,     // the state does not allow it: taken, bound elsewhere, other uid
  unavailable,  // not ready or not reachable; try again
  deadline,
  limit_exceeded,  // over a size or count limit of limits.hpp
  unsupported,
  internal,
  not_sent,  // the request did not leave this process: it changed nothing; try again
};

// Stable text of a code as it appears in JSON answers, e.g. "invalid_argument".
const char* to_string(Errc code);

struct Error {
  Errc code = Errc::internal;
  std::string message;               // what is wrong and how to fix it
  std::vector<std::string> context;  // innermost first: "links[3].kind", "file topo.json"

  // Adds where it happened, from the inside out.
  Error in(std::string where) &&;
  // "file topo.json: links[3].kind: message"
  std::string text() const;
};

Error make_error(Errc code, std::string message);

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Precondition of value access: ok(); of error(): !ok(). Breaking it throws
  // std::bad_variant_access (a bug).
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

  T value_or(T fallback) && { return ok() ? std::move(*this).value() : std::move(fallback); }

  // f: T -> Result<U>; the error passes through.
  template <class F>
  auto and_then(F&& f) && -> std::invoke_result_t<F, T&&> {
    if (!ok()) return std::move(*this).error();
    return std::forward<F>(f)(std::move(*this).value());
  }
  // f: T -> U
  template <class F>
  auto transform(F&& f) && -> Result<std::invoke_result_t<F, T&&>> {
    if (!ok()) return std::move(*this).error();
    return std::forward<F>(f)(std::move(*this).value());
  }

 private:
  std::variant<T, Error> state_;
};

// Success without a value.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}
  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const& { return error_.value(); }
  Error&& error() && { return std::move(error_).value(); }

 private:
  std::optional<Error> error_;
};

}  // namespace chipweave
