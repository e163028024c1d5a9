// JsonLine — writes one JSON object or list in the order of the calls: what -o json prints. Keys
// are ours and need no escaping; texts are escaped, bytes that are not UTF-8 become U+FFFD, so the
// output always parses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace chipweave::cli {

// "text" with quotes and escapes.
std::string json_text(std::string_view text);
// 40 → "40", 33.333… → shortest digits that read back equal.
std::string json_number(double value);
std::string json_numbers(const std::vector<int>& values);
std::string json_texts(const std::vector<std::string>& values);

class JsonLine {
 public:
  JsonLine& text(std::string_view key, std::string_view value) {
    return raw(key, json_text(value));
  }
  JsonLine& number(std::string_view key, double value) { return raw(key, json_number(value)); }
  JsonLine& flag(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }
  JsonLine& numbers(std::string_view key, const std::vector<int>& values) {
    return raw(key, json_numbers(values));
  }
  // value: JSON text.
  JsonLine& raw(std::string_view key, std::string_view value);
  std::string done() const { return "{" + body_ + "}"; }

 private:
  std::string body_;
};

// [a,b,…] of JSON texts.
std::string json_list(const std::vector<std::string>& items);

}  // namespace chipweave::cli
