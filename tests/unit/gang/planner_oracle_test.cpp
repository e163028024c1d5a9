// The planner against exhaustive search: on random small forests its answers are compared with the
// best of all assignments of pods to nodes. The oracle knows only nodes and paths and shares no
// code with the solver.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/solver/gang/planner.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::kNoLevel;

struct OracleMachine {
  std::string name;
  std::vector<std::string> path;
  int free = 0;
  int max_pods = kUnlimitedPods;
  bool healthy = true;
  int existing = 0;
};

struct OracleCase {
  std::size_t levels = 0;
  std::vector<OracleMachine> machines;
  Gang gang;

  int room(const OracleMachine& m) const {
    return m.healthy ? std::min(m.free / gang.chips_per_pod, m.max_pods) : 0;
  }
};

// A prefix of a path; unknown elements are unique to the node.
std::string prefix(const OracleMachine& m, std::size_t level) {
  std::string text;
  for (std::size_t i = 0; i <= level; ++i) {
    if (m.path[i].empty()) return text + "|?" + m.name;
    text += "|" + m.path[i];
  }
  return text;
}

// Fewest domains from the coarsest level to the nodes, then the least free chips in them.
using Value = std::vector<long>;

class Oracle {
 public:
  explicit Oracle(const OracleCase& c) : case_(c), pods_(c.machines.size(), 0) {
    for (const OracleMachine& m : c.machines) running_ += m.existing;
  }
  // The most pods that the rules allow; 0: none.
  int most() {
    for (const domain::Slice& slice : case_.gang.slices)
      if ((case_.gang.pods + running_) % slice.size != 0) return 0;
    for (int pods = case_.gang.pods; pods > 0; --pods) {
      if (best(pods)) return pods + running_ >= case_.gang.min_member ? pods : 0;
    }
    return 0;
  }
  // The best value for so many pods, if they can be placed.
  std::optional<Value> best(int pods) {
    best_.reset();
    spread(0, pods);
    return best_;
  }
  // The value of one assignment, if it satisfies the rules.
  std::optional<Value> value(const std::vector<int>& pods) const {
    const Gang& gang = case_.gang;
    Value counts;
    Value tight;
    for (std::size_t level = 0; level < case_.levels; ++level) {
      std::map<std::string, int> of;
      std::set<std::string> before;
      for (std::size_t i = 0; i < pods.size(); ++i) {
        const OracleMachine& m = case_.machines[i];
        if (pods[i] + m.existing > 0) of[prefix(m, level)] += pods[i] + m.existing;
        if (m.existing > 0) before.insert(prefix(m, level));
      }
      for (const domain::Slice& slice : gang.slices) {
        if (slice.level != static_cast<int>(level)) continue;
        for (const auto& [domain, held] : of)
          if (held % slice.size != 0) return std::nullopt;
      }
      if (gang.required_level == static_cast<int>(level) && of.size() > 1) return std::nullopt;
      long used = 0;
      long free = 0;
      for (const auto& [domain, held] : of) {
        if (before.contains(domain)) continue;
        ++used;
        for (const OracleMachine& m : case_.machines)
          if (m.healthy && prefix(m, level) == domain) free += m.free;
      }
      counts.push_back(used);
      tight.push_back(free);
    }
    long nodes = 0;
    long free = 0;
    for (std::size_t i = 0; i < pods.size(); ++i) {
      if (pods[i] == 0 || case_.machines[i].existing > 0) continue;
      ++nodes;
      free += case_.machines[i].free;
    }
    counts.push_back(nodes);
    tight.push_back(free);
    counts.insert(counts.end(), tight.begin(), tight.end());
    return counts;
  }

 private:
  void spread(std::size_t i, int rest) {
    if (i == pods_.size()) {
      if (rest > 0) return;
      const auto found = value(pods_);
      if (found && (!best_ || *found < *best_)) best_ = found;
      return;
    }
    for (int here = std::min(rest, case_.room(case_.machines[i])); here >= 0; --here) {
      pods_[i] = here;
      spread(i + 1, rest - here);
    }
    pods_[i] = 0;
  }

  const OracleCase& case_;
  std::vector<int> pods_;
  int running_ = 0;
  std::optional<Value> best_;
};

OracleCase random_oracle_case(std::mt19937& random) {
  const auto upto = [&](int most) {
    return static_cast<int>(random() % static_cast<unsigned>(most + 1));
  };
  OracleCase c;
  c.levels = static_cast<std::size_t>(1 + upto(2));
  const int machines = 1 + upto(6);
  const bool whole_nodes = upto(2) == 0;
  c.gang.chips_per_pod = whole_nodes ? 4 : 1 + upto(1);
  for (int i = 0; i < machines; ++i) {
    OracleMachine m;
    m.name = "n" + std::to_string(i);
    for (std::size_t level = 0; level < c.levels; ++level)
      m.path.push_back(upto(14) == 0 ? std::string() : "d" + std::to_string(upto(2)));
    m.free = whole_nodes ? 4 * upto(1) : upto(4);
    if (upto(5) == 0) m.max_pods = upto(2);
    m.healthy = upto(9) != 0;
    c.machines.push_back(std::move(m));
  }
  c.gang.pods = 1 + upto(6);
  if (upto(2) == 0) c.gang.required_level = upto(static_cast<int>(c.levels) - 1);
  if (upto(2) == 0) {
    int size = 1 + upto(2);
    for (int level = static_cast<int>(c.levels) - 1; level >= std::max(0, c.gang.required_level);
         --level) {
      if (upto(1) == 0) c.gang.slices.insert(c.gang.slices.begin(), domain::Slice{level, size});
      if (upto(1) == 0) size *= 2;
    }
  }
  if (upto(3) == 0) c.machines[static_cast<std::size_t>(upto(machines - 1))].existing = 1 + upto(2);
  int running = 0;
  for (const OracleMachine& m : c.machines) running += m.existing;
  c.gang.min_member = upto(c.gang.pods + running);
  return c;
}

std::string oracle_text_of(const OracleCase& c) {
  std::string text =
      std::to_string(c.gang.pods) + " pods of " + std::to_string(c.gang.chips_per_pod) + ", min " +
      std::to_string(c.gang.min_member) + ", required " + std::to_string(c.gang.required_level);
  for (const domain::Slice& s : c.gang.slices)
    text += ", slice " + std::to_string(s.level) + ":" + std::to_string(s.size);
  for (const OracleMachine& m : c.machines) {
    text += "\n" + m.name + " " + prefix(m, c.levels - 1) + " free " + std::to_string(m.free) +
            (m.max_pods == kUnlimitedPods ? "" : " max " + std::to_string(m.max_pods)) +
            (m.healthy ? "" : " unhealthy") +
            (m.existing > 0 ? " has " + std::to_string(m.existing) : "");
  }
  return text;
}

// Whether it fits.
bool compare(const OracleCase& c) {
  SCOPED_TRACE(oracle_text_of(c));
  Fabric fabric(c.levels);
  Gang gang = c.gang;
  std::vector<std::string> levels;
  for (std::size_t i = 0; i < c.levels; ++i) levels.push_back("level" + std::to_string(i));
  for (const OracleMachine& m : c.machines) {
    const auto id = fabric.add(m.name, m.path);
    if (!id) throw std::runtime_error(id.error().text());
    fabric.set_free(*id, m.free);
    fabric.set_max_pods(*id, m.max_pods);
    fabric.set_healthy(*id, m.healthy);
    if (m.existing > 0) gang.existing[*id].pods = m.existing;
  }
  const domain::Plan plan = plan_gang(fabric, levels, gang);
  Oracle oracle(c);
  const int most = oracle.most();
  EXPECT_EQ(plan.fits, most > 0) << plan.reason;
  EXPECT_EQ(static_cast<int>(plan.pods.size()), most);
  EXPECT_EQ(plan.reason.empty(), plan.fits);
  if (!plan.fits || most == 0) return false;
  std::vector<int> pods(c.machines.size(), 0);
  for (const domain::PlannedPod& pod : plan.pods) ++pods[pod.node];
  for (std::size_t i = 0; i < pods.size(); ++i) EXPECT_LE(pods[i], c.room(c.machines[i]));
  EXPECT_EQ(oracle.value(pods), oracle.best(most));
  EXPECT_TRUE(plan.optimal);
  return true;
}

TEST(PlannerOracle, FindsTheBestOfAllAssignments) {
  std::mt19937 random(20'260'101);
  int fit = 0;
  for (int i = 0; i < 6000 && !HasFailure(); ++i)
    fit += compare(random_oracle_case(random)) ? 1 : 0;
  EXPECT_GT(fit, 2000);
}

}  // namespace
}  // namespace chipweave::solver
