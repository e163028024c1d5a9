#include "common/codec/topology/hardware/host_tree.hpp"

#include <algorithm>

namespace chipweave::codec {

using domain::LinkKind;

int HostTree::add(int parent, Level level, int numa) {
  nodes_.push_back({parent, level, level == Level::root_complex ? numa : at(parent).numa});
  return static_cast<int>(nodes_.size()) - 1;
}

std::vector<int> HostTree::to_root(int node) const {
  std::vector<int> out;
  for (int n = node; n >= 0; n = at(n).parent) out.push_back(n);
  return out;
}

LinkKind HostTree::path(int a, int b) const {
  std::vector<int> up_a = to_root(a);
  std::vector<int> up_b = to_root(b);
  int common = 0;
  while (!up_a.empty() && !up_b.empty() && up_a.back() == up_b.back()) {
    common = up_a.back();
    up_a.pop_back();
    up_b.pop_back();
  }
  // What is left below the common node, without the device at the end.
  const auto bridges = [this](const std::vector<int>& rest) {
    return std::count_if(rest.begin(), rest.end(),
                         [this](int n) { return at(n).level == Level::bridge; });
  };
  switch (at(common).level) {
    case Level::device:
      return LinkKind::pix;
    case Level::bridge:
      return std::max(bridges(up_a), bridges(up_b)) <= bridges_of_one_switch_ ? LinkKind::pix
                                                                              : LinkKind::pxb;
    case Level::root_complex:
      return LinkKind::phb;
    case Level::machine:
      return at(a).numa >= 0 && at(a).numa == at(b).numa ? LinkKind::node : LinkKind::sys;
  }
  return LinkKind::sys;
}

}  // namespace chipweave::codec
