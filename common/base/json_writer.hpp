// JsonWriter — appends JSON text to a string, compact or indented: for replies that must be made
// without a document tree, and for layers that may not use a JSON library.
//
// The caller is responsible for the nesting; the writer adds commas and line breaks. Strings are
// escaped per RFC 8259 and stay UTF-8; bytes that are not UTF-8 are replaced by U+FFFD. Integers
// are written as integers; doubles with as few digits as read back equal, in one of two forms.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace chipweave {

// Appends `text` in quotes.
void append_json_string(std::string& out, std::string_view text);
// In the shorter notation: 40.0, 1e+05. NaN and infinity become 0.
void append_json_number(std::string& out, double value);

class JsonWriter {
 public:
  // indent: spaces per level, one value a line; 0: everything on one line.
  explicit JsonWriter(std::size_t indent = 0) : indent_(indent) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);
  JsonWriter& string(std::string_view value);
  template <std::integral Number>
  requires(!std::same_as<Number, bool>) JsonWriter& integer(Number value) {
    return raw(std::to_string(value));
  }
  // As append_json_number() writes it.
  JsonWriter& number(double value);
  // In decimal notation from 0.0001 to below 1e15: 100000.0. NaN and infinity become null.
  JsonWriter& decimal(double value);
  JsonWriter& boolean(bool value);
  // Appends JSON text unchanged: a value, or elements or members with commas between them.
  JsonWriter& raw(std::string_view json);
  // The same, reformatted with this writer's indentation.
  JsonWriter& reformatted(std::string_view json);
  JsonWriter& integers(const std::vector<int>& values);
  // A list of strings.
  template <class Texts>
  JsonWriter& strings(const Texts& texts) {
    begin_array();
    for (const auto& text : texts) string(text);
    return end_array();
  }
  // An object of strings.
  template <class Entries>
  JsonWriter& string_map(const Entries& entries) {
    begin_object();
    for (const auto& [name, value] : entries) field(name, value);
    return end_object();
  }

  JsonWriter& field(std::string_view name, std::string_view value) {
    return key(name).string(value);
  }
  JsonWriter& field(std::string_view name, const char* value) { return key(name).string(value); }
  template <std::integral Number>
  requires(!std::same_as<Number, bool>) JsonWriter& field(std::string_view name, Number value) {
    return key(name).integer(value);
  }

  // The next element, key or closing bracket starts a new line, even if all else is on one.
  JsonWriter& on_new_line() {
    new_line_ = true;
    return *this;
  }

  const std::string& text() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();
  void line();
  void colon();

  std::string out_;
  std::size_t indent_ = 0;
  std::size_t depth_ = 0;
  bool first_ = true;  // the container is still empty
  bool after_key_ = false;
  bool new_line_ = false;
};

}  // namespace chipweave
