// KubePod from a JSON stream (json/stream_reader.hpp). Internal to common/codec/kube.
#pragma once

#include "common/codec/json/stream_reader.hpp"
#include "common/codec/kube/pod/pod.hpp"

namespace chipweave::codec::json_stream {

// False when the value is null. If a key is repeated, the last one counts.
bool read_kube_pod(od::value value, int depth, KubePod& pod);

}  // namespace chipweave::codec::json_stream
