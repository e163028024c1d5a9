#include "common/codec/json/syntax_error.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>

namespace chipweave::codec {
namespace {

// Where nlohmann's parser stops; it reads everything and keeps nothing.
class StopFinder : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    stopped_ = position == 0 ? 0 : position - 1;
    found_ = true;
    return false;
  }
  bool found() const { return found_; }
  std::size_t stopped() const { return stopped_; }

 private:
  bool found_ = false;
  std::size_t stopped_ = 0;
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The last character before `at` that is not white space; 0 if there is none.
char before(std::string_view text, std::size_t at) {
  while (at > 0) {
    --at;
    if (!is_space(text[at])) return text[at];
  }
  return '\0';
}

bool word_at(std::string_view text, std::size_t at, std::string_view word) {
  return text.substr(at, word.size()) == word;
}

// Python and JavaScript words used in place of JSON's true, false, null or a number.
std::string foreign_word(std::string_view text, std::size_t at) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kWords = {
      {{"True", "true"},
       {"False", "false"},
       {"None", "null"},
       {"NaN", "a number"},
       {"Infinity", "a number"},
       {"-Infinity", "a number"},
       {"nan", "a number"},
       {"undefined", "null"}}};
  for (const auto& [word, json] : kWords) {
    if (word_at(text, at, word)) {
      return std::string(word) + " is Python's or JavaScript's, JSON has " + std::string(json) +
             "; write the file with json.dump(), not with print() or str()";
    }
  }
  return {};
}

std::string message_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) {
    return "the file ends before the JSON does: it was cut off, or a bracket is not closed; copy "
           "it again";
  }
  const char c = text[at];
  if (c == '#' ||
      (c == '/' && at + 1 < text.size() && (text[at + 1] == '/' || text[at + 1] == '*'))) {
    return "JSON has no comments; remove this one (tables in documentation often have them)";
  }
  if ((c == '}' || c == ']') && before(text, at) == ',') {
    return std::string("comma before '") + c + "'; remove the comma that follows the last element";
  }
  if (c == ',' && (before(text, at) == ',' || before(text, at) == '[' || before(text, at) == '{')) {
    return "a comma with nothing before it; remove it";
  }
  if (c == '\'') {
    return "strings must be in double quotes; single quotes are Python's repr: write the file with "
           "json.dump(), not with print() or str()";
  }
  if (word_at(text, at, "...") || word_at(text, at, "\xE2\x80\xA6")) {
    return "\"...\" stands for something that was left out; write the elements in full";
  }
  std::string word = foreign_word(text, at);
  if (!word.empty()) return word;
  if (static_cast<unsigned char>(c) < 0x20U && !is_space(c)) {
    return "a control character that JSON does not allow";
  }
  if (c == '\n' || c == '\r' || c == '\t') {
    return "a line break or tab inside a string: its closing quote is missing";
  }
  if (c == '"' || c == '{' || c == '[') {
    const char last = before(text, at);
    if (last == '"' || last == '}' || last == ']' || (last >= '0' && last <= '9')) {
      return "a comma (or, behind a name, a colon) is missing before this";
    }
  }
  return {};
}

// A parser may stop inside a word; the word begins further left.
std::size_t start_of_word(std::string_view text, std::size_t at) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  };
  if (at >= text.size() || !is_word(text[at])) return at;
  while (at > 0 && is_word(text[at - 1])) --at;
  return at;
}

}  // namespace

JsonSyntaxError find_json_syntax_error(std::string_view text, std::size_t fallback_offset) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") {
    return {0,
            "the file begins with a byte order mark, which JSON does not allow; save it as UTF-8 "
            "without BOM",
            {}};
  }
  if (std::all_of(text.begin(), text.end(), is_space)) return {0, "the file is empty", {}};
  StopFinder finder;
  nlohmann::json::sax_parse(text, &finder);
  std::size_t at = finder.found() ? finder.stopped() : std::min(fallback_offset, text.size());
  std::string message = message_at(text, at);
  if (message.empty()) {
    const std::size_t word = start_of_word(text, at);
    message = message_at(text, word);
    if (!message.empty()) at = word;
  }
  // A comment is found at its second character.
  if (message.empty() && at > 0 && text[at - 1] == '/') {
    message = message_at(text, at - 1);
    if (!message.empty()) --at;
  }
  if (message.empty()) {
    message = "expected a value, a comma or a bracket here";
  }
  return {at, std::move(message), {}};
}

}  // namespace chipweave::codec
