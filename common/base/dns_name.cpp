#include "common/base/dns_name.hpp"

#include <algorithm>

#include "common/base/limits.hpp"

namespace chipweave {

bool is_dns_label(std::string_view text) {
  const auto alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= limits::kMaxLabelBytes && alnum(text.front()) &&
         alnum(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return alnum(c) || c == '-'; });
}

bool is_dns_subdomain(std::string_view text) {
  if (text.size() > limits::kMaxNameBytes) return false;
  const auto alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  bool begin = true;  // of a label
  char last = '.';
  for (const char c : text) {
    if (c == '.') {
      if (begin || last == '-') return false;
      begin = true;
    } else {
      if (!alnum(c) && (begin || c != '-')) return false;
      begin = false;
    }
    last = c;
  }
  return !begin && last != '-';
}

}  // namespace chipweave
