#include "common/solver/chips/machine.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

#include "common/base/count_of.hpp"
#include "common/solver/chips/group_split.hpp"
#include "common/solver/chips/selector.hpp"

namespace chipweave::solver {
namespace {

CandidateQuery query_of(const Request& r) {
  return {r.usable - r.already_held,
          r.required,
          r.already_held,
          r.size,
          r.distributed,
          false,
          r.objective,
          r.loaded - r.usable};
}

// usable, already_held, sizes, distributed, objective, loaded
using GroupKey = std::tuple<std::uint64_t, std::uint64_t, std::vector<int>, bool, domain::Objective,
                            std::uint64_t>;

constexpr std::size_t kMaxGroups = 4096;  // then the table is emptied; some 4 MB at worst
constexpr std::size_t kMaxMemo = std::size_t{1} << 18U;  // some 20 MB a topology class at worst

}  // namespace

struct Machine::Impl {
  struct RequestKey {
    std::uint64_t usable = 0;
    std::uint64_t required = 0;
    std::uint64_t already_held = 0;
    std::uint64_t size_and_distributed = 0;
    std::uint64_t loaded = 0;
    friend bool operator==(const RequestKey&, const RequestKey&) = default;
    friend std::uint64_t hash_key(const RequestKey& key) {
      std::uint64_t h = mix(key.usable + 0x9e3779b97f4a7c15ULL * (key.size_and_distributed + 1));
      if ((key.required | key.already_held) != 0)
        h = mix(h ^ key.required) + mix(h + key.already_held);
      if (key.loaded != 0) h = mix(h ^ key.loaded);
      return h;
    }
  };
  static RequestKey key_of(const Request& r) {
    return {r.usable.bits(), r.required.bits(), r.already_held.bits(),
            static_cast<std::uint64_t>(r.objective) << 32U |
                static_cast<std::uint64_t>(r.size) << 1U | (r.distributed ? 1U : 0U),
            (r.loaded - r.usable).bits()};
  }

  explicit Impl(domain::NodeTopology t)
      : topology(std::move(t)),
        selector(topology),
        healed(topology.has_lanes_down() ? std::make_unique<Selector>(topology.healed()) : nullptr),
        memo(kMaxMemo) {}
  domain::NodeTopology topology;
  Selector selector;
  std::unique_ptr<Selector> healed;  // the same machine with all lanes up, where some are down
  FlatMap<RequestKey, Choice> memo;
  FlatMap<std::uint64_t, OpenSizes> open{kMaxMemo};  // where a rule restricts the sets
  std::optional<double> whole_gbps;
  std::map<GroupKey, GroupChoice> groups;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  Steps steps = 0;  // of all decisions
  Steps most_steps = 0;

  bool any_set_is_legal() const {
    return topology.rule().kind == domain::RuleKind::any && topology.partitions().empty();
  }

  Steps all_steps() const {
    return steps + selector.table_steps() + (healed ? healed->table_steps() : 0);
  }
  // The steps of one decision, for the statistics.
  class Counted {
   public:
    explicit Counted(Impl& impl) : impl_(impl), before_(impl.all_steps()) {}
    ~Counted() { impl_.most_steps = std::max(impl_.most_steps, impl_.all_steps() - before_); }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

   private:
    Impl& impl_;
    Steps before_;
  };

  double ceiling(int size, bool distributed) {
    return to_gbps((healed ? *healed : selector).ceiling(size, distributed));
  }

  Misfit misfit(const Request& r) const {
    const ChipSet usable = r.usable - r.already_held;
    if (r.size < 1 || !selector.rules().legal_size(r.size, r.distributed)) return Misfit::size;
    if (r.required.size() > r.size) return Misfit::required_too_many;
    if (!usable.contains(r.required)) return Misfit::required_unusable;
    if (usable.size() < r.size) return Misfit::too_few_chips;
    return Misfit::none;
  }

  Choice decide(const Request& r) {
    Choice out;
    out.why = misfit(r);
    out.best_gbps = ceiling(r.size + r.already_held.size(), r.distributed);
    if (out.why != Misfit::none) return out;
    const Selector::Outcome found = selector.best(query_of(r));
    steps += found.steps;
    if (found.best.empty()) {
      out.why = Misfit::rule;
      return out;
    }
    out.fits = true;
    out.chips = found.best.front().chips;
    out.gbps = to_gbps(found.best.front().rate);
    out.best_gbps = std::max(out.best_gbps, out.gbps);  // both searches may have ended early
    out.exact = found.exact;
    out.bound = r.objective == domain::Objective::bandwidth ? to_gbps(found.bound) : out.gbps;
    return out;
  }
};

Machine::Machine(domain::NodeTopology topology)
    : impl_(std::make_unique<Impl>(std::move(topology))) {}
Machine::~Machine() = default;
Machine::Machine(Machine&&) noexcept = default;
Machine& Machine::operator=(Machine&&) noexcept = default;

const domain::NodeTopology& Machine::topology() const { return impl_->topology; }

Choice Machine::choose(const Request& request) {
  const Impl::RequestKey key = Impl::key_of(request);
  if (const Choice* known = impl_->memo.find(key)) {
    ++impl_->hits;
    return *known;
  }
  ++impl_->misses;
  const Impl::Counted count_of(*impl_);
  const Choice out = impl_->decide(request);
  impl_->memo.insert(key, out);
  return out;
}

bool Machine::fits(const Request& request) const {
  if (impl_->misfit(request) != Misfit::none) return false;
  if (impl_->any_set_is_legal()) return true;
  return !impl_->selector.any_set(query_of(request)).empty();
}

OpenSizes Machine::open_sizes(ChipSet usable) {
  if (impl_->any_set_is_legal()) {
    const int most = std::min(usable.size(), kMaxOpenSize);
    return static_cast<OpenSizes>((1U << std::bit_width(static_cast<unsigned>(most))) - 1);
  }
  if (const OpenSizes* known = impl_->open.find(usable.bits())) return *known;
  OpenSizes open = 0;
  for (int k = 0; (1 << k) <= std::min(usable.size(), kMaxOpenSize); ++k) {
    if (fits({usable, {}, {}, 1 << k, false})) open = static_cast<OpenSizes>(open | 1U << k);
  }
  impl_->open.insert(usable.bits(), open);
  return open;
}

double Machine::whole_gbps() {
  if (!impl_->whole_gbps) impl_->whole_gbps = gbps(impl_->topology.all());
  return *impl_->whole_gbps;
}

double Machine::gbps(ChipSet set) { return to_gbps(bandwidth(set).rate); }
Bandwidth Machine::bandwidth(ChipSet set) { return impl_->selector.model().of(set); }
double Machine::all_to_all_gbps(ChipSet set) const {
  return to_gbps(all_to_all_rate(impl_->selector.model(), wiring(), set));
}
Distance Machine::distance(ChipSet set) const {
  return solver::distance(impl_->selector.model(), wiring(), set);
}
Rate Machine::upper_bound(ChipSet set) const { return impl_->selector.model().upper_bound(set); }
const Wiring& Machine::wiring() const { return impl_->selector.wiring(); }

bool Machine::legal(ChipSet set, ChipSet usable, bool distributed) const {
  return impl_->selector.rules().legal(set, usable, distributed);
}

std::vector<int> Machine::legal_sizes(bool distributed) const {
  return impl_->selector.rules().legal_sizes(distributed);
}

double Machine::best_gbps(int size, bool distributed) { return impl_->ceiling(size, distributed); }

double Machine::best_gbps(ChipSet set, bool distributed) {
  return std::max(best_gbps(set.size(), distributed), gbps(set));
}

std::string Machine::reason(const Request& r, const Choice& choice) const {
  const auto chips = [](int n) { return std::to_string(n) + (n == 1 ? " chip" : " chips"); };
  const int n = impl_->topology.chip_count();
  switch (choice.why) {
    case Misfit::none:
      return "";
    case Misfit::size:
      if (r.size > n) return chips(r.size) + " asked, the machine has " + std::to_string(n);
      return impl_->selector.rules().size_refusal(r.size, r.distributed);
    case Misfit::too_few_chips:
      return chips(r.size) + " asked, " + std::to_string((r.usable - r.already_held).size()) +
             " usable";
    case Misfit::required_unusable: {
      std::string list;
      for (const int i : impl_->topology.indices(r.required - (r.usable - r.already_held))) {
        list += (list.empty() ? "" : ", ") + std::to_string(i);
      }
      return "required chip " + list + " is not usable";
    }
    case Misfit::required_too_many:
      return chips(r.required.size()) + " required, " + std::to_string(r.size) + " asked";
    case Misfit::rule:
      return impl_->selector.rules().shortage(r.size, r.distributed) +
             (r.required.empty() ? "" : " with the required chips");
  }
  return "";
}

Machine::Stats Machine::stats() const {
  return {impl_->hits, impl_->misses, impl_->memo.size(), impl_->most_steps};
}

GroupChoice Machine::choose_group(const GroupRequest& pods) {
  const GroupKey key{pods.usable.bits(), pods.already_held.bits(), pods.sizes,
                     pods.distributed,   pods.objective,           pods.loaded.bits()};
  if (const auto known = impl_->groups.find(key); known != impl_->groups.end()) {
    ++impl_->hits;
    return known->second;
  }
  ++impl_->misses;
  const Impl::Counted count_of(*impl_);
  auto [out, steps] = split_group(impl_->selector, pods);
  impl_->steps += steps;
  int total = pods.already_held.size();
  for (const int size : pods.sizes) total += size;
  out.best_gbps = std::max(impl_->ceiling(total, false), out.gbps);
  if (impl_->groups.size() >= kMaxGroups) impl_->groups.clear();
  impl_->groups.emplace(key, out);
  return out;
}

GroupChoice Machine::choose_among(const std::vector<ChipSet>& unions, const GroupRequest& pods) {
  const Impl::Counted count_of(*impl_);
  auto [out, steps] = split_one_of(impl_->selector, unions, pods);
  impl_->steps += steps;
  out.best_gbps = std::max(impl_->ceiling(out.chips.size(), false), out.gbps);
  return out;
}

namespace {

std::string host_text(const HostSide& h, bool p2p) {
  return (p2p ? count_of(h.spread, "NUMA node")
              : "at most " + count_of(h.spread, "chip") + " a NUMA node") +
         ", " + count_of(h.without_nic, "chip") + " without a near NIC of " +
         (h.without_nic == 1 ? "its" : "their") + " own, " + count_of(h.shared_uplinks, "pair") +
         " sharing a PCIe uplink";
}

std::string gbps_text(Rate rate) {
  const Rate tenths = rate / 100000;  // rounded down: a prediction is never overstated
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GB/s";
}

std::string lost_text(const RankedCandidate& lost, const RankedCandidate& won, bool p2p) {
  switch (compare(won, lost).by) {
    case Criterion::objective:
      return "objective: the other set serves it better";
    case Criterion::bandwidth:
      return "bandwidth: " + gbps_text(lost.rate) + " against " + gbps_text(won.rate);
    case Criterion::preference:
      return "vendor preference: the stock scheduler would take the other set first";
    case Criterion::preservation:
      return "what stays free: the remaining chips would be worth less to later requests";
    case Criterion::host:
      return "host side: " + host_text(lost.host, p2p) + " against " + host_text(won.host, p2p);
    case Criterion::indices:
      return "equally good; lower indices win";
  }
  return "";
}

}  // namespace

Explanation Machine::explain(const Request& request) {
  Explanation out;
  const ChipSet chips = request.usable | request.required | request.already_held;
  if (!impl_->topology.all().contains(chips)) return out;
  out.choice = choose(request);
  if (!out.choice.fits) return out;
  const Selector::Outcome found = impl_->selector.best(query_of(request), 2);
  const std::vector<RankedCandidate>& two = found.best;
  out.candidates = found.candidates;
  const RankedCandidate& won = two.front();
  const bool p2p = impl_->selector.wiring().p2p();
  if (request.objective == domain::Objective::all_to_all) {
    out.criteria.push_back("objective all_to_all: predicted " +
                           gbps_text(to_rate(all_to_all_gbps(won.chips | request.already_held))));
  } else if (request.objective == domain::Objective::latency) {
    const Distance far = distance(won.chips | request.already_held);
    out.criteria.push_back("objective latency: at most " + count_of(far.farthest, "hop") + ", " +
                           std::to_string(far.sum) + " over all pairs, on " +
                           count_of(far.numa_nodes, "NUMA node"));
  }
  out.criteria.push_back("predicted bandwidth " + gbps_text(won.rate) + ", best on this machine " +
                         gbps_text(to_rate(out.choice.best_gbps)));
  if (impl_->topology.rule().kind != domain::RuleKind::any) {
    out.criteria.push_back("vendor rule " +
                           std::string(domain::to_string(impl_->topology.rule().kind)));
  }
  out.criteria.push_back("Link bandwidth left among free chips: " + gbps_text(won.rest.pairs));
  out.criteria.push_back("host side: " + host_text(won.host, p2p));
  if (two.size() > 1) {
    out.best_rejected = RunnerUp{two[1].chips, to_gbps(two[1].rate), lost_text(two[1], won, p2p)};
  }
  return out;
}

}  // namespace chipweave::solver
