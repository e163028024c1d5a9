// ConfigMap — as its keeper creates it; read as a StoredObject. Changes to it: merge_patch.hpp.
#pragma once

#include <string>
#include <vector>

#include "common/base/json_writer.hpp"
#include "common/codec/kube/objects/stored_object.hpp"
#include "common/codec/kube/pod/pod.hpp"

namespace chipweave::codec {

std::string config_map_path(const std::string& ns);
std::string write_config_map(const std::string& ns, const std::string& name,
                             const StringMap& labels, const StringMap& data,
                             const StringMap& annotations = {},
                             const std::vector<ObjectOwner>& owners = {});
// The member ownerReferences of metadata; nothing, if there are none.
void append_owners(JsonWriter& to, const std::vector<ObjectOwner>& owners);

}  // namespace chipweave::codec
