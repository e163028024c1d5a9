// Authority — whether this replica may decide now, and whether it knows every pod of a node.
//
// A new leader may not have seen the previous leader's last bindings. Once per term, before it
// allocates chips of a node, it therefore lists the node's pods; until then the node is uncertain.
// Owner: the loop thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler-plugin/state/cluster.hpp"
#include "scheduler-plugin/state/leadership.hpp"

namespace chipweave::sched {

class Authority {
 public:
  explicit Authority(Cluster& cluster) : cluster_(cluster) {}
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  // What the scheduler waits for before it can decide, as a message; empty: nothing.
  const std::string& waiting_for() const { return waiting_for_; }
  void set_waiting_for(std::string what) { waiting_for_ = std::move(what); }
  // Null (the default): this replica always leads.
  void set_leadership(const Leadership* leadership) { leadership_ = leadership; }
  // Why this replica cannot decide now; empty: it can.
  std::string cannot_decide() const;

  std::uint64_t term() const;
  // Whether another replica may have led since that term.
  bool is_earlier(std::uint64_t term) const;
  bool is_certain(const std::string& node);
  // Calls `then` when all bindings to the node from before this term are known. Precondition: the
  // node is known. Errors: unavailable (the API server does not answer, or the term is over).
  void when_certain(const std::string& node, Done then);

 private:
  Cluster& cluster_;
  std::string waiting_for_;
  const Leadership* leadership_ = nullptr;
  std::uint64_t certain_term_ = 0;       // term of certain_nodes_
  std::set<std::string> certain_nodes_;  // their pods were listed in this term
  // Callers that wait until a node is certain, by term and node.
  std::map<std::pair<std::uint64_t, std::string>, std::vector<Done>> awaiting_;
};

}  // namespace chipweave::sched
