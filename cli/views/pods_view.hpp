// PodsView — which pods of a scheduler's answer are shown, in which order, and as what.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/terminal.hpp"
#include "common/codec/manifest/scheduler_messages.hpp"

namespace chipweave::cli {

struct PodFilter {
  std::string ns;             // empty: all
  bool pending_only = false;  // without a node
};
// By namespace and name, in natural order.
std::vector<codec::PodSummary> shown_pods(std::vector<codec::PodSummary> pods,
                                          const PodFilter& filter);

// One row of the table for each pod. wide: also what it requests, its job and its gang.
std::string render_pods(const std::vector<codec::PodSummary>& pods, bool wide, bool colours,
                        std::chrono::system_clock::time_point now);

// The pods that are new or differ in anything but their age; pods that are gone have the state
// "gone". Both ascending as by shown_pods().
std::vector<codec::PodSummary> changed_pods(const std::vector<codec::PodSummary>& before,
                                            const std::vector<codec::PodSummary>& now);

}  // namespace chipweave::cli
