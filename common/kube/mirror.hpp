// Mirror — remembers the version of each object of a collection, to report only real changes when a
// ListWatch delivers objects again.
//
// The objects themselves are passed to the listener and not stored. Keys are namespace and name. An
// object that was deleted and recreated (another uid) is reported as two changes. Cost: one map
// look-up per event, about 120 bytes per object; a sweep visits all. Owner: the loop thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "common/base/text.hpp"
#include "common/codec/kube/watch.hpp"

namespace chipweave::kube {

// "namespace/name", or "name" of an object without a namespace.
template <class Object>
std::string key_of(const Object& object) {
  if constexpr (requires { object.ns; }) {
    return object.ns + "/" + object.name;
  } else {
    return object.name;
  }
}

template <class Object>
class Mirror {
 public:
  struct Changes {
    std::function<void(Object&& object)> seen;         // new or changed
    std::function<void(const std::string& key)> gone;  // "namespace/name", or "name"
  };

  explicit Mirror(Changes changes) : changes_(std::move(changes)) {}

  std::size_t size() const { return entries_.size(); }

  // The current state, seen in this round of the ListWatch. Older versions are ignored: a watch may
  // lag behind an object passed to note(), or deliver a former object of the same name.
  void put(Object object, std::uint64_t round) { store(std::move(object), round, true); }

  // As put(), for an object received outside the ListWatch: a list that is in progress may not
  // contain it.
  void note(Object object, std::uint64_t round) { store(std::move(object), round, false); }

  // The object was deleted. Ignored if an object with another uid has taken its name since.
  void remove(const Object& object) {
    const auto it = entries_.find(key_of(object));
    if (it == entries_.end() || it->second.uid != hash(object.uid)) return;
    take_out(it);
  }

  // A list of this version is complete: objects that were not in it have been deleted. Those noted
  // in the meantime stay only if they are newer than the list; the watch delivers their deletion.
  void sweep(std::uint64_t round, const std::string& resource_version) {
    const std::uint64_t version = version_of(resource_version);
    const auto gone = [&](const Entry& entry) {
      return entry.round < round ||
             (!entry.listed && version < kNoNumber && entry.version <= version);
    };
    for (auto it = entries_.begin(); it != entries_.end();)
      it = gone(it->second) ? take_out(it) : std::next(it);
  }

 private:
  // Strings are stored as 64-bit hashes, enough to distinguish a few versions of one object.
  // Versions are increasing numbers (guaranteed since Kubernetes 1.35, and true before); the hash
  // of any other version has the highest bit set.
  struct Entry {
    std::size_t uid;
    std::uint64_t version;
    std::uint64_t round;
    bool listed;  // in this round, by its list or watch; false: only noted
  };
  static constexpr std::uint64_t kNoNumber = std::uint64_t{1} << 63U;
  static std::size_t hash(const std::string& text) { return std::hash<std::string>{}(text); }
  static std::uint64_t version_of(const std::string& text) {
    const auto number = parse_number<std::uint64_t>(text);
    return number && *number < kNoNumber ? *number : hash(text) | kNoNumber;
  }
  // Only within a round: a cluster that was restored from a backup counts from an earlier number.
  static bool older(const Entry& a, const Entry& than) {
    return a.round == than.round && (a.version | than.version) < kNoNumber &&
           a.version < than.version;
  }
  void store(Object object, std::uint64_t round, bool listed) {
    std::string key = key_of(object);
    Entry now{hash(object.uid), version_of(object.resource_version), round, listed};
    const auto [it, fresh] = entries_.try_emplace(key, now);
    if (!fresh && older(now, it->second)) return;
    if (it->second.round == round && it->second.listed) now.listed = true;
    const Entry before = std::exchange(it->second, now);
    if (!fresh && before.uid == now.uid && before.version == now.version) return;
    if (before.uid != now.uid) changes_.gone(key);
    changes_.seen(std::move(object));
  }
  using Map = std::unordered_map<std::string, Entry>;
  typename Map::iterator take_out(typename Map::iterator it) {
    const std::string key = it->first;
    const auto next = entries_.erase(it);
    changes_.gone(key);
    return next;
  }

  Changes changes_;
  Map entries_;
};

}  // namespace chipweave::kube
