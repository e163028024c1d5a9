// ChipSet — a set of chips of one node as one machine word, by slot.
//
// A slot is a chip's position in NodeTopology::chips (0-based, ascending by vendor index); the
// index that the vendor tool prints can have gaps. Computations use slots; indices appear only at
// the edges.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>

namespace chipweave::domain {

class ChipSet {
 public:
  constexpr ChipSet() = default;
  constexpr explicit ChipSet(std::uint64_t bits) : bits_(bits) {}
  constexpr ChipSet(std::initializer_list<int> slots) {
    for (const int s : slots) insert(s);
  }
  // {0, …, n-1}; n in 0..64.
  static constexpr ChipSet first(int n) {
    return ChipSet(n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1);
  }

  constexpr std::uint64_t bits() const { return bits_; }
  constexpr int size() const { return std::popcount(bits_); }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool contains(int slot) const { return ((bits_ >> slot) & 1U) != 0; }
  constexpr bool contains(ChipSet other) const { return (other.bits_ & ~bits_) == 0; }
  constexpr bool intersects(ChipSet other) const { return (bits_ & other.bits_) != 0; }
  constexpr int lowest() const { return std::countr_zero(bits_); }  // 64 when empty
  constexpr void insert(int slot) { bits_ |= std::uint64_t{1} << slot; }
  constexpr void erase(int slot) { bits_ &= ~(std::uint64_t{1} << slot); }

  friend constexpr bool operator==(ChipSet, ChipSet) = default;
  friend constexpr ChipSet operator|(ChipSet a, ChipSet b) { return ChipSet(a.bits_ | b.bits_); }
  friend constexpr ChipSet operator&(ChipSet a, ChipSet b) { return ChipSet(a.bits_ & b.bits_); }
  // a without b
  friend constexpr ChipSet operator-(ChipSet a, ChipSet b) { return ChipSet(a.bits_ & ~b.bits_); }
  ChipSet& operator|=(ChipSet other) {
    bits_ |= other.bits_;
    return *this;
  }
  ChipSet& operator-=(ChipSet other) {
    bits_ &= ~other.bits_;
    return *this;
  }

  // Iterates the slots in ascending order: for (int slot : set) …
  class Iterator {
   public:
    constexpr explicit Iterator(std::uint64_t rest) : rest_(rest) {}
    constexpr int operator*() const { return std::countr_zero(rest_); }
    constexpr Iterator& operator++() {
      rest_ &= rest_ - 1;
      return *this;
    }
    friend constexpr bool operator==(Iterator, Iterator) = default;

   private:
    std::uint64_t rest_;
  };
  constexpr Iterator begin() const { return Iterator(bits_); }
  constexpr Iterator end() const { return Iterator(0); }

 private:
  std::uint64_t bits_ = 0;
};

// Order "lowest indices first" for sets of one size: {0,3} before {1,2}. True if a comes before b.
constexpr bool lower_indices(ChipSet a, ChipSet b) {
  const std::uint64_t differ = a.bits() ^ b.bits();
  return differ != 0 && ((a.bits() >> std::countr_zero(differ)) & 1U) != 0;
}

}  // namespace chipweave::domain
