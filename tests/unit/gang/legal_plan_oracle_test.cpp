// Gangs of several sizes on machines whose vendors allow certain chip sets only, against plain
// enumeration: every split of the free chips, every assignment of the pods to nodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "common/solver/gang/chips/chip_plan.hpp"
#include "common/solver/gang/chips/legal_split.hpp"
#include "common/solver/gang/planner.hpp"
#include "common/solver/gang/rails/best_nodes.hpp"
#include "tests/unit/solver/machines.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::kNoLevel;
using Sizes = std::vector<int>;

const std::vector<std::string> kRuled = {"ascend-310-card-4", "ascend-310-chip-4",  "ascend-310p-8",
                                         "ascend-910a-8",     "ascend-910a-half-4", "ascend-910b-8",
                                         "ascend-910b-16",    "ascend-a3-8",        "ascend-a3-16",
                                         "ascend-a5-8",       "ascend-a5-16",       "hgx-h100-8"};

// Every split of every subset is tried; nothing is known about the rules.
bool splits(const Machine& machine, ChipSet usable, ChipSet rest, const Sizes& sizes,
            std::size_t pod, bool distributed) {
  if (pod == sizes.size()) return true;
  if (sizes[pod] == 0) return splits(machine, usable, rest, sizes, pod + 1, distributed);
  for (std::uint64_t bits = rest.bits(); bits != 0; bits = (bits - 1) & rest.bits()) {
    const ChipSet set(bits);
    if (set.size() == sizes[pod] && machine.legal(set, usable, distributed) &&
        splits(machine, usable, rest - set, sizes, pod + 1, distributed))
      return true;
  }
  return false;
}

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  int upto(int most) { return static_cast<int>(random_() % static_cast<unsigned>(most + 1)); }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(upto(static_cast<int>(all.size()) - 1))];
  }
  ChipSet some_of(ChipSet all, int most) {
    ChipSet out;
    for (const int slot : all)
      if (out.size() < most && upto(2) != 0) out.insert(slot);
    return out;
  }

 private:
  std::mt19937 random_;
};

std::shared_ptr<Machine> machine_of(const std::string& profile) {
  static std::map<std::string, std::shared_ptr<Machine>> known;
  std::shared_ptr<Machine>& at = known[profile];
  if (!at) at = std::make_shared<Machine>(test::profile(profile));
  return at;
}

TEST(LegalSplits, AreThoseThatEnumerationFinds) {
  Dice dice(1);
  int legal = 0;
  int illegal = 0;
  for (int i = 0; i < 4000 && !testing::Test::HasFailure(); ++i) {
    const std::string& profile = dice.one_of(kRuled);
    const Machine& machine = *machine_of(profile);
    const ChipSet usable = dice.some_of(machine.topology().all(), 8);
    Sizes sizes;
    int left = usable.size();
    while (left > 0 && sizes.size() < 4) {
      sizes.push_back(1 + dice.upto(std::min(left, 5) - 1));
      left -= sizes.back();
    }
    if (sizes.size() < 2) continue;
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    const bool expected = splits(machine, usable, usable, sizes, 0, true);
    std::uint64_t steps = 1'000'000;
    const auto found = splits_legally(machine, usable, sizes, true, steps);
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, expected) << profile << " " << usable.bits() << " "
                                << testing::PrintToString(sizes);
    EXPECT_EQ(machine_of(profile)->choose_group({usable, {}, sizes, true}).fits, expected)
        << profile << " " << usable.bits();
    ++(expected ? legal : illegal);
  }
  EXPECT_GT(legal, 500);
  EXPECT_GT(illegal, 500);
}

TEST(LegalSplits, EndWhenTheirStepsAreUsedUp) {
  const Machine& machine = *machine_of("ascend-910b-16");
  std::uint64_t steps = 2;
  EXPECT_FALSE(splits_legally(machine, ChipSet::first(16), {3, 3, 3, 3, 3}, true, steps));
  EXPECT_EQ(steps, 0U);
}

struct LegalCase {
  std::vector<std::string> profiles;  // by node
  std::vector<ChipSet> free;
  std::vector<std::string> racks;
  Gang gang;
  std::vector<int> at;  // by pod in a repair: its node
  std::size_t failed = 0;

  bool repair() const { return !at.empty(); }
  bool lost(std::size_t pod) const {
    return !repair() || static_cast<std::size_t>(at[pod]) == failed;
  }
};

// As many pods as can be placed, then the fewest racks, then nodes; {0, …}: none.
class LegalOracle {
 public:
  explicit LegalOracle(const LegalCase& c) : case_(c), on_(all_pods(), -1) {}
  std::vector<int> best() {
    visit(0);
    return best_;
  }

 private:
  std::size_t all_pods() const { return static_cast<std::size_t>(case_.gang.pods); }
  int set_of(std::size_t pod) const {
    if (case_.gang.sets.empty()) return domain::kNoSet;
    int first = 0;
    for (std::size_t set = 0;; ++set) {
      first += case_.gang.sets[set].pods;
      if (static_cast<int>(pod) < first) return static_cast<int>(set);
    }
  }
  void visit(std::size_t pod) {
    if (pod == all_pods()) return judge();
    on_[pod] = -1;
    if (!case_.lost(pod)) return visit(pod + 1);
    visit(pod + 1);
    for (std::size_t node = 0; node < case_.profiles.size(); ++node) {
      if (case_.repair() && node == case_.failed) continue;
      on_[pod] = static_cast<int>(node);
      if (fits(node)) visit(pod + 1);
    }
    on_[pod] = -1;
  }
  bool fits(std::size_t node) {
    Sizes sizes;
    int sum = 0;
    for (std::size_t pod = 0; pod < on_.size(); ++pod) {
      if (on_[pod] != static_cast<int>(node)) continue;
      sizes.push_back(case_.gang.chips_of(static_cast<int>(pod), set_of(pod)));
      sum += sizes.back();
    }
    if (sum > case_.free[node].size()) return false;
    std::sort(sizes.begin(), sizes.end());
    const auto [at, fresh] = known_.try_emplace({node, sizes}, false);
    if (fresh)
      at->second = splits(*machine_of(case_.profiles[node]), case_.free[node], case_.free[node],
                          sizes, 0, case_.gang.pods > 1);
    return at->second;
  }
  void judge() {
    std::set<std::string> racks;
    std::set<int> nodes;
    std::map<int, std::set<std::string>> of_set;
    int placed = 0;
    int running = 0;
    for (std::size_t pod = 0; pod < on_.size(); ++pod) {
      const int node = case_.lost(pod) ? on_[pod] : case_.at[pod];
      if (node < 0) continue;
      ++(case_.lost(pod) ? placed : running);
      nodes.insert(node);
      racks.insert(case_.racks[static_cast<std::size_t>(node)]);
      of_set[set_of(pod)].insert(case_.racks[static_cast<std::size_t>(node)]);
    }
    if (placed == 0 || placed + running < case_.gang.min_member) return;
    for (const auto& [set, in] : of_set)
      if (set != domain::kNoSet && in.size() > 1 &&
          case_.gang.sets[static_cast<std::size_t>(set)].required_level == 0)
        return;
    const std::vector<int> value{-placed, static_cast<int>(racks.size()),
                                 static_cast<int>(nodes.size())};
    if (best_.empty() || value < best_) best_ = value;
  }

  const LegalCase& case_;
  std::vector<int> on_;  // by pod
  std::map<std::pair<std::size_t, Sizes>, bool> known_;
  std::vector<int> best_;
};

LegalCase random_case(Dice& dice) {
  LegalCase c;
  const int nodes = 2 + dice.upto(2);
  const std::string& all_of = dice.one_of(kRuled);
  for (int i = 0; i < nodes; ++i) {
    c.profiles.push_back(dice.upto(3) == 0 ? dice.one_of(kRuled) : all_of);
    c.free.push_back(dice.some_of(machine_of(c.profiles.back())->topology().all(), 6));
    c.racks.push_back("r" + std::to_string(dice.upto(1)));
  }
  c.gang.pods = 1 + dice.upto(4);
  const bool repair = dice.upto(2) == 0;
  const auto size = [&] { return dice.upto(5) == 0 ? dice.upto(4) : 1 << dice.upto(2); };
  if (dice.upto(1) == 0) {
    for (int i = 0; i < c.gang.pods; ++i) c.gang.pod_chips.push_back(size());
  } else {
    c.gang.roles = true;
    for (int left = c.gang.pods; left > 0; left -= c.gang.sets.back().pods) {
      domain::PodSet& role = c.gang.sets.emplace_back();
      role.name = "role" + std::to_string(c.gang.sets.size());
      role.pods = 1 + dice.upto(left - 1);
      role.chips_per_pod = size();
      if (!repair && dice.upto(2) == 0) role.required_level = 0;
    }
  }
  c.gang.min_member = dice.upto(c.gang.pods);
  if (!repair) return c;
  c.failed = static_cast<std::size_t>(dice.upto(nodes - 1));
  for (int i = 0; i < c.gang.pods; ++i)
    c.at.push_back(dice.upto(1) == 0 ? static_cast<int>(c.failed) : dice.upto(nodes - 1));
  return c;
}

class LegalPlans {
 public:
  explicit LegalPlans(const LegalCase& c) : case_(c), gang_(c.gang) {
    for (std::size_t i = 0; i < c.profiles.size(); ++i) {
      const std::string name = "n" + std::to_string(i);
      const FabricNodeId id = *fabric_.add(name, {c.racks[i], name});
      const std::shared_ptr<Machine> machine = machine_of(c.profiles[i]);
      fabric_.set_free(id, c.free[i].size());
      machines_.emplace(id, NodeMachine{machine, {machine, &machine->topology()}, c.free[i]});
      if (c.repair() && i == c.failed) gang_.failed = {id};
    }
    for (std::size_t pod = 0; pod < c.at.size(); ++pod) {
      domain::Running& here = gang_.existing[static_cast<FabricNodeId>(c.at[pod])];
      ++here.pods;
      here.ranks.push_back(static_cast<int>(pod));
    }
    limit_by_chips(fabric_, machines_, gang_);
    plan_ = *plan_down_to_chips(fabric_, levels_, gang_, machines_, {}, [&](const Fabric& on) {
      return Result<domain::Plan>(plan_on_best_nodes(on, levels_, gang_, machines_));
    });
  }
  const domain::Plan& plan() const { return plan_.plan; }
  // The chips are free, legal and of one pod only.
  void check_chips() const {
    std::map<FabricNodeId, ChipSet> given;
    for (std::size_t i = 0; i < plan_.plan.pods.size(); ++i) {
      const domain::PlannedPod& pod = plan_.plan.pods[i];
      ChipSet set;
      for (const int index : plan_.chips[i])
        set.insert(*machines_.at(pod.node).topology->slot_of(domain::ChipIndex{index}));
      EXPECT_EQ(set.size(), gang_.chips_of(pod.pod, pod.set));
      EXPECT_TRUE(case_.free[pod.node].contains(set));
      EXPECT_TRUE((given[pod.node] & set).empty());
      given[pod.node] |= set;
      EXPECT_TRUE(set.empty() ||
                  machines_.at(pod.node).machine->legal(set, case_.free[pod.node], gang_.pods > 1));
    }
  }

 private:
  const LegalCase& case_;
  Gang gang_;
  const std::vector<std::string> levels_{"rack", "hostname"};
  Fabric fabric_{2};
  NodeMachines machines_;
  ChipPlan plan_;
};

std::string text_of(const LegalCase& c) {
  std::string out = std::to_string(c.gang.pods) + " pods, min " +
                    std::to_string(c.gang.min_member) + ", chips " +
                    testing::PrintToString(c.gang.pod_chips);
  for (const domain::PodSet& set : c.gang.sets)
    out += ", role of " + std::to_string(set.pods) + " x " + std::to_string(set.chips_per_pod) +
           (set.required_level == kNoLevel ? "" : " in a rack");
  for (std::size_t i = 0; i < c.profiles.size(); ++i)
    out += "\nn" + std::to_string(i) + " " + c.racks[i] + " " + c.profiles[i] + " free " +
           testing::PrintToString(machine_of(c.profiles[i])->topology().indices(c.free[i]));
  if (c.repair())
    out +=
        "\nn" + std::to_string(c.failed) + " failed; pods ran on " + testing::PrintToString(c.at);
  return out;
}

TEST(LegalPlanOracle, FindsTheBestOfAllAssignments) {
  Dice dice(2);
  int fit = 0;
  int repaired = 0;
  for (int i = 0; i < 1500 && !testing::Test::HasFailure(); ++i) {
    const LegalCase c = random_case(dice);
    SCOPED_TRACE(text_of(c));
    const std::vector<int> best = LegalOracle(c).best();
    const LegalPlans plans(c);
    EXPECT_EQ(plans.plan().fits, !best.empty()) << plans.plan().reason;
    if (!plans.plan().fits || best.empty()) continue;
    ++fit;
    repaired += c.repair() ? 1 : 0;
    std::vector<int> value{-static_cast<int>(plans.plan().pods.size())};
    value.insert(value.end(), plans.plan().domains.begin(), plans.plan().domains.end());
    EXPECT_EQ(value, best);
    plans.check_chips();
  }
  EXPECT_GT(fit, 500);
  EXPECT_GT(repaired, 150);
}

}  // namespace
}  // namespace chipweave::solver
