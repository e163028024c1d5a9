// ResourceClaims and DeviceClasses from a JSON stream. Internal to common/codec/kube.
#pragma once

#include "common/codec/json/stream_reader.hpp"
#include "common/codec/kube/watch.hpp"

namespace chipweave::codec::json_stream {

// False when the value is null.
bool read_kube_claim(od::value value, int depth, KubeClaim& claim);
bool read_device_class(od::value value, int depth, KubeDeviceClass& device_class);

}  // namespace chipweave::codec::json_stream
