// Reading of JSON with simdjson On Demand as this folder does it (it shows simdjson types): one
// walk over the fields, everything that is skipped is checked too, keys match as in Go's decoder.
#pragma once

#include <simdjson.h>

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace chipweave::codec::json_stream {

namespace od = simdjson::ondemand;

// What is wrong with a document, inside this folder only: codec functions turn it into an Error at
// their end.
struct BadInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// ASCII without regard to case; `wanted_lower` is in lower case.
bool is_key(std::string_view key, std::string_view wanted_lower);

// The bytes of a scalar, without the space behind it.
std::string_view token_of(od::value& value);
inline bool is_null(od::value& value) { return token_of(value) == "null"; }
// JSON's number grammar; On Demand itself looks at a number only when it is converted.
bool is_number(std::string_view token);

// Every callback sees (key, value); the key is a view that dies with the next string read.
template <class F>
void each_field(od::object object, F&& on_field) {
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    od::value value = field.value();
    on_field(key, value);
  }
}

// Walks what is skipped, so that broken JSON is an error wherever it stands (as Go's decoder has
// it).
void check(od::value value, int depth);

[[noreturn]] void wrong_type(std::string_view key, const char* wanted);
// null leaves the empty value, as in Go.
void read_string(std::string_view key, od::value value, std::string& to);
// False when the value is null.
bool begin_object(std::string_view key, od::value& value);
bool begin_array(std::string_view key, od::value& value);
// numbers: values may be numbers, too; they are kept as written.
void read_map(const char* name, od::value value, bool numbers,
              std::map<std::string, std::string, std::less<>>& to);

// The whole protocol of a read: pads, parses, requires one object and nothing behind it.
template <class F>
Result<void> read_document(od::parser& parser, od::document& document, std::string& text,
                           F&& on_field) {
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

}  // namespace chipweave::codec::json_stream
