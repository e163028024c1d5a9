#include "common/base/foreign_text.hpp"

#include <algorithm>

#include "common/base/text.hpp"

namespace chipweave {
namespace {

constexpr std::string_view kHidden = "***";
constexpr std::string_view kCallers = "/callers/";
constexpr std::string_view kAuthority = "://";

// Where a part of a URL ends that holds none of these.
std::size_t end_of(std::string_view text, std::size_t from) {
  return std::min(text.find_first_of("/?#\"'\\<> \t\r\n", from), text.size());
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  return out;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMax = 120;
  return '"' + printable(with_dots(text, kMax)) + '"';
}

std::string without_secrets(std::string_view text) {
  std::string out;
  std::size_t copied = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    std::size_t hide_to = at;
    std::size_t begin = at;
    if (rest.starts_with(kCallers)) {
      begin = at + kCallers.size();
      hide_to = end_of(text, begin);
    } else if (rest.starts_with(kAuthority)) {
      begin = at + kAuthority.size();
      const std::string_view authority = text.substr(begin, end_of(text, begin) - begin);
      const std::size_t at_sign = authority.rfind('@');
      hide_to = at_sign == std::string_view::npos ? begin : begin + at_sign;
    }
    if (hide_to > begin) {
      out.append(text.substr(copied, begin - copied)).append(kHidden);
      copied = hide_to;
    }
    at = std::max(hide_to, at + 1);
  }
  return out.append(text.substr(copied));
}

}  // namespace chipweave
