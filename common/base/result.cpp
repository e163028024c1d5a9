#include "common/base/result.hpp"

namespace chipweave {

const char* to_string(Errc code) {
  switch (code) {
    case Errc::invalid_argument:
      return "invalid_argument";
    case Errc::not_found:
      return "not_found";
    case Errc::conflict:
      return "conflict";
    case Errc::unavailable:
      return "unavailable";
    case Errc::deadline:
      return "deadline";
    case Errc::limit_exceeded:
      return "limit_exceeded";
    case Errc::unsupported:
      return "unsupported";
    case Errc::internal:
      return "internal";
  }
  return "internal";
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
