#include "common/codec/text/json_mend.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace chipweave::codec {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";
constexpr std::size_t kNone = std::string_view::npos;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_space(char c) { return is_blank(c) || c == '\n'; }
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The end of a comment that begins at `at`, without the line break of one to the end of its line;
// npos if none begins there, or it does not end.
std::size_t end_of_comment(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with('#') || rest.starts_with("//")) {
    return std::min(text.find('\n', at), text.size());
  }
  if (!rest.starts_with("/*")) return kNone;
  const std::size_t end = text.find("*/", at + 2);
  return end == kNone ? kNone : end + 2;
}

class Mender {
 public:
  explicit Mender(std::string_view text) : text_(text) { out_.text.reserve(text.size()); }

  MendedJson run() {
    if (text_.starts_with(kBom)) {
      note(JsonMend::byte_order_mark, 0);
      at_ = kBom.size();
    }
    while (at_ < text_.size()) step();
    std::sort(out_.mended.begin(), out_.mended.end(),
              [](const MendedAt& a, const MendedAt& b) { return a.offset < b.offset; });
    return std::move(out_);
  }

 private:
  void note(JsonMend what, std::size_t offset) { out_.mended.push_back({what, offset}); }

  void step() {
    const char c = text_[at_];
    if (is_space(c)) {
      out_.text += text_[at_++];
    } else if (const std::size_t end = end_of_comment(text_, at_); end != kNone) {
      drop_comment(end);
    } else if (c == '"') {
      copy_string();
    } else if (c == '\'') {
      requote();
    } else if (c == ',') {
      keep_comma();
    } else if (is_letter(c)) {
      copy_word();
    } else {
      if ((c == '}' || c == ']') && comma_ != kNone) drop_comma();
      copy(1);
    }
  }

  // Copies anything but white space; a comma before it stays.
  void copy(std::size_t count) {
    out_.text += text_.substr(at_, count);
    at_ += count;
    last_ = out_.text.back();
    comma_ = kNone;
  }

  // With the blanks before it where nothing else follows on the line, and the whole line where
  // nothing precedes it.
  void drop_comment(std::size_t end) {
    note(JsonMend::comment, at_);
    at_ = end;
    std::size_t rest = end;
    while (rest < text_.size() && is_blank(text_[rest])) ++rest;
    if (rest < text_.size() && text_[rest] != '\n') return;
    std::string& text = out_.text;
    while (!text.empty() && is_blank(text.back())) text.pop_back();
    const bool whole_line = text.empty() || text.back() == '\n';
    at_ = whole_line ? std::min(rest + 1, text_.size()) : rest;
  }

  void copy_string() {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    copy(std::min(end + 1, text_.size()) - at_);
  }

  // 'it\'s "so"' → "it's \"so\""; what does not end on its line stays.
  void requote() {
    std::string quoted = "\"";
    std::size_t i = at_ + 1;
    for (; i < text_.size() && text_[i] != '\'' && text_[i] != '\n'; ++i) {
      if (text_[i] == '\\' && i + 1 < text_.size()) {
        ++i;
        if (text_[i] != '\'') quoted += '\\';
      } else if (text_[i] == '"') {
        quoted += '\\';
      }
      quoted += text_[i];
    }
    if (i >= text_.size() || text_[i] != '\'') return copy(1);
    note(JsonMend::single_quotes, at_);
    quoted += '"';
    out_.text += quoted;
    at_ = i + 1;
    last_ = '"';
    comma_ = kNone;
  }

  // It may follow the last element. A comma that follows nothing is another mistake.
  void keep_comma() {
    const bool follows = last_ != '\0' && last_ != '[' && last_ != '{' && last_ != ',';
    const std::size_t offset = at_;
    copy(1);
    if (!follows) return;
    comma_ = out_.text.size() - 1;
    comma_offset_ = offset;
  }

  void drop_comma() {
    note(JsonMend::last_comma, comma_offset_);
    out_.text.erase(comma_, 1);
  }

  void copy_word() {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kWords = {
        {{"True", "true"}, {"False", "false"}, {"None", "null"}}};
    std::size_t end = at_;
    while (end < text_.size() && is_letter(text_[end])) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    const auto known = std::find_if(kWords.begin(), kWords.end(),
                                    [word](const auto& pair) { return pair.first == word; });
    if (known == kWords.end()) return copy(word.size());
    note(JsonMend::word, at_);
    out_.text += known->second;
    at_ = end;
    last_ = out_.text.back();
    comma_ = kNone;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  MendedJson out_;
  char last_ = '\0';           // the last character besides white space
  std::size_t comma_ = kNone;  // in out_: followed by white space only so far
  std::size_t comma_offset_ = 0;
};

}  // namespace

std::string_view to_string(JsonMend mend) {
  switch (mend) {
    case JsonMend::byte_order_mark:
      return "byte order mark";
    case JsonMend::comment:
      return "comment";
    case JsonMend::last_comma:
      return "comma behind a last element";
    case JsonMend::single_quotes:
      return "string in single quotes";
    case JsonMend::word:
      return "word of Python";
  }
  return "";
}

MendedJson mend_json(std::string_view text) { return Mender(text).run(); }

bool begins_as_json(std::string_view text) {
  if (text.starts_with(kBom)) text.remove_prefix(kBom.size());
  for (std::size_t at = 0; at < text.size();) {
    if (is_space(text[at])) {
      ++at;
      continue;
    }
    const std::size_t end = end_of_comment(text, at);
    if (end == kNone) return text[at] == '{' || text[at] == '[';
    at = end;
  }
  return false;
}

}  // namespace chipweave::codec
