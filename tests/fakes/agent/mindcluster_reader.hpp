// Reads back what the programs publish for MindCluster, as its components do. Throws
// std::runtime_error or a JSON exception for what they would refuse.
#pragma once

#include <map>
#include <string>

#include "common/codec/mindcluster/node/device_info.hpp"

namespace chipweave::test {

// Key DeviceInfoCfg of mindx-dl-deviceinfo-<node>; its CheckCode is compared.
codec::mindcluster::DeviceInfo device_info_in(const std::string& text);

// By node: key cluster-info-device-<m> of its ConfigMap.
std::map<std::string, codec::mindcluster::DeviceInfo> cluster_devices_in(const std::string& text);

}  // namespace chipweave::test
