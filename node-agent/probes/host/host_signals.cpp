#include "node-agent/probes/host/host_signals.hpp"

#include <cstdint>
#include <optional>
#include <utility>

namespace chipweave::agent {
namespace {

using domain::Signal;
using domain::SignalKind;

constexpr std::size_t kMaxFactNics = 64;  // of whom facts are published

Signal of_nic(SignalKind kind, const char* code, const HostNic& nic) {
  Signal out;
  out.kind = kind;
  out.code = code;
  out.nic = nic.name;
  return out;
}

std::string why_down(const HostNic& nic) {
  std::string out;
  for (const RdmaPort& port : nic.ports) {
    if (!out.empty()) out += ", ";
    out += "port " + std::to_string(port.number) + " is " + port.state;
    if (!port.phys_state.empty()) out += " (" + port.phys_state + ")";
  }
  return out;
}

template <class List, class Count>
std::optional<double> total(const List& list, Count count) {
  std::optional<double> out;
  for (const auto& item : list) {
    if (const std::optional<std::uint64_t> one = count(item)) {
      out = out.value_or(0) + static_cast<double>(*one);
    }
  }
  return out;
}

void add_counter(const HostNic& nic, const char* code, std::optional<double> value,
                 domain::Observation& out) {
  if (!value) return;
  Signal signal = of_nic(SignalKind::counter, code, nic);
  signal.value = *value;
  out.signals.push_back(std::move(signal));
}

void add_facts(const HostNic& nic, domain::Observation& out) {
  const std::string key = "rdma." + nic.name + ".";
  if (nic.gid) {
    out.facts[key + "gid"] = nic.gid->text;
    out.facts[key + "gid-index"] = std::to_string(nic.gid->index);
  }
  for (const RdmaPort& port : nic.ports) {
    if (!port.layer.empty()) out.facts.emplace(key + "layer", port.layer);
  }
  if (nic.gid && !nic.gid->interface.empty()) {
    out.facts[key + "interface"] = nic.gid->interface;
  } else if (!nic.interfaces.empty()) {
    out.facts[key + "interface"] = nic.interfaces.front().name;
  }
}

}  // namespace

void add_host_signals(const HostView& view, domain::Observation& observation) {
  std::size_t rdma = 0;
  for (const HostNic& nic : view.nics) {
    if (nic.rdma.empty()) continue;
    if (nic.down()) {
      Signal signal = of_nic(SignalKind::state, "nic.down", nic);
      signal.text = why_down(nic);
      observation.signals.push_back(std::move(signal));
    }
    add_counter(nic, "nic.link-downed",
                total(nic.ports, [](const RdmaPort& p) { return p.link_downed; }), observation);
    add_counter(nic, "nic.flap",
                total(nic.interfaces, [](const NetInterface& i) { return i.carrier_changes; }),
                observation);
    if (++rdma <= kMaxFactNics) add_facts(nic, observation);
  }
}

}  // namespace chipweave::agent
