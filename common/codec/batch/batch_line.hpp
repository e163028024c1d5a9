// What the batch lines of all commands have in common: a line before its request is parsed, and the
// beginning of its answer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/json_writer.hpp"
#include "common/base/result.hpp"
#include "common/codec/json/json_object.hpp"

namespace chipweave::codec {

// id: as JSON text, to be repeated; "null" if there is none. json: its root is an object.
struct BatchLine {
  std::string id;
  Result<JsonTree> json;
};
BatchLine read_batch_line(std::string_view line, JsonLimits most);

// An object that is still open, with the id before all other keys. id: as JSON text.
JsonWriter begin_answer(const std::string& id);

}  // namespace chipweave::codec
