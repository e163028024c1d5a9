// ClusterTexts — the texts of one kind of cluster-info ConfigMaps, kept up to date node by node.
// Nodes are in natural order of their names, a fixed number per part, starting with part 0.
//
// A node's entry is encoded only when the node changes; a part's text is joined from the encoded
// entries. The time in an entry is kept separately: it is that of the last change, and renew()
// advances it. Adding or removing a node shifts all later nodes, in time linear in their number.
// Owned by the code that writes the ConfigMaps; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/natural_order.hpp"
#include "common/codec/mindcluster/cluster_info.hpp"

namespace chipweave::codec::mindcluster {

class ClusterTexts {
 public:
  // An unchanged pointer means unchanged text.
  using Text = std::shared_ptr<const std::string>;
  // name: of the ConfigMaps, without the number of the part.
  ClusterTexts(std::string_view name, std::size_t most_of_part)
      : name_(name), most_(most_of_part) {}

  // Returns whether the entry changed; its time is then `now`, or one later if it had that time
  // already. now: seconds since 1970.
  bool put(const std::string& node, ClusterEntry entry, std::int64_t now);
  // Returns whether the node existed.
  bool erase(const std::string& node);
  bool empty() const { return nodes_.empty(); }

  // Renews the time of the live nodes of at most one part: the one renewed longest ago, if that was
  // at least `after` ago. Returns whether anything changed.
  bool renew(std::int64_t now, std::int64_t after,
             const std::function<bool(const std::string& node)>& lives);

  // By ConfigMap name. Empty without nodes.
  const std::map<std::string, Text>& texts();

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct Kept {
    ClusterEntry entry;
    std::int64_t time = 0;
    std::size_t part = kNone;
  };
  struct Natural {
    bool operator()(std::string_view a, std::string_view b) const { return natural_less(a, b); }
  };
  using Nodes = std::map<std::string, Kept, Natural>;
  struct Part {
    std::vector<Nodes::value_type*> nodes;  // in the order of their bytes, as Go writes a map
    bool others = true;                     // than these, after arrange()
    bool changed = true;
    std::int64_t renewed = 0;
  };

  void touched(const Kept& kept);
  void arrange();
  Text join(const Part& part) const;

  std::string name_;
  std::size_t most_;
  Nodes nodes_;
  std::vector<Part> parts_;
  bool arranged_ = true;
  std::map<std::string, Text> texts_;
};

}  // namespace chipweave::codec::mindcluster
