// Gangs that ask for what cannot be: unknown levels, slices that do not nest, minima above the
// number of pods, subgroups that contain each other, names of any bytes. Each is planned, waits, or
// is refused with one constant reason; the books stay right.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "scheduler-plugin/model/gangs/gang_mark.hpp"
#include "tests/unit/sched/gated_world.hpp"

namespace chipweave::sched::test {
namespace {

class HostileGangs {
 public:
  explicit HostileGangs(unsigned seed) : draw_(seed) {
    for (int i = 0; i < kNodes; ++i) {
      w_.scheduler.network().set_labels(
          "n" + std::to_string(i), {{"cloud.provider.com/topology-block", std::to_string(i / 4)},
                                    {"cloud.provider.com/topology-rack", std::to_string(i / 2)}});
    }
    w_.nodes(kNodes);
  }
  void run();

 private:
  static constexpr int kNodes = 8;

  int below(int end) { return std::uniform_int_distribution<>(0, end - 1)(draw_); }
  bool rarely() { return below(4) == 0; }
  int number() {
    constexpr int kNumbers[] = {1, 2, 2, 3, 4, 4, 8, 16, 1000, 20000};
    return kNumbers[below(10)];
  }
  std::optional<int> maybe_number() {
    return below(2) == 0 ? std::nullopt : std::optional(number());
  }
  std::string text() {
    std::string out;
    for (int i = below(12); i >= 0; --i) out += static_cast<char>(below(256));
    return out;
  }
  std::string level() {
    constexpr const char* kLevels[] = {"cloud.provider.com/topology-block",
                                       "cloud.provider.com/topology-rack",
                                       "tier:1",
                                       "tier:99",
                                       "tier:",
                                       "tier:-1"};
    const int drawn = below(7);
    return drawn == 6 ? text() : kLevels[drawn];
  }
  std::string name() {
    constexpr const char* kNames[] = {"", "a", "b", "c"};
    const int drawn = below(5);
    return drawn == 4 ? text() : kNames[drawn];
  }
  TopologyWish wish() {
    TopologyWish out;
    if (rarely()) out.required.push_back(level());
    if (rarely()) out.preferred.push_back(level());
    for (int i = below(4) - 1; i > 0; --i) out.slices.push_back({level(), number()});
    out.even = rarely();
    out.per_role = rarely();
    if (rarely()) out.together = name();
    return out;
  }
  std::optional<domain::Partition> partition() {
    if (!rarely()) return std::nullopt;
    domain::Partition out;
    out.size = number();
    out.total = maybe_number();
    out.minimum = maybe_number();
    out.topology = wish();
    return out;
  }
  GangSpec spec() {
    GangSpec out;
    out.size = maybe_number();
    out.minimum = maybe_number();
    out.topology = wish();
    out.partition = partition();
    out.sequential = rarely();
    for (int i = below(4); i > 0; --i) {
      RoleSpec role;
      role.name = name();
      role.pods = maybe_number();
      role.minimum = maybe_number();
      role.topology = wish();
      role.partition = partition();
      if (rarely()) role.chips = domain::ChipCounts{{"nvidia.com/gpu", number()}};
      out.roles.push_back(std::move(role));
    }
    for (int i = below(4); i > 0; --i) {
      SubgroupSpec group;
      group.name = name();
      group.parent = name();
      group.pods = maybe_number();
      group.minimum = maybe_number();
      if (rarely()) group.set = name();
      group.topology = wish();
      out.subgroups.push_back(std::move(group));
    }
    if (rarely()) out.min_sets[name()] = number();
    return out;
  }
  void submit(const std::string& gang, int number) {
    ClusterPod pod;
    pod.request = World::request(gang + "-" + std::to_string(number), 1 + below(8));
    GangMark mark;
    mark.framework = "chipweave";
    mark.name = gang;
    mark.role = name();
    if (below(2) == 0) mark.index = below(30000);
    mark.size = maybe_number();
    mark.minimum = maybe_number();
    mark.topology = wish();
    mark.sequential = rarely();
    pod.request.mark = std::make_shared<const GangMark>(std::move(mark));
    pod.gated = below(2) == 0;
    auto added = w_.cluster.add(pod, "{}");
    ASSERT_TRUE(added.ok());
    pods_.push_back((*added)->request);
  }

  std::mt19937 draw_;
  Gated w_;
  std::vector<PodRequest> pods_;
};

void HostileGangs::run() {
  for (int g = 0; g < 6; ++g) {
    const std::string gang = "g" + std::to_string(g);
    if (below(3) > 0) w_.scheduler.owner_says("ns/chipweave/" + gang, spec());
    for (int i = 1 + below(6); i > 0; --i) submit(gang, i);
  }
  for (int round = 0; round < 3; ++round) {
    w_.check();
    w_.store.answer();
    w_.expect_sound();
    for (const PodRequest& pod : pods_) {
      if (w_.pod(pod).gated || !w_.pod(pod).node.empty()) continue;
      const auto fit = w_.fit(pod);
      if (!fit.empty()) {
        EXPECT_TRUE(w_.bind(pod, *fit.begin()).ok()) << pod.key.name;
        continue;
      }
      // as long as nothing happens its reason stays
      EXPECT_EQ(w_.rejections(pod), w_.rejections(pod)) << pod.key.name;
    }
    w_.expect_sound();
    w_.clock.advance(std::chrono::seconds(11));
    w_.keep_reporting(kNodes);
    w_.scheduler.tick();
  }
}

TEST(HostileGangs, AreRefusedInOneWayAndLeaveTheBooksRight) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    HostileGangs(seed).run();
  }
}

}  // namespace
}  // namespace chipweave::sched::test
