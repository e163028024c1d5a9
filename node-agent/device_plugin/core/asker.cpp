#include "node-agent/device_plugin/core/asker.hpp"

#include <algorithm>
#include <cstddef>

namespace chipweave::device_plugin {
namespace {

bool lacks_chips(const Listed::Pod& pod) {
  return std::any_of(pod.containers.begin(), pod.containers.end(),
                     [](const Listed::Container& c) { return c.ids.empty(); });
}

// Then the kubelet requests nothing more for it, whatever its other containers lack: init
// containers came before.
bool has_its_chips(const PodRecord& pod, const Listed::Pod& listed) {
  bool any = false;
  for (const AskingContainer& container : pod.containers) {
    if (container.init) continue;
    if (!listed.has_chips(container.name)) return false;
    any = true;
  }
  return any;
}

}  // namespace

const AskingContainer* next_container(const PodRecord& pod, const Listed::Pod& listed,
                                      const Ask& ask) {
  // Init containers are not listed, but whatever comes before a container with chips is served.
  std::size_t next = 0;
  for (std::size_t i = 0; i < pod.containers.size(); ++i) {
    if (!pod.containers[i].init && listed.has_chips(pod.containers[i].name)) next = i + 1;
  }
  // What an init container had may last for more than one container after it.
  bool after_init = std::any_of(pod.containers.begin(),
                                pod.containers.begin() + static_cast<std::ptrdiff_t>(next),
                                [](const AskingContainer& c) { return c.init; });
  for (std::size_t i = next; i < pod.containers.size(); ++i) {
    const AskingContainer& container = pod.containers[i];
    // Chips that must be included are those of an init container, so it is not the first.
    const bool may_ask = ask.must_include.empty() ? i == next : after_init;
    if (may_ask && container.count == ask.size) return &container;
    if (!container.init) return nullptr;
    after_init = true;
  }
  return nullptr;
}

AskerSearch find_asker(const Listed& list, const PodBook& book, const RuledOut& out,
                       const Ask& ask) {
  AskerSearch search;
  for (const Listed::Pod& listed : list.pods) {
    if (!lacks_chips(listed)) continue;
    const PodRecord* pod = book.find(listed.key);
    if (pod == nullptr && out.strangers.contains(listed.key)) continue;
    if (pod != nullptr && has_its_chips(*pod, listed)) continue;
    if (pod == nullptr || !pod->containers.empty()) search.lacking.push_back(listed.key);
    // A pod that had its chips does not ask again, so it is another one of that name.
    const bool other = pod == nullptr || out.served.contains(pod->uid);
    const AskingContainer* container = other ? nullptr : next_container(*pod, listed, ask);
    if (other || (container != nullptr && out.answered.contains({pod->uid, container->name}))) {
      search.awaited.push_back(listed.key);
      search.unknown.push_back(listed.key);
      continue;
    }
    const bool over = pod->over || out.refused.contains(pod->uid);
    if ((over || pod->gone) && !out.never_seen.contains(listed.key))
      search.awaited.push_back(listed.key);
    if (!over && container != nullptr) search.found.push_back({*pod, *container});
  }
  if (search.found.size() > 1) {
    std::vector<Asker> fresh;
    for (const Asker& one : search.found) {
      if (!out.had_turn.contains(one.pod.uid)) fresh.push_back(one);
    }
    if (!fresh.empty()) search.found = std::move(fresh);
  }
  return search;
}

}  // namespace chipweave::device_plugin
