// NodeWishes from a JSON stream. Internal to common/codec/kube.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "common/codec/json/stream_reader.hpp"
#include "common/domain/node_selection.hpp"

namespace chipweave::codec::json_stream {

// A set of requirements on nodes: nodeSelectorTerms.
void read_node_terms(od::value value, int depth, std::vector<domain::NodeTerm>& to);

// Collects what a pod's spec says about nodes, in any order.
class NodeWishesReader {
 public:
  // A member of the spec; false: it is none of those that matter here.
  bool take_spec(std::string_view key, od::value value, int depth);
  void forget_spec() { found_ = {}; }
  // Null: the pod says nothing about nodes.
  std::shared_ptr<const domain::NodeWishes> finish();

 private:
  domain::NodeWishes found_;
};

}  // namespace chipweave::codec::json_stream
