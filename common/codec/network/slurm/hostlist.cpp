#include "common/codec/network/slurm/hostlist.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/text/numbers.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr std::size_t kMaxDigits = 18;
constexpr std::size_t kMaxBrackets = 8;  // of one name

Error bad_list(std::string_view text, const std::string& why) {
  return network_error("host list " + quoted_excerpt(text) + ": " + why);
}

Error too_many_names(std::string_view text) {
  return make_error(Errc::limit_exceeded,
                    "host list " + quoted_excerpt(text) + " expands to more than " +
                        std::to_string(limits::kMaxNetworkDomains) + " names; split it");
}

std::optional<std::uint64_t> number(std::string_view digits) {
  const bool good = !digits.empty() && digits.size() <= kMaxDigits &&
                    digits.find_first_not_of("0123456789") == std::string_view::npos;
  return good ? parse_unsigned(digits) : std::nullopt;
}

std::string padded(std::uint64_t value, std::size_t width) {
  std::string out = std::to_string(value);
  if (out.size() < width) out.insert(0, width - out.size(), '0');
  return out;
}

// "0-3,12" → its numbers as texts.
Result<std::vector<std::string>> expand_ranges(std::string_view whole, std::string_view ranges) {
  std::vector<std::string> out;
  while (true) {
    const std::size_t comma = std::min(ranges.find(','), ranges.size());
    const std::string_view range = ranges.substr(0, comma);
    const std::size_t dash = std::min(range.find('-'), range.size());
    const std::string_view from = range.substr(0, dash);
    const std::string_view to = dash < range.size() ? range.substr(dash + 1) : from;
    const auto first = number(from);
    const auto last = number(to);
    if (!first || !last) {
      return bad_list(whole,
                      "expected a number or a range like 01-16, got " + quoted_excerpt(range));
    }
    if (*first > *last) return bad_list(whole, "range " + quoted_excerpt(range) + " is reversed");
    if (*last - *first >= limits::kMaxNetworkDomains - out.size()) return too_many_names(whole);
    for (std::uint64_t i = *first; i <= *last; ++i) out.push_back(padded(i, from.size()));
    if (comma == ranges.size()) return out;
    ranges.remove_prefix(comma + 1);
  }
}

// One name with any brackets.
Result<std::vector<std::string>> expand_name(std::string_view name) {
  std::vector<std::string> out{""};
  std::size_t brackets = 0;
  std::string_view rest = name;
  while (!rest.empty()) {
    const std::size_t open = std::min(rest.find('['), rest.size());
    for (std::string& text : out) text += rest.substr(0, open);
    rest.remove_prefix(open);
    if (rest.empty()) break;
    const std::size_t close = rest.find(']');
    if (close == std::string_view::npos) return bad_list(name, "missing ]");
    if (++brackets > kMaxBrackets) {
      return bad_list(name, "more than " + std::to_string(kMaxBrackets) + " brackets in one name");
    }
    const Result<std::vector<std::string>> numbers = expand_ranges(name, rest.substr(1, close - 1));
    if (!numbers) return numbers.error();
    if (out.size() * numbers->size() > limits::kMaxNetworkDomains) return too_many_names(name);
    std::vector<std::string> next;
    next.reserve(out.size() * numbers->size());
    for (const std::string& text : out) {
      for (const std::string& digits : *numbers) next.push_back(text + digits);
    }
    out = std::move(next);
    rest.remove_prefix(close + 1);
  }
  return out;
}

// Commas outside of brackets.
std::vector<std::string_view> split_names(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t start = 0;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') inside = true;
    if (text[i] == ']') inside = false;
    if (text[i] != ',' || inside) continue;
    out.push_back(text.substr(start, i - start));
    start = i + 1;
  }
  out.push_back(text.substr(start));
  return out;
}

// A name that ends in a number: the part before it, and the number.
struct Numbered {
  std::string_view prefix;
  std::string_view digits;
  std::uint64_t value = 0;
};

Numbered numbered(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  Numbered out;
  out.prefix = name.substr(0, last == std::string_view::npos ? 0 : last + 1);
  out.digits = name.substr(out.prefix.size());
  const auto value = number(out.digits);
  if (!value) return {name, {}, 0};
  out.value = *value;
  return out;
}

// Whether `b` continues a run that ends with `a`: 08, 09, 10, but not 08, 9, 10.
bool continues(const Numbered& a, const Numbered& b) {
  if (a.digits.empty() || b.digits.empty() || a.prefix != b.prefix) return false;
  return b.value == a.value + 1 && padded(b.value, a.digits.size()) == b.digits;
}

}  // namespace

Result<std::vector<std::string>> expand_hostlist(std::string_view text) {
  std::vector<std::string> out;
  for (std::string_view name : split_names(text)) {
    name = trim(name);
    if (name.empty()) return bad_list(text, "empty name between commas");
    if (name.find_first_of("[]") == std::string_view::npos) {
      out.emplace_back(name);
    } else {
      Result<std::vector<std::string>> names = expand_name(name);
      if (!names) return names;
      for (std::string& one : *names) {
        if (one.find(']') != std::string::npos) return bad_list(name, "] without [");
        out.push_back(std::move(one));
      }
    }
    if (out.size() > limits::kMaxNetworkDomains) return too_many_names(text);
  }
  return out;
}

bool fits_hostlist(std::string_view name) {
  return !name.empty() && name.find_first_of("[], \t#=\"'\\") == std::string_view::npos;
}

std::string compress_hostlist(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size();) {
    if (!out.empty()) out += ',';
    const Numbered first = numbered(names[i]);
    std::string ranges;
    std::size_t joined = 0;
    // All names of one prefix and one width of digits go into one bracket.
    while (i < names.size()) {
      const Numbered from = numbered(names[i]);
      if (joined > 0 && (from.digits.empty() || from.prefix != first.prefix)) break;
      Numbered to = from;
      std::size_t next = i + 1;
      while (next < names.size() && continues(to, numbered(names[next]))) {
        to = numbered(names[next++]);
      }
      if (!ranges.empty()) ranges += ',';
      ranges += from.digits;
      if (to.value != from.value) ranges += "-" + std::string(to.digits);
      joined += next - i;
      i = next;
      if (first.digits.empty()) break;
    }
    out += first.prefix;
    if (joined == 1) out += first.digits;
    if (joined > 1) out += "[" + ranges + "]";
  }
  return out;
}

}  // namespace chipweave::codec
