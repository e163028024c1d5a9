#include "node-agent/publish/compat/label_value.hpp"

#include <algorithm>

#include "common/base/limits.hpp"

namespace chipweave::agent {
namespace {

// Not std::isalnum, which depends on the locale.
bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
bool is_inner(char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; }

}  // namespace

std::string label_value(std::string_view text) {
  const auto* const first = std::find_if(text.begin(), text.end(), is_alphanumeric);
  std::string out(text.substr(static_cast<std::size_t>(first - text.begin())));
  out.resize(std::min(out.size(), limits::kMaxLabelBytes));
  for (char& c : out) {
    if (!is_inner(c)) c = '-';
  }
  while (!out.empty() && !is_alphanumeric(out.back())) out.pop_back();
  return out;
}

bool is_label_value(std::string_view text) {
  if (text.empty()) return true;
  return text.size() <= limits::kMaxLabelBytes && is_alphanumeric(text.front()) &&
         is_alphanumeric(text.back()) && std::all_of(text.begin(), text.end(), is_inner);
}

}  // namespace chipweave::agent
