// NameIndex — from the names of nodes to their ids, thousands at a time.
//
// Requests list the same nodes in the same order again and again, or parts of that order. It is
// remembered (the trail), and a name is only compared with the one that should come now: some 5 ns
// a name, else one hash look-up. Owner: the loop thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler-plugin/model/node_id.hpp"

namespace chipweave::sched {

class NameIndex {
 public:
  static constexpr std::size_t kMaxBytes = 255;  // of a name

  NodeId add(std::string name);
  // Gives the node another name.
  void rename(NodeId id, std::string name);
  NodeId find(std::string_view name) const;
  // ids[i]: the node called names[i], or kNoNode.
  void find_all(std::span<const std::string_view> names, std::vector<NodeId>& ids);
  // In natural order of their names. O(n log n).
  std::vector<NodeId> sorted() const;

 private:
  // A name as a walk over thousands of them compares it: two to a cache line.
  struct alignas(32) Line {
    static constexpr std::size_t kInline = 31;
    explicit Line(std::string_view name);
    // For a name longer than kInline only its length and first bytes are compared.
    bool may_be(std::string_view name) const;
    bool whole() const { return bytes <= kInline; }
    std::uint8_t bytes;
    std::array<char, kInline> head{};
  };
  static_assert(sizeof(Line) == 32);

  bool is(NodeId id, std::string_view name) const;
  std::size_t follow_trail(std::size_t at, std::span<const std::string_view> names,
                           NodeId* ids) const;
  void put(NodeId id);
  void rebuild(std::size_t slots);
  bool on_trail(NodeId id) const { return place_[id] < trail_.size() && trail_[place_[id]] == id; }
  void add_to_trail(NodeId id);
  void begin_trail(std::span<const NodeId> ids);

  std::vector<std::string> names_;
  std::vector<Line> lines_;           // of the same names
  std::vector<NodeId> slots_;         // open addressing, kNoNode: empty; size is a power of two
  std::vector<NodeId> trail_;         // the order requests list nodes in; each node at most once
  std::vector<std::uint32_t> place_;  // by node: where in the trail it is, if it is
};

}  // namespace chipweave::sched
