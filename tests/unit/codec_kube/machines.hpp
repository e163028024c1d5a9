// Machines to write as an inventory: every built-in profile with faults, and one that uses every
// feature of the topology JSON.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/codec/kube/inventory/inventory.hpp"
#include "common/codec/topology/import.hpp"
#include "common/profiles/profiles.hpp"

namespace chipweave::codec {

inline domain::NodeTopology topology_of(std::string_view json) {
  auto read = import_topology_json(json, {});
  EXPECT_TRUE(read.ok()) << read.error().text();
  return std::move(read->topology);
}

// The first chip unhealthy, the last one off the network, one lane of each direct link down.
inline domain::NodeTopology with_faults(const domain::NodeTopology& healthy) {
  auto json = nlohmann::json::parse(export_topology_json(healthy));
  json["chips"].front()["health"] = "unhealthy";
  json["chips"].back()["health"] = "network_unhealthy";
  domain::NodeTopology out = topology_of(json.dump());
  for (const domain::DirectLink& link : healthy.links()) out.take_down(link.a, link.b, 1);
  return out;
}

inline domain::NodeTopology everything() {
  return topology_of(R"({"vendor":"ascend","model":"box \"π\"","p2p":false,
    "host_gbps":{"BOARD":1,"PIX":2,"PXB":3.5,"PHB":4,"NODE":5,"SYS":6},
    "rule":{"kind":"ascend-a3","group":2},
    "chips":[
      {"index":3,"id":"Ascend910-3","model":"910","pci":"0000:04:00.0","numa":0,
       "memory_bytes":9223372036854775807,"device_ips":["10.0.0.1","10.0.0.2"],"physical_id":0,
       "logical_id":2147483647,"super_device_id":4294967295,"health":"unhealthy"},
      {"index":1048576,"health":"network_unhealthy"},{"index":7},{"index":8}],
    "links":[{"a":3,"b":7,"kind":"HCCS","lanes":2,"lanes_down":1,"gbps_per_lane":0.1},
             {"a":3,"b":8,"kind":"PIX"}],
    "switches":[{"name":"s","kind":"UB","chips":[3,7],"lanes_per_chip":4,"gbps_per_lane":99999.5},
                {"kind":"SIO","ports":[{"chip":7,"lanes":2,"lanes_down":2},{"chip":8}]}],
    "nics":[{"name":"mlx5_0","pci":"0000:05:00.0","numa":1,"gbps":50,"paths":{"1048576":"PXB"}}],
    "partitions":[[3,7],[8]],
    "super_pod":{"id":"pod","server_index":2147483647}})");
}

inline NodeInventory inventory_of(domain::NodeTopology topology) {
  return {"n1", "b0", 7, "box", {"nvidia.com/gpu", "aliyun.com/gpu"}, std::move(topology)};
}

// Everything that an inventory can say about health, in texts longer than the limits.
inline NodeInventory faulty_inventory() {
  NodeInventory out = inventory_of(everything());
  const std::string text(2000, 't');
  out.node_boot_id = "5f6b7c1e-0000-4000-8000-000000000001";
  domain::Fault of_file;
  of_file.code = "health-file";
  of_file.chip = domain::ChipIndex{3};
  domain::Fault link{"link.down",
                     domain::Effect::link,
                     domain::ChipIndex{3},
                     domain::ChipIndex{7},
                     std::nullopt,
                     "s",
                     2,
                     text,
                     1767323045123,
                     1767323055123};
  domain::Fault lost{"xid.79",
                     domain::Effect::unusable,
                     domain::ChipIndex{8},
                     std::nullopt,
                     5,
                     "",
                     0,
                     "fallen off the bus",
                     1767323045123,
                     -1};
  out.faults = {lost, link, of_file};
  for (int i = 0; i < 300; ++i) {
    domain::Fault note;
    note.code = "note." + std::to_string(i);
    out.faults.push_back(note);
  }
  for (const char* type : {"ChipsHealthy", "LinksHealthy", "NetworkHealthy", "ProbeWorking"}) {
    out.conditions.push_back({type, out.conditions.empty(), "Because", text, 1767323045123});
  }
  out.neighbours = {{"mlx5_0", std::nullopt, "leaf-1", "Ethernet1/3", "192.0.2.1"},
                    {"", domain::ChipIndex{7}, "", "400GE1/1/20:2", ""}};
  for (int i = 0; i < 300; ++i) out.facts["fact." + std::to_string(i)] = text;
  out.carried = {{domain::ChipIndex{3}, 41.25}, {domain::ChipIndex{8}, 0}};
  out.given = domain::GivenChips{
      {{"", "ml", "a", "main", "nvidia.com/mig-1g.10gb", {domain::ChipIndex{3}}, true},
       {"u7",
        "",
        "",
        "main",
        "nvidia.com/gpu",
        {domain::ChipIndex{7}, domain::ChipIndex{8}},
        false}},
      2};
  out.enforcement = domain::Enforcement::device_plugin;
  out.gate_open = true;
  return out;
}

// Healthy and with faults, each profile; and everything().
inline std::vector<std::pair<std::string, NodeInventory>> all_inventories() {
  std::vector<std::pair<std::string, NodeInventory>> out;
  for (const profiles::Profile& profile : profiles::all()) {
    const domain::NodeTopology healthy = topology_of(profile.json);
    out.emplace_back(profile.name, inventory_of(healthy));
    out.emplace_back(std::string(profile.name) + " with faults",
                     inventory_of(with_faults(healthy)));
  }
  out.emplace_back("everything", inventory_of(everything()));
  out.emplace_back("faulty", faulty_inventory());
  return out;
}

}  // namespace chipweave::codec
