// Reads JSON with simdjson On Demand (it exposes simdjson types): one walk over the fields; skipped
// values are checked, too; keys match as in Go's decoder.
#pragma once

#include <simdjson.h>

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/result.hpp"

namespace chipweave::codec::json_stream {

namespace od = simdjson::ondemand;

// A problem of a document, used inside this folder only; codec functions convert it into an Error.
struct BadInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// ASCII without regard to case; `wanted_lower` is in lower case.
bool is_key(std::string_view key, std::string_view wanted_lower);

// The bytes of a scalar, without trailing blanks.
std::string_view token_of(od::value& value);
inline bool is_null(od::value& value) { return token_of(value) == "null"; }
// JSON's number grammar; On Demand itself checks a number only when it converts it.
bool is_number(std::string_view token);

// Every callback gets (key, value); the key is a view that is valid until the next string is read.
template <class F>
void each_field(od::object object, F&& on_field) {
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    od::value value = field.value();
    on_field(key, value);
  }
}

// Walks skipped values, so that broken JSON is an error anywhere (as in Go's decoder).
void check(od::value value, int depth);

[[noreturn]] void wrong_type(std::string_view key, const char* wanted);
// null leaves the empty value, as in Go.
void read_string(std::string_view key, od::value value, std::string& to);
// The same; longer than any name in Kubernetes (limits::kMaxNameBytes) is a problem.
void read_name(std::string_view key, od::value value, std::string& to);
// False when the value is null.
bool begin_object(std::string_view key, od::value& value);
bool begin_array(std::string_view key, od::value& value);
// The fields of an object; false if the value is null.
template <class F>
bool each_member(std::string_view key, od::value value, F&& on_field) {
  if (!begin_object(key, value)) return false;
  each_field(value.get_object(), std::forward<F>(on_field));
  return true;
}
// The elements of a list; false if the value is null.
template <class F>
bool each_element(std::string_view key, od::value value, F&& on_element) {
  if (!begin_array(key, value)) return false;
  for (auto element : value.get_array()) on_element(element.value());
  return true;
}
// numbers: values may also be numbers, which are kept as written.
void read_map(const char* name, od::value value, bool numbers,
              std::map<std::string, std::string, std::less<>>& to);

// simdjson keeps 4 bytes for each of these and for each value: texts that would need many times
// their own size are refused. A document of Kubernetes has one in about 12 bytes.
inline constexpr std::size_t kMaxPunctuation = std::size_t{8} << 20U;
// Whether `text` has more brackets, commas and colons. Cost: one pass over long texts, none
// otherwise.
bool too_dense(std::string_view text);

// A complete read: pads, parses, requires one object and nothing after it.
template <class F>
Result<void> read_document(od::parser& parser, od::document& document, std::string& text,
                           F&& on_field) {
  if (too_dense(text))
    return make_error(Errc::limit_exceeded, "the JSON has more than " +
                                                std::to_string(kMaxPunctuation) +
                                                " brackets, commas and colons");
  if (text.capacity() - text.size() < simdjson::SIMDJSON_PADDING) {
    text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  }
  try {
    document =
        parser.iterate(simdjson::padded_string_view(text.data(), text.size(), text.capacity()));
    each_field(document.get_object(), on_field);
    const char* rest = nullptr;
    if (document.current_location().get(rest) == simdjson::SUCCESS) {
      throw BadInput("text after the end of the JSON value");
    }
    return {};
  } catch (const BadInput& e) {
    return make_error(Errc::invalid_argument, e.what());
  } catch (const simdjson::simdjson_error& e) {
    return make_error(Errc::invalid_argument, std::string("not valid JSON: ") + e.what());
  }
}

// The same with a parser of its own, for documents that are rare.
template <class F>
Result<void> read_document(std::string& text, F&& on_field) {
  od::parser parser;
  od::document document;
  return read_document(parser, document, text, std::forward<F>(on_field));
}

}  // namespace chipweave::codec::json_stream
