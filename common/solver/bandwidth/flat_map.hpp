// FlatMap — an open-addressing hash table for the solver's memo tables: small trivially copyable
// keys and values, no deletion of single entries. A look-up touches one or two cache lines and
// never allocates.
//
// Bounded: an insertion that would exceed max_entries empties the table first. A memo may forget,
// but must not grow without limit under hostile requests.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace chipweave::solver {

// Finalizer of splitmix64: spreads masks that differ in few bits.
inline std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30U;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27U;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

inline std::uint64_t hash_key(std::uint64_t key) { return mix(key + 0x9e3779b97f4a7c15ULL); }

template <class Key, class Value>
class FlatMap {
 public:
  explicit FlatMap(std::size_t max_entries = std::size_t{1} << 20U) : max_entries_(max_entries) {}

  std::size_t size() const { return used_; }

  const Value* find(const Key& key) const {
    if (slots_.empty()) return nullptr;
    for (std::size_t i = hash_key(key) & mask();; i = (i + 1) & mask()) {
      if (!slots_[i].taken) return nullptr;
      if (slots_[i].key == key) return &slots_[i].value;
    }
  }

  // Precondition: the key is not in the table.
  void insert(const Key& key, const Value& value) {
    if (used_ >= max_entries_) {
      slots_.assign(slots_.size(), Slot{});
      used_ = 0;
    }
    if ((used_ + 1) * 10 > slots_.size() * 6) grow();
    place(key, value);
    ++used_;
  }

 private:
  struct Slot {
    Key key{};
    Value value{};
    bool taken = false;
  };
  std::size_t mask() const { return slots_.size() - 1; }
  void place(const Key& key, const Value& value) {
    std::size_t i = hash_key(key) & mask();
    while (slots_[i].taken) i = (i + 1) & mask();
    slots_[i] = Slot{key, value, true};
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& s : old) {
      if (s.taken) place(s.key, s.value);
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
  std::size_t max_entries_;
};

}  // namespace chipweave::solver
