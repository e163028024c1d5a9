// ShardedMap — a hash map for 100,000 entries on a thread that must not stop for long: it grows one
// shard at a time, where std::unordered_map moves all its entries at once (20 to 30 ms).
//
// References to values stay valid until the entry is erased. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>

namespace chipweave {

template <class Value>
class ShardedMap {
 public:
  // Null if there is none.
  Value* find(const std::string& key) {
    auto& shard = shard_of(key);
    const auto it = shard.find(key);
    return it == shard.end() ? nullptr : &it->second;
  }
  const Value* find(const std::string& key) const {
    return const_cast<ShardedMap*>(this)->find(key);
  }
  bool contains(const std::string& key) const { return find(key) != nullptr; }
  // Precondition: there is none with that key.
  Value& add(const std::string& key, Value value) {
    ++size_;
    return shard_of(key).emplace(key, std::move(value)).first->second;
  }
  void erase(const std::string& key) { size_ -= shard_of(key).erase(key); }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kShards = 64;
  using Shard = std::unordered_map<std::string, Value>;
  Shard& shard_of(const std::string& key) {
    return shards_[std::hash<std::string>{}(key) % kShards];
  }
  std::array<Shard, kShards> shards_;
  std::size_t size_ = 0;
};

}  // namespace chipweave
