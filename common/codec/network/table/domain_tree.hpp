// DomainTree — the domains of a NetworkTable as a tree, each with its nodes and a unique name. For
// exporters and summaries.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/domain/network_table.hpp"

namespace chipweave::codec {

class DomainTree {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  struct Domain {
    std::string name;                   // unique: the last element of its path, or more of it
                                        // where another domain has that too: "b1.r1"
    std::string element;                // the last element of its path
    std::size_t level = 0;              // the coarsest that it stands for
    std::size_t parent = kNone;         // index, kNone for one of the coarsest level
    std::vector<std::size_t> children;  // indices, in the order of the table
    std::vector<std::size_t> nodes;  // indices in the table; only nodes in no domain below this one
  };

  // A name that is repeated on the next level is one domain (a branch that is less deep).
  explicit DomainTree(const domain::NetworkTable& table);

  const std::vector<Domain>& domains() const { return domains_; }  // parents first
  // A node's finest known domain: an unknown element ends the path. kNone: outside.
  std::size_t home(std::size_t node) const { return homes_[node]; }
  const std::vector<std::size_t>& outside() const { return outside_; }
  // Nodes that are known on a finer level than the one where their path ends.
  std::size_t cut() const { return cut_; }

 private:
  void make_names(const domain::NetworkTable& table);

  std::vector<Domain> domains_;
  std::vector<std::size_t> homes_;
  std::vector<std::size_t> outside_;
  std::size_t cut_ = 0;
};

}  // namespace chipweave::codec
