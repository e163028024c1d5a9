// Who asks: the kubelet does not say for which pod it wants a preferred set, but the list that it
// gives in that moment shows it. Pure.
//
// The kubelet admits one pod after the other, and a pod is listed as soon as its turn comes: the
// one that wants chips and has none is the one that asks. Kubelets before 1.34 go on listing pods
// that they have refused, so pods that had their turn before are ruled out where there is a choice.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "node-agent/device_plugin/core/listed.hpp"
#include "node-agent/device_plugin/core/pod_book.hpp"

namespace chipweave::device_plugin {

struct Ask {
  ChipSet available;     // must_include among them
  ChipSet must_include;  // at most `size`
  int size = 0;          // at least 1
};

struct Asker {
  PodRecord pod;
  AskingContainer container;
};

struct AskerSearch {
  std::vector<Asker> found;  // one: that is it
  // Pods without chips that may be newer than what is known of that name: worth waiting for.
  std::vector<std::string> awaited;
  // Those of them that may be the asker even if nothing comes.
  std::vector<std::string> unknown;
  std::vector<std::string> lacking;  // all names of which the newest pod may be the asker
};

// How many new pods of a name have had their turn and have not been shown.
struct UnseenTurns {
  int before = 0;  // before the newest list of all pods was requested
  int since = 0;
};

// Pods, by uid or by name, that cannot be the asker.
struct RuledOut {
  std::set<std::string> refused;   // by us, which is final; or it may have been
  std::set<std::string> served;    // they had all their chips
  std::set<std::string> had_turn;  // listed while another pod asked
  std::set<std::pair<std::string, std::string>> answered;  // uid and container
  std::set<std::string> never_seen;                        // names that were waited for in vain
  std::set<std::string> strangers;  // names of pods that were deleted before we came
  std::map<std::string, UnseenTurns> unseen_turns;  // by name; none without turns
};

AskerSearch find_asker(const Listed& list, const PodBook& book, const RuledOut& out,
                       const Ask& ask);

// The container of the pod that is next to get chips, if it may be the one that asks.
const AskingContainer* next_container(const PodRecord& pod, const Listed::Pod& listed,
                                      const Ask& ask);

}  // namespace chipweave::device_plugin
