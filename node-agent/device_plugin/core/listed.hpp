// Listed — the kubelet's list of its pods, and which devices of one resource their containers have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace chipweave::device_plugin {

struct Listed {
  struct Container {
    std::string name;
    std::vector<std::string> ids;  // of our resource
    // Of the resource that counts the same chips under another name, where there is one.
    std::vector<std::string> other_ids = {};
  };
  // Ordinary init containers are never listed.
  struct Pod {
    std::string key;  // "namespace/name"
    std::vector<Container> containers;

    const Container* container(const std::string& wanted) const {
      const auto found = std::find_if(containers.begin(), containers.end(),
                                      [&](const Container& c) { return c.name == wanted; });
      return found == containers.end() ? nullptr : &*found;
    }
    bool has_chips(const std::string& wanted) const {
      const Container* one = container(wanted);
      return one != nullptr && !one->ids.empty();
    }
  };
  std::vector<Pod> pods;
};

inline constexpr std::size_t kMaxListedPods = 4096;
inline constexpr std::size_t kMaxListedIds = 65536;

}  // namespace chipweave::device_plugin
