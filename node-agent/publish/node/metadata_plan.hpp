// plan_metadata — which labels and annotations of a Node must change so that it carries the agent's
// and nothing of another owner is touched.
//
// The Node itself lists the keys that the agent owns (annotation chipweave.dev/agent-keys), so that
// a later version of the agent can remove what it no longer writes. A key that exists and is not in
// that list belongs to another owner and is never changed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/codec/kube/objects/merge_patch.hpp"
#include "common/codec/kube/watch.hpp"
#include "node-agent/publish/compat/node_metadata.hpp"
#include "node-agent/publish/node/own_keys.hpp"

namespace chipweave::agent {

struct MetadataPlan {
  codec::ObjectChanges changes;  // none: the Node is up to date
  // Keys of another owner with a value that the agent would set differently: "label accelerator
  // (huawei-npu)".
  std::vector<std::string> foreign;
};

// done: commands that were carried out, annotation → value; each is removed, no matter who wrote
// it, if it still has this value.
MetadataPlan plan_metadata(const codec::KubeNodeMetadata& node, const NodeMetadata& wanted,
                           const codec::StringMap& done);

}  // namespace chipweave::agent
