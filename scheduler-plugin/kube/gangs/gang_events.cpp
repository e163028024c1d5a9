#include "scheduler-plugin/kube/gangs/gang_events.hpp"

#include <utility>
#include <variant>
#include <vector>

#include "common/base/count_of.hpp"
#include "common/base/text.hpp"
#include "scheduler-plugin/kube/events.hpp"

namespace chipweave::sched {
void GangEvents::on(const Observation& seen) {
  std::visit(
      ByKind{[this](const GangPlanned& gang) { planned(gang); },
             [this](const GangUnplaceable& gang) { waits(gang); },
             [this](const GangReleased& gang) {
               send(gang.gang, true, "GangGivenUp",
                    "Not all pods were bound in time: the places of the others in plan " +
                        gang.plan + " are given up, and they are planned again");
             },
             [this](const GangOverdue& gang) {
               send(gang.gang, true, "GangIncomplete",
                    std::to_string(gang.pods) + " of " + std::to_string(gang.quorum) +
                        " pods that must start together have come. These wait for the "
                        "others; nothing is reserved for them");
             },
             [this](const GangKeepsChips& gang) {
               send(gang.gang, false, "GangKeepsChips",
                    "It has waited long and is the first in line: chips that come free on " +
                        std::to_string(gang.nodes) + " nodes are kept for it until it fits there");
             },
             [this](const GangPreempting& gang) { preempting(gang); },
             [this](const GangNotPreempting& gang) { not_preempting(gang); },
             [this](const GangPreempted& gang) {
               send(gang.gang, true, "GangPreempted",
                    "Its pods end so that gang " + gang.by +
                        ", which has a higher priority, fits: " + count_of(gang.pods, "pod"));
             },
             [](const auto&) {}},
      seen);
}

void GangEvents::planned(const GangPlanned& gang) {
  told_.erase(gang.gang.text());
  std::string note =
      std::to_string(gang.pods) + " pods have their places, in " + comma_list(gang.domains) +
      " domains of the levels of the network, coarsest first (plan " + gang.plan + ")";
  send(gang.gang, false, "GangPlanned", std::move(note));
}

// The numbers in the reason may change all the time.
void GangEvents::waits(const GangUnplaceable& gang) {
  const auto now = clock_.now();
  std::erase_if(told_, [&](const auto& one) { return now - one.second >= kPause; });
  if (!told_.try_emplace(gang.gang.text(), now).second) return;
  send(gang.gang, true, "GangWaits",
       "No plan: " + gang.why + ". Details: chipweave gangs " + gang.gang.text());
}

void GangEvents::preempting(const GangPreempting& gang) {
  std::vector<std::string> named;
  for (const PreemptionVictim& victim : gang.victims) {
    if (named.size() == kMaxVictims) {
      named.push_back(std::to_string(gang.victims.size() - kMaxVictims) + " more");
      break;
    }
    named.push_back(victim.gang ? "gang " + victim.name + " (" + count_of(victim.pods, "pod") + ")"
                                : "pod " + victim.name);
  }
  send(gang.gang, false, "GangPreempting",
       count_of(gang.pods, "pod") +
           " of lower priority must end so that it fits: " + joined(named, ", "));
}

void GangEvents::not_preempting(const GangNotPreempting& gang) {
  send(gang.gang, true, "GangNotPreempting",
       (gang.begun ? "No more pods end for it, and what was kept for it is given up: "
                   : "No pods end for it: ") +
           gang.why);
}

void GangEvents::send(const GangRef& gang, bool warning, const char* reason, std::string note) {
  codec::EventObject about{"Pod", gang.pod.ns, gang.pod.name, gang.uid};
  if (auto owner = ways_.owner(gang)) about = *std::move(owner);
  ways_.send({std::move(about), kEventController, instance_, warning, reason, "Scheduling",
              std::move(note)});
}

}  // namespace chipweave::sched
