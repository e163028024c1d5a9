#include "node-agent/publish/node/start_sequence.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace chipweave::agent {
namespace {

using Stage = StartSequence::Stage;
using Fact = StartSequence::Fact;
using std::chrono::seconds;

struct Rule {
  std::vector<Fact> needs;
  std::optional<seconds> limit;
};

// By stage; the last one has no end.
const std::array<Rule, 3>& rules() {
  static const std::array<Rule, 3> all = {{
      {{Fact::machine}, std::nullopt},
      {{Fact::node, Fact::list}, seconds(2)},
      {{Fact::inventory, Fact::in_use}, seconds(10)},
  }};
  return all;
}

}  // namespace

StartSequence::StartSequence(kube::Transport& transport, std::set<Fact> known,
                             std::function<void(Stage)> enter)
    : transport_(transport), known_(std::move(known)), enter_(std::move(enter)) {}

void StartSequence::learn(Fact fact) {
  known_.insert(fact);
  if (advancing_) return;  // the stage that is being entered is checked when it is
  advancing_ = true;
  while (is_over()) advance();
  advancing_ = false;
}

bool StartSequence::is_over() const {
  if (stage_ == Stage::publishing) return false;
  const auto& needs = rules()[static_cast<std::size_t>(stage_)].needs;
  return std::all_of(needs.begin(), needs.end(), [this](Fact one) { return known_.contains(one); });
}

void StartSequence::advance() {
  const auto next = static_cast<std::size_t>(stage_) + 1;
  stage_ = static_cast<Stage>(next);
  limit_.reset();
  if (next < rules().size() && rules()[next].limit) {
    limit_ = transport_.after(*rules()[next].limit, [this] {
      const auto over = std::move(limit_);
      // What was missing is not waited for any longer.
      for (const Fact one : rules()[static_cast<std::size_t>(stage_)].needs) known_.insert(one);
      learn(Fact::machine);
    });
  }
  enter_(stage_);
}

}  // namespace chipweave::agent
