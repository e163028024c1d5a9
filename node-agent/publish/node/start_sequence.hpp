// StartSequence — the order in which an agent in a cluster begins to publish.
//
// At its start an agent knows neither the orders of operators nor which chips pods use. If it
// published at once, every restart would briefly offer chips that are out of service, and list
// chips as free that pods use. So each stage waits for what it needs, and none waits without a
// limit: a cluster that refuses one kind of object still gets the others.
//
//   stage       the agent                                 until it knows              at most
//   waiting     publishes nothing                         the machine                 -
//   asking      keeps labels, reads the orders            Node and MindCluster's list 2 s
//   reporting   writes the inventory                      that it is written, and     10 s
//                                                         which chips pods use
//   publishing  keeps ConfigMaps, too
//
// Loop thread only; ends with its destructor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>

#include "common/kube/transport.hpp"

namespace chipweave::agent {

class StartSequence {
 public:
  enum class Stage : std::uint8_t { waiting, asking, reporting, publishing };
  enum class Fact : std::uint8_t {
    machine,    // there is a first state
    node,       // the Node's annotations, or that there is no Node
    list,       // MindCluster's list of separated chips
    inventory,  // it was written
    in_use,     // which chips pods use
  };

  // known: what need not be waited for. enter: called once for each stage after waiting, in order.
  StartSequence(kube::Transport& transport, std::set<Fact> known, std::function<void(Stage)> enter);

  // May be called again, and from `enter`.
  void learn(Fact fact);
  Stage stage() const { return stage_; }
  void stop() { limit_.reset(); }

 private:
  bool is_over() const;
  void advance();

  kube::Transport& transport_;
  std::set<Fact> known_;
  std::function<void(Stage)> enter_;
  Stage stage_ = Stage::waiting;
  bool advancing_ = false;
  std::unique_ptr<kube::Ticket> limit_;
};

}  // namespace chipweave::agent
