#include "scheduler-plugin/server/decision_log.hpp"

#include "common/base/text.hpp"
#include "common/obs/log.hpp"

namespace chipweave::sched {
namespace {

void write(const PodBound& pod) {
  obs::log(obs::Level::info, "bound",
           {{"pod", pod.pod.text()},
            {"node", pod.node},
            {"chips", pod.chips},
            {"gbps", pod.gbps},
            {"best_gbps", pod.best_gbps},
            {"decision", pod.decision}});
}

void write(const BindFailed& failure) {
  obs::log(obs::Level::warn, "bind failed",
           {{"pod", failure.binding.key.text()},
            {"node", failure.binding.node},
            {"error", failure.error.text()}});
}

void write(const PodDisputed& dispute) {
  obs::log(
      obs::Level::error, "a bound pod claims chips of another bound pod",
      {{"pod", dispute.pod.text()}, {"node", dispute.node}, {"chips", comma_list(dispute.chips)}});
}

void write(const PodDrifted& drift) {
  obs::log(obs::Level::warn, "the kubelet has given other chips than were chosen",
           {{"pod", drift.pod.text()},
            {"node", drift.node},
            {"chosen", comma_list(drift.chosen)},
            {"given", comma_list(drift.given)},
            {"chosen_gbps", drift.chosen_gbps},
            {"given_gbps", drift.given_gbps}});
}

void write(const NodeWithheld& seen) {
  if (seen.chips.empty()) {
    return obs::log(obs::Level::info, "all chips of the node can be handed over by DRA",
                    {{"node", seen.node}});
  }
  obs::log(obs::Level::warn, "chips are not given to pods: DRA cannot hand them over",
           {{"node", seen.node}, {"chips", comma_list(seen.chips)}, {"why", seen.why}});
}

void write(const PodUnaccounted& missed) {
  obs::log(obs::Level::error, "the node table is full: a bound pod's node is not accounted for",
           {{"pod", missed.pod.text()}, {"node", missed.node}});
}

void write(const GangPlanned& gang) {
  obs::log(obs::Level::info, "gang planned",
           {{"gang", gang.gang.text()},
            {"plan", gang.plan},
            {"pods", gang.pods},
            {"domains", comma_list(gang.domains)},
            {"gbps", gang.gbps.value_or(0)},
            {"seconds", std::chrono::duration<double>(gang.took).count()}});
}

void write(const GangUnplaceable& gang) {
  obs::log(obs::Level::info, "gang has no plan", {{"gang", gang.gang.text()}, {"why", gang.why}});
}

void write(const GangKeepsChips& gang) {
  obs::log(obs::Level::info, "chips that come free are kept for a gang",
           {{"gang", gang.gang.text()}, {"nodes", gang.nodes}});
}

void write(const GangReleased& gang) {
  obs::log(obs::Level::warn, "not all pods of a gang were bound in time: its plan is given up",
           {{"gang", gang.gang.text()}, {"plan", gang.plan}});
}

void write(const GangOverdue& gang) {
  obs::log(obs::Level::warn, "pods of a gang have not come for a long time",
           {{"gang", gang.gang.text()}, {"pods", gang.pods}, {"needed", gang.quorum}});
}

void write(const GangPreempting& gang) {
  obs::log(obs::Level::info, "pods of lower priority end for a gang",
           {{"gang", gang.gang.text()}, {"pods", gang.pods}, {"gangs", gang.gangs}});
}

void write(const GangPreempted& gang) {
  obs::log(obs::Level::info, "pods of a gang end for another one",
           {{"gang", gang.gang.text()}, {"pods", gang.pods}, {"by", gang.by}});
}

void write(const PodPreempted& pod) {
  obs::log(obs::Level::info, "pod evicted for a gang",
           {{"pod", pod.pod.text()}, {"uid", pod.uid}, {"gang", pod.gang}});
}

void write(const GangPodEnded& pod) {
  if (!pod.error.empty()) {
    obs::log(obs::Level::warn, "a pod whose node or chip failed was not ended",
             {{"pod", pod.pod.text()}, {"gang", pod.gang}, {"why", pod.why}, {"error", pod.error}});
    return;
  }
  obs::log(obs::Level::info, "pod ended because its node or chip failed",
           {{"pod", pod.pod.text()}, {"uid", pod.uid}, {"gang", pod.gang}, {"why", pod.why}});
}

void write(const GangNotPreempting& gang) {
  obs::log(obs::Level::warn, "no pods end for a gang",
           {{"gang", gang.gang.text()}, {"why", gang.why}});
}

void write(const GangNotStored& gang) {
  obs::log(obs::Level::warn, "the plan of a gang is not stored: a restart would lose it",
           {{"gang", gang.gang}, {"plan", gang.plan}, {"error", gang.why}});
}

void write(const GangGateFailed& pod) {
  obs::log(obs::Level::warn, "the scheduling gate of a pod was not removed",
           {{"uid", pod.uid}, {"error", pod.why}});
}

void write(const GangNotNominated& pod) {
  obs::log(obs::Level::warn, "kube-scheduler was not told on which node a pod is expected",
           {{"uid", pod.uid}, {"error", pod.why}});
}

}  // namespace

void DecisionLog::on(const Observation& seen) {
  std::visit(ByKind{[](const PodBound& pod) { write(pod); },
                    [](const BindFailed& failure) { write(failure); },
                    [](const PodDisputed& dispute) { write(dispute); },
                    [](const PodDrifted& drift) { write(drift); },
                    [](const NodeWithheld& withheld) { write(withheld); },
                    [](const PodUnaccounted& missed) { write(missed); },
                    [](const GangPlanned& gang) { write(gang); },
                    [](const GangUnplaceable& gang) { write(gang); },
                    [](const GangReleased& gang) { write(gang); },
                    [](const GangKeepsChips& gang) { write(gang); },
                    [](const GangPreempting& gang) { write(gang); },
                    [](const GangPreempted& gang) { write(gang); },
                    [](const PodPreempted& pod) { write(pod); },
                    [](const GangNotPreempting& gang) { write(gang); },
                    [](const GangPodEnded& pod) { write(pod); },
                    [](const GangNotStored& gang) { write(gang); },
                    [](const GangGateFailed& pod) { write(pod); },
                    [](const GangNotNominated& pod) { write(pod); },
                    [](const GangOverdue& gang) { write(gang); },
                    [](const auto&) {}},
             seen);
}

}  // namespace chipweave::sched
