#include "common/codec/json/stream_reader.hpp"

#include <algorithm>
#include <cstdint>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec::json_stream {
namespace {

// Without branches.
std::uint8_t is_punctuation(char c) {
  return static_cast<std::uint8_t>((c == '[') | (c == ']') | (c == '{') | (c == '}') | (c == ',') |
                                   (c == ':'));
}

}  // namespace

bool is_key(std::string_view key, std::string_view wanted_lower) {
  return key.size() == wanted_lower.size() &&
         std::equal(key.begin(), key.end(), wanted_lower.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + ('a' - 'A')) : a) == b;
         });
}

bool too_dense(std::string_view text) {
  if (text.size() <= kMaxPunctuation) return false;
  // Blocks of a constant size, which compilers turn into vector instructions: 4 ms for 48 MB.
  constexpr std::size_t kBlock = 128;
  std::size_t found = 0;
  for (; text.size() >= kBlock; text.remove_prefix(kBlock)) {
    std::uint8_t in_block = 0;
    for (std::size_t i = 0; i < kBlock; ++i)
      in_block = static_cast<std::uint8_t>(in_block + is_punctuation(text.data()[i]));
    found += in_block;
  }
  for (const char c : text) found += is_punctuation(c);
  return found > kMaxPunctuation;
}

std::string_view token_of(od::value& value) {
  std::string_view token = value.raw_json_token();
  while (!token.empty() && (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' ||
                            token.back() == '\t')) {
    token.remove_suffix(1);
  }
  return token;
}

bool is_number(std::string_view t) {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t from = i;
    while (i < t.size() && is_digit(t[i])) ++i;
    return i - from;
  };
  if (i < t.size() && t[i] == '-') ++i;
  const std::size_t lead = i;
  const std::size_t whole = digits();
  if (whole == 0 || (whole > 1 && t[lead] == '0')) return false;
  if (i < t.size() && t[i] == '.') {
    ++i;
    if (digits() == 0) return false;
  }
  if (i < t.size() && (t[i] == 'e' || t[i] == 'E')) {
    ++i;
    if (i < t.size() && (t[i] == '-' || t[i] == '+')) ++i;
    if (digits() == 0) return false;
  }
  return i == t.size();
}

void check(od::value value, int depth) {
  if (depth > limits::kMaxJsonDepth) throw BadInput("JSON is nested too deeply");
  switch (value.type()) {
    case od::json_type::object:
      each_field(value.get_object(), [&](std::string_view, od::value v) { check(v, depth + 1); });
      return;
    case od::json_type::array:
      for (auto element : value.get_array()) check(element.value(), depth + 1);
      return;
    case od::json_type::string: {
      const std::string_view ignored = value.get_string();
      static_cast<void>(ignored);
      return;
    }
    case od::json_type::number:
    case od::json_type::boolean:
    case od::json_type::null: {
      const std::string_view token = token_of(value);
      if (token != "null" && token != "true" && token != "false" && !is_number(token)) {
        throw BadInput(quoted_excerpt(token) + " is not a JSON value");
      }
      return;
    }
  }
}

void wrong_type(std::string_view key, const char* wanted) {
  throw BadInput(std::string(key) + " must be " + wanted);
}

void read_string(std::string_view key, od::value value, std::string& to) {
  to.clear();
  if (is_null(value)) return;
  if (value.type() != od::json_type::string) wrong_type(key, "a string");
  to = std::string_view(value.get_string());
}

void read_name(std::string_view key, od::value value, std::string& to) {
  read_string(key, value, to);
  if (to.size() > limits::kMaxNameBytes)
    throw BadInput(std::string(key) + " is longer than " + std::to_string(limits::kMaxNameBytes) +
                   " bytes");
}

bool begin_object(std::string_view key, od::value& value) {
  if (is_null(value)) return false;
  if (value.type() != od::json_type::object) wrong_type(key, "an object");
  return true;
}

bool begin_array(std::string_view key, od::value& value) {
  if (is_null(value)) return false;
  if (value.type() != od::json_type::array) wrong_type(key, "a list");
  return true;
}

void read_map(const char* name, od::value value, bool numbers,
              std::map<std::string, std::string, std::less<>>& to) {
  to.clear();
  if (!begin_object(name, value)) return;
  each_field(value.get_object(), [&](std::string_view key, od::value v) {
    std::string& slot = to[std::string(key)];
    if (v.type() == od::json_type::string) {
      slot = std::string_view(v.get_string());
    } else if (numbers && is_number(token_of(v))) {
      slot = token_of(v);
    } else if (is_null(v)) {
      slot.clear();
    } else {
      wrong_type(name, "a map of strings");
    }
  });
}

}  // namespace chipweave::codec::json_stream
