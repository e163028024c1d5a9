// The check before a container starts: does it have the chips of its pod's annotation, and does
// no other pod have them? Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "node-agent/device_plugin/core/choice.hpp"
#include "node-agent/device_plugin/core/devices.hpp"
#include "node-agent/device_plugin/core/listed.hpp"
#include "node-agent/device_plugin/core/pod_book.hpp"

namespace chipweave::device_plugin {

struct StartCheck {
  // unknown: the pod has not been seen yet; the kubelet asks again after an error.
  enum class Verdict { start, adopt, refuse, unknown };
  Verdict verdict = Verdict::unknown;
  std::string why;  // for anything but start
  PodRecord pod;    // if it is known
  // For `Verdict::adopt`: what the annotation must say.
  std::string placement;
};

StartCheck check_start(const std::vector<std::string>& ids, const Listed& list, const PodBook& book,
                       const Devices& devices, OnMismatch policy);

// The annotation of a pod with these chips; keys of the former one that do not speak of chips stay.
std::string adopted_placement(const PodRecord& pod, const PodBook& book,
                              const std::map<std::string, ChipSet>& parts, ChipSet all,
                              const Devices& devices);

}  // namespace chipweave::device_plugin
