// KubeGangObject from a JSON stream (json/stream_reader.hpp). Internal to common/codec/kube.
#pragma once

#include "common/codec/json/stream_reader.hpp"
#include "common/codec/kube/gangs/gang_object.hpp"

namespace chipweave::codec::json_stream {

// False when the value is null.
bool read_gang_object(od::value value, int depth, KubeGangObject& object);

}  // namespace chipweave::codec::json_stream
