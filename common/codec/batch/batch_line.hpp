// A line of a batch before its request is parsed: its id and its JSON. Internal to the codec .cpp
// files: it exposes nlohmann/json, which writes the answers, because their numbers keep its form
// (100000.0, where JsonWriter writes 1e+05).
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/codec/json/json_object.hpp"

namespace chipweave::codec {

// id: as JSON text, to be repeated; "null" if there is none. json: its root is an object.
struct BatchLine {
  std::string id;
  Result<JsonTree> json;
};
BatchLine read_batch_line(std::string_view line, JsonLimits most);

// The answer's text with the id before all other keys.
std::string with_id(const std::string& id, const nlohmann::ordered_json& answer);

}  // namespace chipweave::codec
