// Scenarios of the fake driver library that look like real machines (tests/fakes/nvml/scenario.hpp
// describes the keys).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace chipweave::agent {

using Json = nlohmann::json;

// "00000000:14:00.0" of device 4.
std::string bus_of(int device);
Json device(int index, const std::string& name, int numa);
// A link to another device.
Json link_to(int number, int device);
// A link to an NVSwitch as sm_90 and later have it.
Json link_to_switch(int number);
// Adds what devices measure, link traffic included: 40 + N degrees of device N, 350.5 W.
void measure(Json& machine);
// Takes a link of a device down, for both query functions.
void take_down(Json& machine, int device, int link);
// Eight H100 on NVSwitches, 18 links each, four on each NUMA node.
Json hgx_h100();
// Eight V100 in a hybrid cube mesh.
Json dgx1v();
// Two cards without NVLink under one host bridge.
Json pcie_pair();
// Four A100 PCIe, bridged in pairs by 12 links.
Json a100_bridged();
// Eight B200: NVLink 5, which counts other errors of its links.
Json hgx_b200();
// A tray of four GB200 that is part of a clique.
Json gb200_tray();

}  // namespace chipweave::agent
