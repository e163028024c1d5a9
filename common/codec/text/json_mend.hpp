// Rewrites what people and Python's print() make of JSON into JSON: no byte order mark, no
// comments, no comma behind the last element, strings in double quotes, true, false and null in
// JSON's words. The rest of the text does not change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace chipweave::codec {

enum class JsonMend : std::uint8_t { byte_order_mark, comment, last_comma, single_quotes, word };
// For people: "comment", "comma behind a last element", …
std::string_view to_string(JsonMend mend);

struct MendedAt {
  JsonMend what;
  std::size_t offset;  // in the text as it was
};

struct MendedJson {
  std::string text;              // need not be JSON: other mistakes stay
  std::vector<MendedAt> mended;  // in the order of the text
};

// JSON stays as it is. Cost: linear.
MendedJson mend_json(std::string_view text);

// Whether a text begins as JSON that is an object or a list, comments before it left out.
bool begins_as_json(std::string_view text);

}  // namespace chipweave::codec
