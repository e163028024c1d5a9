#include "node-agent/probes/nvidia/nvml_wiring.hpp"

#include <algorithm>

namespace chipweave::agent {
namespace {

constexpr int kNone = -1;

std::string gpu(const NvmlDevice& device) { return "GPU " + std::to_string(device.index); }

}  // namespace

bool has_mig(const NvmlDevice& device) { return device.mig && device.mig->current; }

NvmlWiring::NvmlWiring(const NvmlSnapshot& snapshot, codec::Warnings& warnings)
    : devices_(snapshot.devices), warnings_(warnings) {
  const int count = static_cast<int>(devices_.size());
  for (int i = 0; i < count; ++i) {
    if (!device(i).pci.empty()) by_pci_.try_emplace(device(i).pci, i);
  }
  for (int i = 0; i < count; ++i) {
    if (has_mig(device(i))) continue;
    for (const NvmlLink& link : device(i).links) {
      if (link.p2p.value_or(true) || !link.active) take(i, link);
    }
  }
}

int NvmlWiring::peer_of(const NvmlLink& link) const {
  const auto it = by_pci_.find(link.remote_pci);
  return it == by_pci_.end() ? kNone : it->second;
}

void NvmlWiring::take(int from, const NvmlLink& link) {
  if (link.remote == NvmlRemote::npu) return;
  const int peer = peer_of(link);
  const bool to_peer = link.remote != NvmlRemote::nvswitch && peer != kNone;
  const bool lists_no_such =
      link.remote == NvmlRemote::gpu && peer == kNone && !link.remote_pci.empty();
  if (lists_no_such || (to_peer && peer == from)) {
    warnings_.add("NVLink " + std::to_string(link.number) + " of " + gpu(device(from)) +
                  " leads to " + link.remote_pci +
                  (to_peer ? ", which is the GPU itself" : ", which is not a listed GPU") +
                  ": ignored");
  } else if (to_peer) {
    if (has_mig(device(peer))) return;
    count(ends_[{from, peer}], link.active);
    add_port(from, link, peer);
  } else if (link.active || link.remote == NvmlRemote::nvswitch) {
    count(to_switch_[from], link.active);
    add_port(from, link, std::nullopt);
  } else {
    unknown_down_[from].push_back(link.number);
  }
}

void NvmlWiring::add_port(int from, const NvmlLink& link, std::optional<int> peer) {
  domain::Port port{domain::ChipIndex{device(from).index}, static_cast<int>(link.number),
                    std::nullopt, link.active};
  if (peer) port.peer = domain::ChipIndex{device(*peer).index};
  ports_.push_back(port);
}

std::vector<domain::Port> NvmlWiring::ports() const {
  std::vector<domain::Port> out = ports_;
  for (const auto& [at, lanes] : switched()) {
    const auto down = unknown_down_.find(at);
    if (down == unknown_down_.end()) continue;
    for (const unsigned number : down->second) {
      out.push_back(
          {domain::ChipIndex{device(at).index}, static_cast<int>(number), std::nullopt, false});
    }
  }
  std::sort(out.begin(), out.end(), [](const domain::Port& a, const domain::Port& b) {
    return std::pair(a.chip, a.number) < std::pair(b.chip, b.number);
  });
  return out;
}

std::map<std::pair<int, int>, NvmlWiring::Lanes> NvmlWiring::direct() {
  std::map<std::pair<int, int>, Lanes> out;
  for (const auto& [ends, there] : ends_) {
    const auto [a, b] = std::minmax(ends.first, ends.second);
    if (out.contains({a, b})) continue;
    const auto back_at = ends_.find({ends.second, ends.first});
    const End back = back_at == ends_.end() ? End{} : back_at->second;
    const int up = std::min(there.up, back.up);
    const int total = std::max(there.up + there.down, back.up + back.down);
    out[{a, b}] = {total, total - up};
    if (there.up != back.up) {
      warnings_.add(gpu(device(ends.first)) + " has " + std::to_string(there.up) +
                    " NVLinks up to " + gpu(device(ends.second)) + ", which has " +
                    std::to_string(back.up) + " up to it: taken as " + std::to_string(up));
    }
  }
  for (const auto& [at, links] : unknown_down_) {
    const bool joins_others = std::any_of(ends_.begin(), ends_.end(), [at = at](const auto& e) {
      return e.first.first == at && e.second.up > 0;
    });
    if (joins_others) {
      warnings_.add(gpu(device(at)) + ": " + std::to_string(links.size()) +
                    " NVLinks are down, and the driver does not report their other ends");
    }
  }
  return out;
}

std::map<int, NvmlWiring::Lanes> NvmlWiring::switched() const {
  std::map<std::string, int> most;  // lanes by name of device
  for (const auto& [at, end] : to_switch_) {
    int& lanes = most[device(at).name];
    lanes = std::max(lanes, end.up + end.down);
  }
  std::map<int, Lanes> out;
  const int count = static_cast<int>(devices_.size());
  for (int i = 0; i < count; ++i) {
    const auto best = most.find(device(i).name);
    const bool seen = to_switch_.contains(i) || unknown_down_.contains(i);
    if (best == most.end() || !seen) continue;
    const int up = to_switch_.contains(i) ? to_switch_.at(i).up : 0;
    out[i] = {best->second, best->second - up};
  }
  return out;
}

}  // namespace chipweave::agent
