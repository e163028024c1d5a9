// LevelNesting — between which levels of the switches the accelerators' own domains (super-pods,
// NVLink domains) fit: each of them inside one domain above, and each domain below inside one of
// them. Kept up to date, O(levels) for each node that comes or goes.
//
// Nodes that are unknown on a level say nothing about it: they are alone there.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "scheduler-plugin/state/network/sources/network_source.hpp"

namespace chipweave::sched {

class LevelNesting {
 public:
  // levels: of the switches, without the node itself.
  explicit LevelNesting(std::size_t levels = 0) : above_(levels + 1), below_(levels) {}

  // place: one element a level. accelerator: empty: the node is in no such domain.
  void add(const NetworkPath& place, const NetworkPath& accelerator);
  void remove(const NetworkPath& place, const NetworkPath& accelerator);

  // How many levels are above the accelerators' domains if these are as close to the nodes as
  // possible; -1: they fit nowhere.
  int position() const;

 private:
  // For each key the values that come with it, and how often.
  struct Pairs {
    std::unordered_map<std::string, std::unordered_map<std::string, std::size_t>> values;
    std::size_t ambiguous = 0;  // keys with several values
    void add(const std::string& key, const std::string& value);
    void remove(const std::string& key, const std::string& value);
  };
  template <class Each>
  void each_pair(const NetworkPath& place, const NetworkPath& accelerator, const Each& each);

  std::vector<Pairs> above_;  // [n]: accelerators' domain → domain on the first n levels
  std::vector<Pairs> below_;  // [n]: domain on the first n + 1 levels → accelerators' domain
};

// A path as one text; different paths have different ones.
void append_element(std::string& to, const std::string& element);

}  // namespace chipweave::sched
