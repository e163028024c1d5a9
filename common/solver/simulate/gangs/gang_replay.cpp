#include "common/solver/simulate/gangs/gang_replay.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "common/solver/gang/planner.hpp"
#include "common/solver/simulate/gangs/gang_spread.hpp"

namespace chipweave::simulate {
namespace {

using domain::TraceGang;

struct RunningGang {
  std::size_t gang = 0;
  GangSeats seats;
};

class GangQueue {
 public:
  GangQueue(const GangWorkload& load, GangPlacer& placer, const GangReplayOptions& options)
      : load_(load),
        placer_(placer),
        options_(options),
        cluster_(load.cluster),
        every_(std::max<std::size_t>(
            1, 2 * load.gangs.size() / std::max<std::size_t>(options.samples, 1))),
        refused_at_(load.gangs.size(), 0) {
    out_.levels.resize(load.cluster.levels());
  }

  Result<GangReplayed> result() {
    sample();
    for (std::size_t event = 1; next_ < load_.gangs.size() || !running_.empty(); ++event) {
      advance(next_moment());
      end_gangs();
      add_arrivals();
      if (auto started = start_waiting(); !started) return std::move(started).error();
      if (next_ == load_.gangs.size() && !arrived_) finish_arrivals();
      const bool last = next_ == load_.gangs.size() && running_.empty();
      if (event % every_ != 0 && !last) continue;
      sample();
      if (options_.progress) options_.progress(gone_);
    }
    out_.end_s = now_s_;
    out_.used_until_end = share_of_time();
    return std::move(out_);
  }

 private:
  double used() const {
    const auto chips = static_cast<double>(cluster_.chips());
    return chips > 0 ? static_cast<double>(cluster_.used()) / chips : 0;
  }
  double share_of_time() const { return now_s_ > 0 ? used_seconds_ / now_s_ : used(); }

  void sample() { out_.samples.push_back({now_s_, used(), waiting_.size()}); }

  double next_moment() const {
    const bool more = next_ < load_.gangs.size();
    if (running_.empty()) return load_.gangs[next_].arrival_s;
    const double end = running_.begin()->first;
    return more ? std::min(end, load_.gangs[next_].arrival_s) : end;
  }

  // Moves the virtual clock; the state has held since it was moved last.
  void advance(double to_s) {
    used_seconds_ += used() * (to_s - now_s_);
    now_s_ = to_s;
  }

  void finish_arrivals() {
    arrived_ = true;
    out_.used_until_last_arrival = share_of_time();
  }

  void end_gangs() {
    while (!running_.empty() && running_.begin()->first <= now_s_) {
      const RunningGang& done = running_.begin()->second;
      cluster_.give_back(load_.gangs[done.gang], done.seats);
      running_.erase(running_.begin());
      ++frees_;
    }
  }

  void add_arrivals() {
    for (; next_ < load_.gangs.size() && load_.gangs[next_].arrival_s <= now_s_; ++next_) {
      if (load_.alone[next_].fits) {
        waiting_.emplace(-std::int64_t{load_.gangs[next_].priority}, next_);
      } else {
        out_.never_fit.push_back(next_);
        ++gone_;
      }
    }
  }

  Result<std::optional<GangSeats>> decide(const TraceGang& gang) {
    if (!cluster_.has_room(gang)) return std::optional<GangSeats>();
    if (!options_.clock_ns) return placer_.place(cluster_.fabric(), gang);
    const std::uint64_t begin = options_.clock_ns();
    auto seats = placer_.place(cluster_.fabric(), gang);
    out_.decision_ns.push_back(options_.clock_ns() - begin);
    return seats;
  }

  // Whether the gang runs now.
  Result<bool> start(std::size_t number) {
    if (refused_at_[number] == frees_) return false;  // nothing was freed since
    const TraceGang& gang = load_.gangs[number];
    auto seats = decide(gang);
    if (!seats) return std::move(seats).error();
    if (!*seats) {
      refused_at_[number] = frees_;
      return false;
    }
    const std::vector<int> fewest = fewest_domains(cluster_.fabric(), gang);
    if (auto taken = cluster_.take(gang, **seats); !taken) return std::move(taken).error();
    add_spread(number, **seats, fewest);
    out_.runs.push_back({number, now_s_});
    running_.emplace(now_s_ + gang.duration_s, RunningGang{number, **std::move(seats)});
    return true;
  }

  void add_spread(std::size_t number, const GangSeats& seats, const std::vector<int>& fewest) {
    const solver::Fabric& fabric = cluster_.fabric();
    const std::vector<int> crossings = ring_crossings(fabric, seats);
    const std::vector<int> domains = domains_used(fabric, seats);
    for (std::size_t level = 0; level < out_.levels.size(); ++level) {
      LevelSpread& sum = out_.levels[level];
      sum.crossings += crossings[level];
      sum.domains += domains[level];
      sum.fewest += fewest[level];
      sum.alone += load_.alone[number].domains[level];
    }
  }

  bool is_out_of_patience(std::size_t number) const {
    return now_s_ - load_.gangs[number].arrival_s >= options_.patience_s;
  }

  Result<void> start_waiting() {
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      const std::size_t number = at->second;
      const auto started = start(number);
      if (!started) return started.error();
      if (!*started && running_.empty()) {
        out_.refused.push_back(number);
      } else if (!*started) {
        if (is_out_of_patience(number)) break;
        ++at;
        continue;
      }
      at = waiting_.erase(at);
      ++gone_;
    }
    out_.most_waiting = std::max(out_.most_waiting, waiting_.size());
    return {};
  }

  const GangWorkload& load_;
  GangPlacer& placer_;
  const GangReplayOptions& options_;
  GangCluster cluster_;
  std::size_t every_;                                       // events from sample to sample
  std::set<std::pair<std::int64_t, std::size_t>> waiting_;  // -priority, gang
  std::multimap<double, RunningGang> running_;              // by their end
  std::uint64_t frees_ = 1;                                 // gangs that have ended, and one
  std::vector<std::uint64_t> refused_at_;                   // by gang: frees_ then; 0: never
  std::size_t next_ = 0;                                    // gang that arrives
  std::size_t gone_ = 0;                                    // gangs that have left the queue
  bool arrived_ = false;                                    // all of them
  double now_s_ = 0;
  double used_seconds_ = 0;  // time, weighted with the share of chips in use
  GangReplayed out_;
};

}  // namespace

std::vector<AloneGang> alone_gangs(const std::vector<TraceGang>& gangs, const solver::Fabric& empty,
                                   const std::vector<std::string>& level_names) {
  std::map<std::tuple<int, int, int, int>, AloneGang> known;
  std::vector<AloneGang> out;
  out.reserve(gangs.size());
  for (const TraceGang& gang : gangs) {
    const auto [at, fresh] = known.try_emplace(
        {gang.pods, gang.chips, gang.required_level, gang.preferred_level}, AloneGang{});
    if (fresh) {
      domain::Plan plan = solver::plan_gang(empty, level_names, as_planned(gang));
      at->second = {plan.fits, std::move(plan.domains)};
    }
    out.push_back(at->second);
  }
  return out;
}

Result<GangReplayed> replay_gangs(const GangWorkload& workload, GangPlacer& placer,
                                  const GangReplayOptions& options) {
  return GangQueue(workload, placer, options).result();
}

}  // namespace chipweave::simulate
