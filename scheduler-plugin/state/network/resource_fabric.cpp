#include "scheduler-plugin/state/network/resource_fabric.hpp"

#include <algorithm>

namespace chipweave::sched {

void ResourceFabric::set(NodeId id, const Node& node, const NetworkPath& path,
                         const Leaves& leaves) {
  const bool offers =
      std::find(node.resources.begin(), node.resources.end(), resource_) != node.resources.end();
  if (!offers) return remove(id);
  if (numbers_.size() <= id) numbers_.resize(id + 1, solver::kNowhere);
  solver::FabricNodeId& number = numbers_[id];
  if (number == solver::kNowhere) {
    number = fabric_.add(node.name, path).value();
    if (nodes_.size() <= number) {
      nodes_.resize(number + std::size_t{1}, kNoNode);
      used_.resize(nodes_.size());
      leaves_.resize(nodes_.size(), solver::kNoLeaves);
      leaves_of_.resize(nodes_.size());
    }
    nodes_[number] = id;
  }
  set_used(number, !node.taken.empty());
  set_leaves(number, leaves);
  // A pod of a distributed job needs the network of its chips, too.
  const int free = (node.free() - node.network_unhealthy).size();
  const bool healthy = !node.stale && !node.closed();
  // each of them recounts a pool
  if (fabric_.node(number).free != free) fabric_.set_free(number, free);
  if (fabric_.node(number).healthy != healthy) fabric_.set_healthy(number, healthy);
}

void ResourceFabric::set_used(solver::FabricNodeId number, bool used) {
  if (used_[number] == used) return;
  used_[number] = used;
  if (used_in_.size() < fabric_.domain_numbers()) used_in_.resize(fabric_.domain_numbers());
  for (solver::DomainId domain = fabric_.node(number).domain; domain != solver::kRootDomain;
       domain = fabric_.parent(domain)) {
    if (used) {
      ++used_in_[domain];
    } else {
      --used_in_[domain];
    }
  }
}

void ResourceFabric::set_leaves(solver::FabricNodeId number, const Leaves& leaves) {
  const Leaves*& known = leaves_of_[number];
  if (known == nullptr ? leaves.empty() : *known == leaves) return;
  if (known != nullptr) {
    const auto before = leaf_numbers_.find(*known);
    if (--before->second.nodes == 0) leaf_numbers_.erase(before);
    known = nullptr;
    leaves_[number] = solver::kNoLeaves;
  }
  if (leaves.empty()) return;
  const auto [at, fresh] = leaf_numbers_.try_emplace(leaves);
  if (fresh) at->second.number = next_leaves_++;
  ++at->second.nodes;
  known = &at->first;
  leaves_[number] = at->second.number;
}

int ResourceFabric::whole_levels(solver::FabricNodeId number) const {
  const auto used = [&](solver::DomainId domain) {
    return domain < used_in_.size() && used_in_[domain] > 0;
  };
  solver::DomainId domain = fabric_.node(number).domain;
  if (used_[number] || domain == solver::kRootDomain) return 0;
  int whole = 0;
  // the last level is the node itself
  for (domain = fabric_.parent(domain); domain != solver::kRootDomain && !used(domain);
       domain = fabric_.parent(domain)) {
    // without a name it is unknown, and has no other node
    if (!fabric_.name(domain).empty()) ++whole;
  }
  return whole;
}

void ResourceFabric::remove(NodeId id) {
  if (id >= numbers_.size() || numbers_[id] == solver::kNowhere) return;
  set_used(numbers_[id], false);
  set_leaves(numbers_[id], {});
  fabric_.remove(numbers_[id]);
  numbers_[id] = solver::kNowhere;
}

void ResourceFabric::reset(std::size_t levels) {
  fabric_ = solver::Fabric(levels);
  numbers_.clear();
  nodes_.clear();
  used_.clear();
  used_in_.clear();
  leaf_numbers_.clear();
  leaves_.clear();
  leaves_of_.clear();
}

}  // namespace chipweave::sched
