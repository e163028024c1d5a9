// plan_marks — what must change on a Node so that it carries our marks and nobody else's are
// touched.
//
// Which keys are ours stands on the Node itself (annotation chipweave.dev/agent-keys), so that an
// agent of a later version removes what it no longer wants. A key that is there and not in that
// list is somebody else's: with our value it is as wanted, with another one it stays as it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/codec/kube/objects/merge_patch.hpp"
#include "common/codec/kube/watch.hpp"
#include "node-agent/publish/compat/marks.hpp"

namespace chipweave::agent {

inline constexpr const char* kAgentKeysAnnotation = "chipweave.dev/agent-keys";

// Keys that an agent may ever own; whatever else is listed on the Node is not believed. The
// chart's admission policy holds the agents to the same.
bool may_own_label(std::string_view key);
bool may_own_annotation(std::string_view key);

struct MarkPlan {
  codec::ObjectChanges changes;  // none: all is as wanted
  // "label accelerator (huawei-npu)": wanted otherwise, but somebody else's.
  std::vector<std::string> foreign;
};

// done: annotations to remove that hold exactly this value, whoever wrote them: commands that were
// carried out.
MarkPlan plan_marks(const codec::KubeNodeMarks& node, const NodeMarks& wanted,
                    const codec::StringMap& done);

}  // namespace chipweave::agent
