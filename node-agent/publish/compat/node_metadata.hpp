// NodeMetadata — the labels and annotations that the agent wants on its Node.
#pragma once

#include "common/codec/kube/pod/pod.hpp"

namespace chipweave::agent {

struct NodeMetadata {
  codec::StringMap labels;
  codec::StringMap annotations;

  void add(NodeMetadata more) {
    labels.merge(more.labels);
    annotations.merge(more.annotations);
  }
  friend bool operator==(const NodeMetadata&, const NodeMetadata&) = default;
};

}  // namespace chipweave::agent
