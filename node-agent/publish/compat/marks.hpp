// NodeMarks — the labels and annotations that a node is to have from its agent.
#pragma once

#include "common/codec/kube/pod/pod.hpp"

namespace chipweave::agent {

struct NodeMarks {
  codec::StringMap labels;
  codec::StringMap annotations;

  void add(NodeMarks more) {
    labels.merge(more.labels);
    annotations.merge(more.annotations);
  }
  friend bool operator==(const NodeMarks&, const NodeMarks&) = default;
};

}  // namespace chipweave::agent
