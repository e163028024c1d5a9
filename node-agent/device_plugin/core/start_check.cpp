#include "node-agent/device_plugin/core/start_check.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/text.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/json/json_tree.hpp"
#include "common/codec/json/json_value.hpp"

namespace chipweave::device_plugin {
namespace {

using Verdict = StartCheck::Verdict;

bool has_any(const Listed::Pod& pod, ChipSet chips, const Devices& devices) {
  return std::any_of(pod.containers.begin(), pod.containers.end(), [&](const Listed::Container& c) {
    return devices.chips(c.ids).intersects(chips);
  });
}

bool has_any_by_other_name(const Listed::Pod& pod, ChipSet chips, const Devices& devices) {
  return std::any_of(pod.containers.begin(), pod.containers.end(), [&](const Listed::Container& c) {
    return devices.chips(c.other_ids).intersects(chips);
  });
}

bool has_none(const Listed::Pod& pod) {
  return std::all_of(pod.containers.begin(), pod.containers.end(),
                     [](const Listed::Container& c) { return c.ids.empty(); });
}

const AskingContainer* init_of_size(const PodRecord& pod, int size) {
  const auto found =
      std::find_if(pod.containers.begin(), pod.containers.end(),
                   [&](const AskingContainer& c) { return c.init && c.count == size; });
  return found == pod.containers.end() ? nullptr : &*found;
}

// A pod of which only an init container has chips is listed without them.
const Listed::Pod* owner_by_init(ChipSet chips, const Listed& list, const PodBook& book,
                                 const Devices& devices) {
  const Listed::Pod* only = nullptr;
  for (const Listed::Pod& listed : list.pods) {
    const PodRecord* pod = book.find(listed.key);
    if (pod == nullptr || pod->over || !has_none(listed)) continue;
    if (init_of_size(*pod, chips.size()) == nullptr) continue;
    if (!pod->placement.empty()) {
      const auto decision = read_decision(*pod, book.node(), book.resource(), devices);
      if (decision && decision->chips.contains(chips)) return &listed;
    }
    if (std::exchange(only, &listed) != nullptr) return nullptr;
  }
  return only;
}

StartCheck ends(Verdict verdict, std::string why, const PodRecord* pod = nullptr) {
  StartCheck out;
  out.verdict = verdict;
  out.why = std::move(why);
  if (pod != nullptr) out.pod = *pod;
  return out;
}

// Keys that the new annotation has its own values for.
constexpr std::array<std::string_view, 6> kChipKeys = {"v",        "node",  "podUid",
                                                       "resource", "chips", "gbps"};

}  // namespace

std::string adopted_placement(const PodRecord& pod, const PodBook& book,
                              const std::map<std::string, ChipSet>& parts, ChipSet all,
                              const Devices& devices) {
  JsonWriter w;
  w.begin_object().key("v").integer(1).field("node", book.node()).field("podUid", pod.uid);
  w.field("resource", book.resource()).key("chips").begin_array();
  for (const int slot : all) {
    const domain::Chip& chip = devices.topology().chip(slot);
    w.begin_object().key("index").integer(chip.index.value).field("id", chip.id);
    if (!chip.device_ips.empty()) w.field("ip", chip.device_ips.front());
    for (const auto& [container, part] : parts) {
      if (parts.size() > 1 && part.contains(slot)) w.field("container", container);
    }
    w.end_object();
  }
  w.end_array().key("gbps").number(all.size() < 2 ? 0 : devices.machine().gbps(all));
  const auto former = codec::parse_json(pod.placement);
  if (former) {
    for (const codec::JsonValue member : codec::JsonValue(*former)) {
      const bool ours =
          std::find(kChipKeys.begin(), kChipKeys.end(), member.name()) != kChipKeys.end();
      if (!ours && member.name() != "adopted" && !member.name().empty())
        w.key(member.name()).raw(member.raw());
    }
  }
  w.key("adopted").boolean(true).end_object();
  return w.take();
}

StartCheck check_start(const std::vector<std::string>& ids, const Listed& list, const PodBook& book,
                       const Devices& devices, OnMismatch policy) {
  int foreign = 0;
  const ChipSet chips = devices.chips(ids, &foreign);
  if (foreign > 0 || chips.empty())
    return ends(Verdict::refuse, "the kubelet names devices that this machine does not have");
  const Listed::Pod* owner = nullptr;
  for (const Listed::Pod& listed : list.pods) {
    if (has_any_by_other_name(listed, chips, devices)) {
      return ends(Verdict::refuse,
                  "pod " + listed.key + " has chips of it under another resource's name");
    }
    if (!has_any(listed, chips, devices)) continue;
    if (owner != nullptr) {
      return ends(Verdict::refuse, "the kubelet has given chips of it to two pods, " + owner->key +
                                       " and " + listed.key);
    }
    owner = &listed;
  }
  if (owner == nullptr) owner = owner_by_init(chips, list, book, devices);
  if (owner == nullptr) return ends(Verdict::unknown, "the kubelet lists no pod with these chips");
  const PodRecord* pod = book.find(owner->key);
  if (pod == nullptr)
    return ends(Verdict::unknown, "the API server has not shown pod " + owner->key + " yet");
  if (pod->placement.empty()) return ends(Verdict::start, "", pod);

  std::map<std::string, ChipSet> parts;
  ChipSet all;
  const std::string* container = nullptr;
  for (const Listed::Container& one : owner->containers) {
    const ChipSet part = devices.chips(one.ids);
    if (part.empty()) continue;
    if (part == chips) container = &one.name;
    if (part.intersects(all))
      return ends(Verdict::refuse, "the kubelet has given a chip to two containers", pod);
    parts[one.name] = part;
    all |= part;
  }
  all |= chips;
  if (container == nullptr && init_of_size(*pod, chips.size()) == nullptr) {
    return ends(Verdict::unknown,
                "the kubelet lists no container of " + owner->key + " with exactly these chips",
                pod);
  }
  std::string why;
  bool only_split = false;
  if (const auto decision = read_decision(*pod, book.node(), book.resource(), devices); !decision) {
    why = decision.error().text();
  } else {
    const auto named =
        container == nullptr ? decision->parts.end() : decision->parts.find(*container);
    const bool in_part = named == decision->parts.end()
                             ? container == nullptr || decision->parts.empty()
                             : named->second == chips;
    if (in_part && decision->chips.contains(chips)) return ends(Verdict::start, "", pod);
    const auto text = [&](ChipSet set) { return comma_list(devices.topology().indices(set)); };
    why = concat("the kubelet has given it chips ", text(chips), ", its decision has ",
                 text(named == decision->parts.end() ? decision->chips : named->second));
    // A container takes over any chips of an init container, without a question to us.
    only_split = decision->chips.contains(all) &&
                 std::any_of(pod->containers.begin(), pod->containers.end(),
                             [](const AskingContainer& c) { return c.init; });
  }
  if (policy == OnMismatch::refuse && !only_split) return ends(Verdict::refuse, why, pod);
  if (pod->gone) return ends(Verdict::start, "", pod);  // nothing left to correct
  StartCheck out = ends(Verdict::adopt, why, pod);
  out.placement = adopted_placement(*pod, book, parts, all, devices);
  return out;
}

}  // namespace chipweave::device_plugin
