#include "common/base/result.hpp"

#include <array>
#include <cstddef>

namespace chipweave {

const char* to_string(Errc code) {
  // in the order of Errc
  constexpr std::array kNames = {"invalid_argument", "not_found", "conflict",
                                 "unavailable",      "deadline",  "limit_exceeded",
                                 "unsupported",      "internal",  "not_sent"};
  return kNames.at(static_cast<std::size_t>(code));
}

Error Error::in(std::string where) && {
  context.push_back(std::move(where));
  return std::move(*this);
}

std::string Error::text() const {
  std::string out;
  for (auto it = context.rbegin(); it != context.rend(); ++it) {
    out += *it;
    out += ": ";
  }
  out += message;
  return out;
}

Error make_error(Errc code, std::string message) { return Error{code, std::move(message), {}}; }

}  // namespace chipweave
