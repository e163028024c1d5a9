// Mirror — the copy of a collection that a ListWatch keeps, and what changes in it.
//
// Objects by namespace and name; versions are opaque and only compared for equality. An object that
// was deleted and made anew under its name (another uid) is told as two changes. Cost: one map
// look-up an event; a sweep walks all. Owner: the loop thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/codec/kube/watch.hpp"

namespace chipweave::kube {

inline std::string key_of(const codec::KubePod& pod) { return pod.ns + "/" + pod.name; }
inline std::string key_of(const codec::KubeNode& node) { return node.name; }

template <class Object>
class Mirror {
 public:
  // before null: it is new; after null: it is gone.
  using OnChange = std::function<void(const Object* before, const Object* after)>;

  explicit Mirror(OnChange on_change) : on_change_(std::move(on_change)) {}

  std::size_t size() const { return entries_.size(); }
  const Object* find(const std::string& key) const {
    const auto it = entries_.find(key);
    return it == entries_.end() ? nullptr : &it->second.object;
  }

  // As it is now; seen in this round of the ListWatch.
  void put(Object object, std::uint64_t round) {
    const auto [it, fresh] = entries_.try_emplace(key_of(object));
    Entry& entry = it->second;
    entry.round = round;
    if (fresh) {
      entry.object = std::move(object);
      on_change_(nullptr, &entry.object);
      return;
    }
    if (entry.object.uid == object.uid && entry.object.resource_version == object.resource_version)
      return;
    const Object before = std::exchange(entry.object, std::move(object));
    if (before.uid != entry.object.uid) {
      on_change_(&before, nullptr);
      on_change_(nullptr, &entry.object);
    } else {
      on_change_(&before, &entry.object);
    }
  }

  // Was deleted. The end of an object that was made anew since is old news.
  void remove(const Object& object) {
    const auto it = entries_.find(key_of(object));
    if (it == entries_.end() || it->second.object.uid != object.uid) return;
    take_out(it);
  }

  // A whole list was seen: what was not in it is gone.
  void sweep(std::uint64_t round) {
    for (auto it = entries_.begin(); it != entries_.end();)
      it = it->second.round < round ? take_out(it) : std::next(it);
  }

 private:
  struct Entry {
    Object object;
    std::uint64_t round = 0;
  };
  using Map = std::unordered_map<std::string, Entry>;
  typename Map::iterator take_out(typename Map::iterator it) {
    const Object gone = std::move(it->second.object);
    const auto next = entries_.erase(it);
    on_change_(&gone, nullptr);
    return next;
  }

  OnChange on_change_;
  Map entries_;
};

}  // namespace chipweave::kube
