// A line of a batch before anybody knows what it asks: its id, and its value. Internal to the codec
// .cpp files (it shows nlohmann/json).
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/codec/json/json_object.hpp"

namespace chipweave::codec {

// id: as JSON text, to be repeated; "null" if there is none. value: an object, or what is wrong.
struct BatchLine {
  std::string id;
  Result<Json> value;
};
BatchLine read_batch_line(std::string_view line, std::size_t max_bytes, std::size_t max_values);

// The answer's text with the id before all other keys.
std::string with_id(const std::string& id, const nlohmann::ordered_json& answer);

}  // namespace chipweave::codec
