#include "tests/unit/sched_kube/two_replicas.hpp"

#include <algorithm>

namespace chipweave::sched::test {

void TwoReplicas::pass(std::chrono::milliseconds time, Watches watches) {
  // Finer where the order of what happens matters.
  const std::chrono::milliseconds longest{watches == Watches::fed ? 200 : 50};
  while (time.count() > 0) {
    const auto step = std::min(time, longest);
    time -= step;
    a.clock.advance(step);
    a.api.pass(step);
    for (KubeWorld* each : all()) {
      if (each->scheduler) each->tick();
    }
    if (watches == Watches::fed) a.feed_all();
  }
}

void TwoReplicas::come_to_rest() {
  a.api.settle();
  for (int second = 0; second < 200; ++second) {
    pass(std::chrono::seconds(1));
    a.api.settle();
  }
}

}  // namespace chipweave::sched::test
