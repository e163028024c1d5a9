#include "common/base/dns_name.hpp"

#include <algorithm>
#include <vector>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"

namespace chipweave {
namespace {

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || is_digit(c); }

bool well_formed(std::string_view label) {
  return !label.empty() && is_letter_or_digit(label.front()) && is_letter_or_digit(label.back()) &&
         std::all_of(label.begin(), label.end(),
                     [](char c) { return is_letter_or_digit(c) || c == '-'; });
}

}  // namespace

bool is_dns_label(std::string_view text) {
  return text.size() <= limits::kMaxLabelBytes && well_formed(text);
}

bool is_dns_subdomain(std::string_view text) {
  if (text.size() > limits::kMaxNameBytes) return false;
  const std::vector<std::string_view> labels = split(text, '.');
  return std::all_of(labels.begin(), labels.end(), well_formed);
}

}  // namespace chipweave
