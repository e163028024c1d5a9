#include "common/solver/simulate/replay.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

namespace chipweave::simulate {
namespace {

struct Running {
  double end_s = 0;
  std::size_t serial = 0;  // the earlier placed ends first among equals
  std::size_t pod = 0;
  Spot spot;
  // For a queue with the first end on top.
  friend bool operator<(const Running& a, const Running& b) {
    return a.end_s != b.end_s ? a.end_s > b.end_s : a.serial > b.serial;
  }
};

class Run {
 public:
  Run(const Workload& workload, ModelCluster cluster, const NamedPolicy& policy,
      const ReplayOptions& options)
      : load_(workload),
        options_(options),
        cluster_(std::move(cluster)),
        fragmentation_(workload.mix, cluster_.nodes()),
        policy_(policy.make(
            {cluster_, load_.mix, fragmentation_, options_.preference, options_.managed_only})),
        all_(cluster_.nodes().size()) {
    std::iota(all_.begin(), all_.end(), std::size_t{0});
  }

  Replayed result() {
    const std::size_t count = load_.arrivals.size();
    const std::size_t every =
        std::max<std::size_t>(1, count / std::max<std::size_t>(options_.samples, 1));
    sample();
    for (std::size_t i = 0; i < count; ++i) {
      end_until(load_.arrivals[i].time_s);
      advance(load_.arrivals[i].time_s);
      arrive(i);
      if (!load_.pods_end) weigh(1);
      if ((i + 1) % every == 0 || i + 1 == count) {
        sample();
        if (options_.progress) options_.progress(i + 1);
      }
    }
    finish();
    if (load_.pods_end) drain(every);
    for (const std::size_t waiting : waiting_) out_.refused.push_back(load_.arrivals[waiting].pod);
    return std::move(out_);
  }

 private:
  double share(double chips) const { return cluster_.chips() > 0 ? chips / cluster_.chips() : 0; }
  double allocated() const { return share(cluster_.chips() - cluster_.free_chips()); }
  double fragmented() const { return share(fragmentation_.total()); }

  void weigh(double weight) {
    weights_ += weight;
    out_.allocated.mean += weight * allocated();
    out_.fragmented.mean += weight * fragmented();
  }

  // Moves the virtual clock; the state has held since it was moved last.
  void advance(double to_s) {
    if (load_.pods_end && !finished_) weigh(to_s - now_s_);
    now_s_ = to_s;
  }

  void sample() {
    out_.samples.push_back({now_s_, share(asked_), allocated(), fragmented(), waiting_.size()});
  }

  std::optional<Spot> decide(const domain::TracePod& pod, std::span<const std::size_t> nodes) {
    if (!options_.clock_ns) return policy_->place(pod, nodes);
    const std::uint64_t begin = options_.clock_ns();
    std::optional<Spot> spot = policy_->place(pod, nodes);
    out_.decision_ns.push_back(options_.clock_ns() - begin);
    return spot;
  }

  void changed(std::size_t node) {
    fragmentation_.update(node, cluster_.nodes()[node]);
    policy_->changed(node);
  }

  void start(std::size_t arrival, const Spot& spot) {
    const Arrival& a = load_.arrivals[arrival];
    cluster_.take(spot.node, shape_of(load_.pods[a.pod]), spot.chips);
    changed(spot.node);
    const ModelNode& node = cluster_.nodes()[spot.node];
    const double gbps = spot.chips.size() > 1 ? node.machine->gbps(spot.chips) : 0;
    out_.placed.push_back({a.pod, spot.node, gbps});
    if (!load_.pods_end) return;
    out_.waits_s.push_back(now_s_ - a.time_s);
    running_.push({now_s_ + a.duration_s, out_.placed.size(), a.pod, spot});
  }

  void arrive(std::size_t arrival) {
    const domain::TracePod& pod = load_.pods[load_.arrivals[arrival].pod];
    asked_ += pod.chips;
    if (const auto spot = decide(pod, all_)) return start(arrival, *spot);
    if (!load_.pods_end) return out_.refused.push_back(load_.arrivals[arrival].pod);
    waiting_.push_back(arrival);
    out_.most_waiting = std::max(out_.most_waiting, waiting_.size());
  }

  // A waiting pod found no room on the other nodes, so only this one can have it.
  void retry_on(std::size_t node) {
    std::erase_if(waiting_, [&](std::size_t arrival) {
      const domain::TracePod& pod = load_.pods[load_.arrivals[arrival].pod];
      if (!cluster_.nodes()[node].has_room(shape_of(pod))) return false;
      const auto spot = decide(pod, {&node, 1});
      if (spot) start(arrival, *spot);
      return spot.has_value();
    });
  }

  void end_next() {
    const Running done = running_.top();
    running_.pop();
    advance(done.end_s);
    cluster_.give_back(done.spot.node, shape_of(load_.pods[done.pod]), done.spot.chips);
    changed(done.spot.node);
    retry_on(done.spot.node);
  }

  void end_until(double time_s) {
    while (!running_.empty() && running_.top().end_s <= time_s) end_next();
  }

  // Until nothing waits that could still be placed.
  void drain(std::size_t every) {
    for (std::size_t ends = 1; !waiting_.empty() && !running_.empty(); ++ends) {
      end_next();
      if (ends % every == 0) sample();
    }
  }

  // After the last arrival; how long the queue takes to empty is the waiting pods' concern.
  void finish() {
    finished_ = true;
    out_.allocated.at_end = allocated();
    out_.fragmented.at_end = fragmented();
    if (weights_ > 0) {
      out_.allocated.mean /= weights_;
      out_.fragmented.mean /= weights_;
    } else {
      out_.allocated.mean = out_.allocated.at_end;
      out_.fragmented.mean = out_.fragmented.at_end;
    }
  }

  const Workload& load_;
  const ReplayOptions& options_;
  ModelCluster cluster_;
  Fragmentation fragmentation_;
  std::unique_ptr<Policy> policy_;
  std::vector<std::size_t> all_;      // nodes
  std::vector<std::size_t> waiting_;  // arrivals, oldest first
  std::priority_queue<Running> running_;
  double now_s_ = 0;
  double asked_ = 0;
  double weights_ = 0;
  bool finished_ = false;
  Replayed out_;
};

}  // namespace

Replayed replay(const Workload& workload, ModelCluster cluster, const NamedPolicy& policy,
                const ReplayOptions& options) {
  return Run(workload, std::move(cluster), policy, options).result();
}

}  // namespace chipweave::simulate
