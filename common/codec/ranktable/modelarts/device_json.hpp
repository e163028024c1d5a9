// Devices as the JSON of annotations and tables holds them. Internal to
// common/codec/ranktable/modelarts (it shows nlohmann/json).
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/ranktable/modelarts/device_report.hpp"

namespace chipweave::codec {

using OrderedJson = nlohmann::ordered_json;

// The text under a key, or a whole number as text; "" if absent. Errors: another type, longer than
// limits::kMaxNameBytes, control characters.
Result<std::string> word_at(const Json& object, const char* key);

// What names a machine: 1 to 64 characters.
Result<std::string> server_id_at(const Json& object);

// The list of devices, ascending by id. Errors name the device.
Result<std::vector<RouteDevice>> devices_of(const Json& list);

// A decimal number without sign and leading zeros.
bool is_plain_number(const std::string& text);

// Compact; bytes that are no UTF-8 are replaced.
std::string compact(const OrderedJson& value);

}  // namespace chipweave::codec
