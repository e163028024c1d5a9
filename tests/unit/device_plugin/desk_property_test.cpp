// Random clusters: pods come, are refused, deleted and replaced under their names, while the watch
// lags behind the kubelet. Whatever is answered is the asker's own set, or never another pod's.
#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "common/io/files.hpp"
#include "common/solver/chips/machine.hpp"
#include "node-agent/device_plugin/core/desk.hpp"
#include "tests/unit/device_plugin/sim_kubelet.hpp"

namespace chipweave::device_plugin {
namespace {

using test::PodSpec;

class RandomCluster {
 public:
  // lag: the watch shows things later than the kubelet sees them.
  RandomCluster(unsigned seed, OnMismatch policy, bool lag = true)
      : random_(seed), lag_(lag), desk_(test::kNode, test::kGpu, policy, true) {
    static const auto kTopology = io::load_machine("hgx-v100-8")->topology;
    static const auto kMachine = std::make_shared<solver::Machine>(kTopology);
    desk_.machine(std::make_shared<const Devices>(kTopology, kMachine));
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      if (pick(12) == 0) list();
      switch (pick(6)) {
        case 0:
        case 1:
          bind();
          break;
        case 2:
        case 3:
          admit();
          break;
        case 4:
          end();
          break;
        default:
          show(pick(3));
      }
      if (!lag_) show(1000);
    }
  }

  int asked = 0;
  int exact = 0;
  int refused = 0;
  int adopted = 0;

 private:
  static constexpr int kNames = 4;
  struct Live {
    PodSpec pod;
    std::map<std::string, std::vector<int>> parts;
    bool admitted = false;
  };

  int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

  std::set<int> promised() const {
    std::set<int> out;
    for (const auto& [uid, live] : live_) {
      for (const auto& [name, chips] : live.parts) out.insert(chips.begin(), chips.end());
    }
    return out;
  }

  // The scheduler: chips that no living pod has been promised.
  void bind() {
    PodSpec pod;
    pod.name = "p" + std::to_string(pick(kNames));
    for (const auto& [uid, live] : live_) {
      if (live.pod.name == pod.name) return;
    }
    pod.uid = "u" + std::to_string(++last_);
    const int containers = 1 + pick(2);
    if (pick(4) == 0) pod.containers.push_back({"init", 1, true});
    for (int i = 0; i < containers; ++i)
      pod.containers.push_back({"c" + std::to_string(i), 1 + pick(2)});
    if (pick(3) == 0) pod.containers.push_back({"none", 0});
    std::vector<int> free;
    const std::set<int> taken = promised();
    for (int chip = 0; chip < 8; ++chip) {
      if (!taken.contains(chip)) free.push_back(chip);
    }
    std::shuffle(free.begin(), free.end(), random_);
    if (static_cast<int>(free.size()) < pod.total()) return;
    Live live{pod, {}, false};
    for (const auto& container : pod.containers) {
      if (container.init || container.count == 0) continue;
      auto& part = live.parts[containers == 1 ? "" : container.name];
      part.assign(free.end() - container.count, free.end());
      free.resize(free.size() - static_cast<std::size_t>(container.count));
    }
    live_[pod.uid] = live;
    waiting_.push_back(pod.uid);
    events_.push_back([pod, parts = live.parts](Desk& desk) {
      desk.pod_seen(kube_pod(pod, note_of(pod, parts)));
    });
  }

  void show(int events) {
    for (; events > 0 && !events_.empty(); --events) {
      events_.front()(desk_);
      events_.pop_front();
    }
  }

  // All pods as they are now, in the place of all that the watch has not shown.
  void list() {
    desk_.list_requested();
    events_.clear();
    admit();
    auto living = live_;
    events_.clear();
    events_.push_back([living = std::move(living)](Desk& desk) {
      std::set<std::string> keys;
      for (const auto& [uid, live] : living) {
        keys.insert(live.pod.key());
        desk.pod_seen(kube_pod(live.pod, note_of(live.pod, live.parts)));
      }
      for (int name = 0; name < kNames; ++name) {
        const std::string key = "default/p" + std::to_string(name);
        if (!keys.contains(key)) desk.pod_gone(key);
      }
      desk.list_shown();
    });
  }

  // The kubelet admits one of the pods that it has received, in any order.
  void admit() {
    if (waiting_.empty()) return;
    const auto at = waiting_.begin() + pick(static_cast<int>(waiting_.size()));
    const std::string uid = *at;
    waiting_.erase(at);
    Live& live = live_.at(uid);
    std::string asking;
    const bool ok = kubelet_.admit(live.pod, [&](const AskedPreference& asked_now) {
      ++asked;
      const Listed list = kubelet_.list();
      desk_.learn(list);
      auto got = desk_.prefer(asked_now, list, true);
      const int patience = pick(4);
      for (int i = 0; i < patience && !got; ++i) {
        show(1);
        got = desk_.prefer(asked_now, list, true);
      }
      if (!got) got = desk_.prefer(asked_now, list, false);
      return check(live, asked_now, *got);
    });
    live.admitted = ok;
    if (!ok) {  // its owner deletes it and makes another one
      events_.push_back([key = live.pod.key()](Desk& desk) { desk.pod_gone(key); });
      live_.erase(uid);
    }
  }

  Result<std::vector<std::string>> check(const Live& live, const AskedPreference& asked_now,
                                         const Preferred& got) {
    if (!got.choice) {
      ++refused;
      return got.choice.error();
    }
    const auto indices = desk_.devices()->topology().indices(got.choice->chips);
    EXPECT_EQ(static_cast<int>(indices.size()), asked_now.size);
    std::set<int> own;
    for (const auto& [name, chips] : live.parts) own.insert(chips.begin(), chips.end());
    for (const int index : indices) {
      // Of its init container, from before the other one was promised it.
      const auto& kept = asked_now.must_include;
      if (std::count(kept.begin(), kept.end(), std::to_string(index)) > 0) continue;
      for (const auto& [uid, other] : live_) {
        // One that is admitted has what the kubelet gave it, whatever was decided.
        if (uid == live.pod.uid || other.admitted ||
            desk_.book().find(other.pod.key()) == nullptr ||
            desk_.book().find(other.pod.key())->uid != uid)
          continue;
        for (const auto& [name, chips] : other.parts)
          EXPECT_EQ(std::count(chips.begin(), chips.end(), index), 0)
              << "chip " << index << " is that of " << other.pod.key();
      }
    }
    if (got.choice->by == Choice::By::decision) {
      ++exact;
      EXPECT_EQ(got.container.substr(0, live.pod.key().size()), live.pod.key());
      for (const int index : indices) EXPECT_TRUE(own.contains(index)) << live.pod.key();
    } else {
      ++adopted;
    }
    return desk_.devices()->ids(got.choice->chips);
  }

  void end() {
    for (auto it = live_.begin(); it != live_.end(); ++it) {
      if (!it->second.admitted || pick(3) != 0) continue;
      kubelet_.remove(it->first);
      events_.push_back([key = it->second.pod.key()](Desk& desk) { desk.pod_gone(key); });
      live_.erase(it);
      return;
    }
  }

  std::mt19937 random_;
  bool lag_;
  Desk desk_;
  test::SimKubelet kubelet_{8};
  std::map<std::string, Live> live_;               // as the API server has them, by uid
  std::vector<std::string> waiting_;               // uids that the kubelet has not admitted
  std::deque<std::function<void(Desk&)>> events_;  // that the watch has not shown
  int last_ = 0;
};

TEST(DeskProperty, NobodyIsGivenWhatIsAnothers) {
  int exact = 0;
  int refused = 0;
  int adopted = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    RandomCluster cluster(seed, seed % 2 == 0 ? OnMismatch::refuse : OnMismatch::adopt);
    cluster.run(150);
    exact += cluster.exact;
    refused += cluster.refused;
    adopted += cluster.adopted;
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  // The runs do contain each of these.
  EXPECT_GT(exact, 3'000);
  EXPECT_GT(refused, 100);
  EXPECT_GT(adopted, 100);
}

TEST(DeskProperty, WithoutALagEverybodyGetsWhatWasDecided) {
  int exact = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    RandomCluster cluster(seed, OnMismatch::refuse, false);
    cluster.run(150);
    exact += cluster.exact;
    EXPECT_EQ(cluster.exact, cluster.asked) << "seed " << seed;
  }
  EXPECT_GT(exact, 3'000);
}

}  // namespace
}  // namespace chipweave::device_plugin
