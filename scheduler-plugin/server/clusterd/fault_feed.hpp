// FaultFeed — faults of the nodes and devices of a MindIE deployment, for those who follow them:
// messages of fault.Fault. Loop thread only.
#pragma once

#include <string>

#include "mindcluster/fault.pb.h"
#include "scheduler-plugin/ranktables/rank_tables.hpp"
#include "scheduler-plugin/server/clusterd/subscriptions.hpp"

namespace chipweave::sched::clusterd {

class FaultFeed {
 public:
  FaultFeed(const RankTables& tables, const Scheduler& scheduler, const Clock& clock,
            CallerLimits& limits);

  Subscriptions& subscriptions() { return subscriptions_; }
  // The faults now; signalType "normal": there are none. Cost: O(pods and faults of the job).
  fault::FaultMsgSignal signal(const std::string& job) const;
  // Pushes what has changed; call it about every second.
  void tick(bool leads);

 private:
  const RankTables& tables_;
  const Scheduler& scheduler_;
  Subscriptions subscriptions_;
};

}  // namespace chipweave::sched::clusterd
