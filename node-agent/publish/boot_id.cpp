#include "node-agent/publish/boot_id.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <random>

namespace chipweave::agent {

std::string make_boot_id() {
  std::random_device random;
  std::string out;
  for (int word = 0; word < 4; ++word) {
    std::array<char, 9> text{};
    std::snprintf(text.data(), text.size(), "%08x", static_cast<unsigned>(random()));
    out += text.data();
  }
  return out;
}

std::string node_boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string out;
  file >> out;
  return out;
}

}  // namespace chipweave::agent
