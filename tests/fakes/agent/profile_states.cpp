#include "tests/fakes/agent/profile_states.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "common/domain/topology_builder.hpp"
#include "common/io/files.hpp"

namespace chipweave::agent {

NodeState profile(const std::string& name) {
  auto machine = io::load_machine(name);
  EXPECT_TRUE(machine.ok()) << name;
  return NodeState{name, {}, std::move(machine).value().topology};
}

NodeState chips(const std::string& vendor, const std::string& model, int count,
                const std::function<void(domain::Chip&)>& change,
                std::optional<domain::SuperPod> super_pod) {
  domain::TopologyBuilder b;
  b.vendor = vendor;
  b.model = model;
  b.super_pod = std::move(super_pod);
  for (int i = 0; i < count; ++i) {
    domain::Chip chip;
    chip.index = domain::ChipIndex{i};
    if (change) change(chip);
    b.add_chip(std::move(chip));
  }
  auto built = std::move(b).build();
  EXPECT_TRUE(built.ok());
  return NodeState{"box", {}, std::move(built).value()};
}

domain::Fault fault_of(int chip, const std::string& code, domain::Effect effect,
                       std::int64_t since) {
  domain::Fault out;
  out.code = code;
  out.effect = effect;
  out.chip = domain::ChipIndex{chip};
  out.since = since;
  return out;
}

}  // namespace chipweave::agent
