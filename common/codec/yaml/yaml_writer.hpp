// yaml_text — a JSON value as YAML, as `kubectl get -o yaml` prints it.
#pragma once

#include <string>

#include "common/codec/json/json_value.hpp"

namespace chipweave::codec {

// In block style, members in the order of the value; strings that YAML would read as another type
// are in quotes. Ends with a line end.
std::string yaml_text(JsonValue value);

}  // namespace chipweave::codec
