// Gangs on every published network, against the plain recursion: for each domain and number of pods
// the fewest domains of each level, computed from those of its parts by (min, +).
#include <map>
#include <random>
#include <set>

#include "common/solver/gang/planner.hpp"
#include "tests/unit/codec_network/network.hpp"
#include "tests/unit/codec_text/shared_file.hpp"

namespace chipweave::codec {
namespace {

using domain::NetworkNode;
using domain::NetworkTable;

// Domains used at each level, then nodes; empty: impossible.
using Used = std::vector<int>;
using ByPods = std::vector<Used>;

Used sum(const Used& a, const Used& b) {
  if (a.empty() || b.empty()) return {};
  Used out = a;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] += b[i];
  return out;
}

ByPods together(const ByPods& a, const ByPods& b, std::size_t most) {
  ByPods out(std::min(most, a.size() + b.size() - 2) + 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size() && i + j < out.size(); ++j) {
      const Used both = sum(a[i], b[j]);
      Used& best = out[i + j];
      if (!both.empty() && (best.empty() || both < best)) best = both;
    }
  }
  return out;
}

class Recursion {
 public:
  Recursion(const NetworkTable& table, const std::vector<int>& free, std::size_t most)
      : table_(table), free_(free), most_(most), width_(table.levels.size() + 1) {}

  ByPods all() const {
    std::vector<std::size_t> nodes;
    for (std::size_t i = 0; i < table_.nodes.size(); ++i) nodes.push_back(i);
    return inside(nodes, 0);
  }

 private:
  ByPods inside(const std::vector<std::size_t>& nodes, std::size_t level) const {
    ByPods out{Used(width_, 0)};
    if (level == table_.levels.size()) {
      for (const std::size_t node : nodes) out = together(out, of_node(node), most_);
      return out;
    }
    std::map<std::string, std::vector<std::size_t>> parts;
    for (const std::size_t node : nodes) {
      const auto& path = table_.nodes[node].path;
      const bool known = level < path.size() && !path[level].empty();
      parts[known ? "k" + path[level] : "u" + table_.nodes[node].name].push_back(node);
    }
    for (const auto& [name, members] : parts) {
      ByPods part = inside(members, level + 1);
      for (std::size_t pods = 1; pods < part.size(); ++pods)
        if (!part[pods].empty()) ++part[pods][level];
      out = together(out, part, most_);
    }
    return out;
  }
  ByPods of_node(std::size_t node) const {
    ByPods out(static_cast<std::size_t>(free_[node]) + 1, Used(width_, 0));
    for (std::size_t pods = 1; pods < out.size(); ++pods) out[pods].back() = 1;
    return out;
  }

  const NetworkTable& table_;
  const std::vector<int>& free_;
  std::size_t most_;
  std::size_t width_;
};

TEST(SharedNetworks, PlansOnThemUseTheFewestDomains) {
  std::vector<std::string> names;
  for (const std::string& folder : shared_names("network", ""))
    for (const std::string& name : shared_names("network/" + folder, ""))
      names.push_back(folder + "/" + name);
  if (names.empty()) GTEST_SKIP() << "no shared data";
  std::mt19937 random(20'260'404);
  int networks = 0;
  for (const std::string& name : names) {
    const auto network = import_network(shared_file("network/" + name).value_or(""), {});
    if (!network || network->table.nodes.size() < 2 || network->table.levels.empty()) continue;
    const NetworkTable& table = network->table;
    SCOPED_TRACE(name);
    ++networks;
    std::vector<int> free;
    solver::Fabric fabric(table.levels.size());
    for (const NetworkNode& node : table.nodes) {
      free.push_back(static_cast<int>(random() % 5));
      const auto id = fabric.add(node.name, node.path);
      ASSERT_TRUE(id) << id.error().text();
      fabric.set_free(*id, free.back());
    }
    constexpr std::size_t kMaxPods = 60;
    const ByPods best = Recursion(table, free, kMaxPods).all();
    for (const int pods : {1, 2, 5, 9, 16, 33, 60}) {
      domain::Gang gang;
      gang.pods = pods;
      gang.min_member = pods;
      gang.chips_per_pod = 1;
      const domain::Plan plan = plan_gang(fabric, table.levels, gang);
      const auto at = static_cast<std::size_t>(pods);
      EXPECT_EQ(plan.fits, at < best.size() && !best[at].empty());
      if (!plan.fits) continue;
      Used used = plan.domains;
      used.push_back(solver::nodes_used(plan));
      EXPECT_EQ(used, best[at]) << pods << " pods";
    }
  }
  EXPECT_GE(networks, 10);
}

}  // namespace
}  // namespace chipweave::codec
