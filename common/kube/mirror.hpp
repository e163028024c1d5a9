// Mirror — remembers the version of each object of a collection, to report only real changes when a
// ListWatch delivers objects again.
//
// The objects themselves are passed to the listener and not stored. Keys are namespace and name. An
// object that was deleted and recreated (another uid) is reported as two changes. Cost: one map
// look-up per event, about 120 bytes per object; a sweep visits only what the list did not hold, so
// that a list of 100,000 objects does not hold the loop when it ends. Owner: the loop thread.
#pragma once

#include <array>
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

  std::size_t size() const {
    std::size_t all = 0;
    for (const Shard& shard : shards_) all += shard.listed.size() + shard.others.size();
    return all;
  }

  // The current state, seen in this round of the ListWatch. Older versions are ignored: a watch may
  // lag behind an object passed to note(), or deliver a former object of the same name.
  void put(Object object, std::uint64_t round) { store(std::move(object), round, true); }

  // As put(), for an object received outside the ListWatch: a list that is in progress may not
  // contain it.
  void note(Object object, std::uint64_t round) { store(std::move(object), round, false); }

  // The object was deleted. Ignored if an object with another uid has taken its name since.
  void remove(const Object& object) {
    const std::string key = key_of(object);
    Shard& shard = shard_of(key);
    for (Map* map : {&shard.listed, &shard.others}) {
      const auto it = map->find(key);
      if (it == map->end()) continue;
      if (it->second.uid == hash(object.uid)) take_out(*map, it);
      return;
    }
  }

  // A list of this version is complete: objects that were not in it have been deleted. Those noted
  // in the meantime stay only if they are newer than the list; the watch delivers their deletion.
  void sweep(std::uint64_t round, const std::string& resource_version) {
    begin(round);
    const std::uint64_t version = version_of(resource_version);
    const auto gone = [&](const Entry& entry) {
      return entry.round < round || (version < kNoNumber && entry.version <= version);
    };
    for (Shard& shard : shards_) {
      for (auto it = shard.others.begin(); it != shard.others.end();)
        it = gone(it->second) ? take_out(shard.others, it) : std::next(it);
    }
  }

 private:
  // Strings are stored as 64-bit hashes, enough to distinguish a few versions of one object.
  // Versions are increasing numbers (guaranteed since Kubernetes 1.35, and true before); the hash
  // of any other version has the highest bit set.
  struct Entry {
    std::size_t uid;
    std::uint64_t version;
    std::uint64_t round;
  };
  using Map = std::unordered_map<std::string, Entry>;
  struct Shard {
    Map listed;  // in the list or the watch of this round
    Map others;  // of earlier rounds, or only noted
  };
  Shard& shard_of(const std::string& key) { return shards_[hash(key) % shards_.size()]; }
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
  // In a new round nothing is listed yet.
  void begin(std::uint64_t round) {
    if (std::exchange(round_, round) == round) return;
    for (Shard& shard : shards_) {
      shard.listed.merge(shard.others);
      shard.listed.swap(shard.others);
      shard.listed.reserve(shard.others.size());
    }
  }
  void store(Object object, std::uint64_t round, bool listed) {
    begin(round);
    const std::string key = key_of(object);
    const Entry now{hash(object.uid), version_of(object.resource_version), round};
    Shard& shard = shard_of(key);
    auto it = shard.listed.find(key);
    if (it == shard.listed.end()) {
      it = shard.others.find(key);
      if (it == shard.others.end()) {
        (listed ? shard.listed : shard.others).emplace(key, now);
        return changes_.seen(std::move(object));
      }
      if (older(now, it->second)) return;
      if (listed) it = shard.listed.insert(shard.others.extract(it)).position;
    } else if (older(now, it->second)) {
      return;
    }
    const Entry before = std::exchange(it->second, now);
    if (before.uid == now.uid && before.version == now.version) return;
    if (before.uid != now.uid) changes_.gone(key);
    changes_.seen(std::move(object));
  }
  typename Map::iterator take_out(Map& map, typename Map::iterator it) {
    const std::string key = it->first;
    const auto next = map.erase(it);
    changes_.gone(key);
    return next;
  }

  Changes changes_;
  std::uint64_t round_ = 0;
  std::array<Shard, 64> shards_;  // so that growing moves a part of the entries only
};

}  // namespace chipweave::kube
