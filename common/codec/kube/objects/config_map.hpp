// ConfigMap — as its keeper reads and creates it. Changes to it: merge_patch.hpp.
#pragma once

#include <string>

#include "common/base/result.hpp"
#include "common/codec/kube/objects/stored_object.hpp"
#include "common/codec/kube/pod/pod.hpp"

namespace chipweave::codec {

struct KubeConfigMap {
  ObjectVersion version;
  StringMap labels;
  StringMap data;  // binaryData is ignored
};

std::string config_map_path(const std::string& ns);
std::string write_config_map(const std::string& ns, const std::string& name,
                             const StringMap& labels, const StringMap& data);
// `body` may get a larger capacity. Errors: invalid_argument, naming the key if it is one of ours.
Result<KubeConfigMap> read_config_map(std::string& body);

}  // namespace chipweave::codec
