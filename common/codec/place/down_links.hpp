// The links of a node that are down, as placement requests and health files list them. Internal to
// common/codec.
#pragma once

#include <vector>

#include "common/codec/json/json_object.hpp"
#include "common/domain/declared_faults.hpp"

namespace chipweave::codec {

// The entries [a,b] or [a,b,lanes] of "down_links"; problems are added.
std::vector<domain::DownLink> read_down_links(const JsonObject& object, int max_chip_index);

}  // namespace chipweave::codec
