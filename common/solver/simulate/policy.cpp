#include "common/solver/simulate/policy.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "common/solver/chips/baselines.hpp"

namespace chipweave::simulate {
namespace {

// The lowest is best; equal keys go to the first node.
using Key = std::array<double, 2>;

// The node with the lowest key among those with room.
template <class KeyOf>
std::optional<std::size_t> lowest(const ModelCluster& cluster, const PodShape& pod,
                                  std::span<const std::size_t> nodes, KeyOf key_of) {
  std::optional<std::size_t> best;
  Key best_key{};
  for (const std::size_t i : nodes) {
    const ModelNode& node = cluster.nodes()[i];
    if (!node.has_room(pod)) continue;
    const Key key = key_of(i, node);
    if (best && !(key < best_key)) continue;
    best = i;
    best_key = key;
  }
  return best;
}

// Mean share of CPU and memory that stays free, by which kube-scheduler prefers nodes unless it is
// configured otherwise (NodeResourcesFit, LeastAllocated).
double free_share(const ModelNode& node, const ModelNode& empty, const PodShape& pod) {
  const auto share = [](std::int64_t free, std::int64_t all) {
    return all > 0 ? static_cast<double>(free) / static_cast<double>(all) : 0;
  };
  return (share(node.cpu_milli - pod.cpu_milli, empty.cpu_milli) +
          share(node.memory_mib - pod.memory_mib, empty.memory_mib)) /
         2;
}

class BaselinePolicy : public Policy {
 public:
  explicit BaselinePolicy(const PolicyContext& context) : context_(context) {}

  std::optional<Spot> place(const domain::TracePod& pod,
                            std::span<const std::size_t> nodes) override {
    const PodShape shape = shape_of(pod);
    const auto node =
        lowest(context_.cluster, shape, nodes,
               [&](std::size_t i, const ModelNode& candidate) { return key(i, candidate, shape); });
    if (!node) return std::nullopt;
    return Spot{*node, chips(context_.cluster.nodes()[*node], shape.chips)};
  }

 protected:
  virtual Key key(std::size_t index, const ModelNode& node, const PodShape& pod) = 0;
  virtual ChipSet chips(const ModelNode& node, int size) {
    return solver::choose_first_fit(node.free, size).value_or(ChipSet());
  }
  const PolicyContext context_;
};

class FirstFit : public BaselinePolicy {
 public:
  using BaselinePolicy::BaselinePolicy;

 protected:
  Key key(std::size_t, const ModelNode&, const PodShape&) override { return {}; }
};

class BestFit : public BaselinePolicy {
 public:
  using BaselinePolicy::BaselinePolicy;

 protected:
  Key key(std::size_t, const ModelNode& node, const PodShape& pod) override {
    return {static_cast<double>(node.free.size()),
            static_cast<double>(node.cpu_milli - pod.cpu_milli)};
  }
};

class PairSum : public BestFit {
 public:
  using BestFit::BestFit;

 protected:
  ChipSet chips(const ModelNode& node, int size) override {
    if (size < 2) return BestFit::chips(node, size);
    const auto sum = solver::choose_by_pair_sum(node.machine->topology(), node.free, size);
    return sum ? *sum : BestFit::chips(node, size);
  }
};

class Spread : public BaselinePolicy {
 public:
  using BaselinePolicy::BaselinePolicy;

 protected:
  Key key(std::size_t index, const ModelNode& node, const PodShape& pod) override {
    const double cpu = -free_share(node, context_.cluster.empty_nodes()[index], pod);
    return {pod.chips > 0 ? -static_cast<double>(node.free.size()) : 0, cpu};
  }
};

// The node whose fragmentation grows least.
class GradientDescent : public BaselinePolicy {
 public:
  explicit GradientDescent(const PolicyContext& context) : BaselinePolicy(context) {
    for (std::size_t i = 0; i < context.mix.size(); ++i) classes_[context.mix[i].shape] = i;
    growth_.assign(context.cluster.nodes().size() * context.mix.size(), kOpen);
  }
  void changed(std::size_t node) override {
    const auto from = growth_.begin() + static_cast<std::ptrdiff_t>(node * classes_.size());
    std::fill(from, from + static_cast<std::ptrdiff_t>(classes_.size()), kOpen);
  }

 protected:
  Key key(std::size_t index, const ModelNode& node, const PodShape& pod) override {
    return {growth(index, node, pod), static_cast<double>(node.free.size())};
  }

 private:
  static constexpr double kOpen = std::numeric_limits<double>::infinity();

  double growth(std::size_t index, const ModelNode& node, const PodShape& pod) {
    const auto known = classes_.find(pod);
    if (known == classes_.end()) return computed(index, node, pod);
    double& kept = growth_[index * classes_.size() + known->second];
    if (kept == kOpen) kept = computed(index, node, pod);
    return kept;
  }
  double computed(std::size_t index, const ModelNode& node, const PodShape& pod) const {
    ModelNode after;
    after.free = node.free - solver::choose_first_fit(node.free, pod.chips).value_or(ChipSet());
    after.cpu_milli = node.cpu_milli - pod.cpu_milli;
    after.memory_mib = node.memory_mib - pod.memory_mib;
    return context_.fragmentation.of(after) - context_.fragmentation.of(index);
  }

  std::map<PodShape, std::size_t> classes_;
  std::vector<double> growth_;  // by node and class, as long as the node stays as it is
};

// chipweave-scheduler behind kube-scheduler: nodes with too little CPU or memory are filtered out
// before; pods without chips are kube-scheduler's own.
class Chipweave : public Policy {
 public:
  explicit Chipweave(const PolicyContext& context) : context_(context) {}

  std::optional<Spot> place(const domain::TracePod& pod,
                            std::span<const std::size_t> nodes) override {
    const PodShape shape = shape_of(pod);
    if (shape.chips == 0) {
      const auto node =
          lowest(context_.cluster, shape, nodes, [&](std::size_t i, const ModelNode& candidate) {
            return Key{-free_share(candidate, context_.cluster.empty_nodes()[i], shape), 0};
          });
      if (!node) return std::nullopt;
      return Spot{*node, {}};
    }
    const double ceiling =
        context_.preference.ceiling(shape.chips, pod.needs_gbps.value_or(0));
    inputs_.clear();
    spots_.clear();
    for (const std::size_t i : nodes) {
      const ModelNode& node = context_.cluster.nodes()[i];
      if (!node.has_room(shape)) continue;
      const solver::Choice choice = node.machine->choose({node.free, {}, {}, shape.chips, false});
      if (!choice.fits) continue;
      const solver::NodeOffer offer =
          solver::offer_of(*node.machine, node.free, choice.chips, choice.gbps);
      inputs_.push_back(solver::score_input(offer, ceiling, context_.preference,
                                            static_cast<std::uint32_t>(i)));
      spots_.push_back({i, choice.chips});
    }
    if (spots_.empty()) return std::nullopt;
    return spots_[solver::best_node(inputs_, context_.preference.tolerance)];
  }

 private:
  const PolicyContext context_;
  std::vector<solver::ScoreInput> inputs_;
  std::vector<Spot> spots_;
};

template <class Made>
std::unique_ptr<Policy> make(const PolicyContext& context) {
  return std::make_unique<Made>(context);
}

}  // namespace

const std::vector<NamedPolicy>& policies() {
  static const std::vector<NamedPolicy> all = {
      {"first-fit", "first node with room, lowest chips", make<FirstFit>},
      {"best-fit", "node with the fewest free chips, lowest chips", make<BestFit>},
      {"pair-sum", "node as best-fit, chips with the largest sum of pair scores", make<PairSum>},
      {"spread", "node with the most free chips, lowest chips", make<Spread>},
      {"fgd", "node whose fragmentation grows least, lowest chips", make<GradientDescent>},
      {"chipweave", "what chipweave-scheduler would choose", make<Chipweave>},
  };
  return all;
}

}  // namespace chipweave::simulate
