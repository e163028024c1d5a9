// The chips that the plugin names to the kubelet for a container. Pure.
//
// The scheduler's, if it has chosen and they can be had; else, by policy, none (the pod fails, and
// its controller makes another one) or the best set of our own selector. Chips that the scheduler
// has chosen for other pods which do not have them yet are never among these.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "node-agent/device_plugin/core/asker.hpp"
#include "node-agent/device_plugin/core/devices.hpp"
#include "node-agent/device_plugin/core/listed.hpp"
#include "node-agent/device_plugin/core/pod_book.hpp"

namespace chipweave::device_plugin {

enum class OnMismatch { refuse, adopt };

struct Choice {
  enum class By { decision, selector, adopted };
  ChipSet chips;
  By by = By::selector;
  std::string why_adopted;  // in place of the decision
};

constexpr std::string_view name_of(Choice::By by) {
  return by == Choice::By::decision   ? "decision"
         : by == Choice::By::selector ? "selector"
                                      : "adopted";
}

// What is promised to other pods: decisions of pods that do not have all their chips. except: uid.
ChipSet promised(const Listed& list, const PodBook& book, const Devices& devices,
                 const std::string& except);

// asker: nullopt: not known, for the reason `unknown`. Errors: conflict, with what to tell the
// user.
Result<Choice> choose_chips(const Ask& ask, const std::optional<Asker>& asker,
                            const std::string& unknown, const Listed& list, const PodBook& book,
                            const Devices& devices, OnMismatch policy);

// The best chips, whichever container wants them: without a scheduler and its annotations.
Result<Choice> choose_best(const Ask& ask, ChipSet promised, const Devices& devices);

}  // namespace chipweave::device_plugin
