// Profiles of NVIDIA's fake NVML (nvml-mock): YAML that describes the GPUs a test cluster pretends
// to have.
#include <yaml-cpp/yaml.h>

#include <map>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/topology/hardware/pci.hpp"
#include "common/codec/topology/import.hpp"
#include "common/domain/link_rates.hpp"
#include "common/domain/topology_builder.hpp"

namespace chipweave::codec {
namespace {

using domain::ChipIndex;
using domain::LinkKind;

constexpr std::size_t kMaxProfileBytes =
    1U << 20U;  // real ones have 20 KB; a YAML tree takes 100 times its text
constexpr std::size_t kLookAtBytes = 64U << 10U;

struct RootComplex {
  std::string id;
  int numa = -1;
};

// A scalar under a key, or the fallback where the key is absent; throws YAML::Exception with the
// line if it is not a T.
template <class T>
T value_or(const YAML::Node& map, const char* key, T fallback) {
  if (!map || !map.IsMap()) return fallback;
  const YAML::Node found = map[key];
  return found && !found.IsNull() ? found.as<T>() : fallback;
}

YAML::Node child(const YAML::Node& map, const char* key) {
  return map && map.IsMap() ? map[key] : YAML::Node(YAML::NodeType::Undefined);
}

Error at(const YAML::Node& node, const std::string& message) {
  return make_error(Errc::invalid_argument,
                    "line " + std::to_string(node.Mark().line + 1) + ": " + message);
}

class Importer {
 public:
  Importer(const YAML::Node& root, const ImportOptions& options) : root_(root), options_(options) {}

  Result<ImportedTopology> run() {
    read_root_complexes();
    if (Result<void> done = read_devices(); !done) return std::move(done).error();
    add_host_paths();
    if (Result<void> done = read_nvlink(); !done) return std::move(done).error();
    if (Result<void> done = read_infiniband(); !done) return std::move(done).error();
    read_pcie();
    Result<domain::NodeTopology> topology = std::move(builder_).build();
    if (!topology) return std::move(topology).error();
    return ImportedTopology{std::move(topology).value(), "nvml-mock", std::move(warnings_)};
  }

 private:
  void read_root_complexes() {
    const YAML::Node complexes = child(child(root_, "pcie_topology"), "root_complexes");
    if (!complexes || !complexes.IsSequence()) return;
    for (const YAML::Node& complex : complexes) {
      const RootComplex facts{value_or<std::string>(complex, "id", ""),
                              value_or<int>(complex, "numa_node", -1)};
      const YAML::Node devices = child(complex, "devices");
      if (!devices || !devices.IsSequence()) continue;
      for (const YAML::Node& device : devices)
        complex_of_[normalize_bus_id(device.as<std::string>())] = facts;
    }
  }

  Result<void> read_devices() {
    const YAML::Node devices = child(root_, "devices");
    if (!devices || !devices.IsSequence() || devices.size() == 0) {
      return make_error(Errc::invalid_argument, "no list \"devices\": not an nvml-mock profile");
    }
    if (devices.size() > static_cast<std::size_t>(limits::kMaxChips)) {
      return make_error(Errc::limit_exceeded,
                        std::to_string(devices.size()) + " devices, at most " +
                            std::to_string(limits::kMaxChips) + " are supported");
    }
    const YAML::Node defaults = child(root_, "device_defaults");
    builder_.vendor = "nvidia";
    builder_.model =
        options_.model.empty() ? value_or<std::string>(defaults, "name", "") : options_.model;
    int position = 0;
    for (const YAML::Node& device : devices) {
      if (!device.IsMap()) return at(device, "a device must be a mapping (index, uuid, pci)");
      domain::Chip chip;
      chip.index = ChipIndex{value_or<int>(device, "index", position++)};
      chip.id = value_or<std::string>(device, "uuid", "");
      chip.model = options_.model.empty() ? value_or<std::string>(device, "name", builder_.model)
                                          : options_.model;
      chip.pci = normalize_bus_id(value_or<std::string>(child(device, "pci"), "bus_id", ""));
      chip.memory_bytes = value_or<std::uint64_t>(
          child(device, "memory"), "total_bytes",
          value_or<std::uint64_t>(child(defaults, "memory"), "total_bytes", 0));
      if (const auto it = complex_of_.find(chip.pci); it != complex_of_.end())
        chip.numa = it->second.numa;
      if (child(device, "nvlink")) explicit_links_ = true;
      chips_.push_back(chip);
      builder_.add_chip(std::move(chip));
    }
    return {};
  }

  void add_host_paths() {
    for (std::size_t i = 0; i < chips_.size(); ++i) {
      for (std::size_t j = i + 1; j < chips_.size(); ++j) {
        builder_.add_link(chips_[i].index, chips_[j].index, path(chips_[i], chips_[j]));
      }
    }
  }

  LinkKind path(const domain::Chip& a, const domain::Chip& b) const {
    const auto at_a = complex_of_.find(a.pci);
    const auto at_b = complex_of_.find(b.pci);
    if (at_a == complex_of_.end() || at_b == complex_of_.end()) return LinkKind::sys;
    if (at_a->second.id == at_b->second.id) return LinkKind::phb;
    return at_a->second.numa >= 0 && at_a->second.numa == at_b->second.numa ? LinkKind::node
                                                                            : LinkKind::sys;
  }

  // Links to declared switches are spread over them and reach every peer: one switch with all lanes
  // of a GPU.
  Result<void> read_nvlink() {
    const YAML::Node nvlink = child(root_, "nvlink");
    const int lanes = value_or<int>(nvlink, "links_per_gpu", 0);
    if (lanes < 0 || lanes > limits::kMaxLanes) {
      return at(nvlink, "links_per_gpu must be between 0 and " + std::to_string(limits::kMaxLanes));
    }
    if (explicit_links_) {
      warnings_.emplace_back("devices state NVLinks of their own: they are left out");
      return {};
    }
    if (lanes == 0) return {};
    const YAML::Node switches = child(nvlink, "switches");
    if (!switches || !switches.IsSequence() || switches.size() == 0) {
      warnings_.push_back(std::to_string(lanes) +
                          " NVLinks a GPU, but neither switches nor peers: left out");
      return {};
    }
    std::vector<domain::TopologyBuilder::Port> ports;
    for (const domain::Chip& chip : chips_) ports.push_back({chip.index, lanes, 0});
    builder_.add_switch("NVSwitch", LinkKind::nvswitch, std::move(ports));
    return {};
  }

  Result<void> read_infiniband() {
    const YAML::Node infiniband = child(root_, "infiniband");
    if (!value_or<bool>(infiniband, "enabled", false)) return {};
    const int per_gpu = value_or<int>(infiniband, "hcas_per_gpu", 0);
    if (per_gpu < 0 || per_gpu > 16) return at(infiniband, "hcas_per_gpu must be between 0 and 16");
    const int count = per_gpu * static_cast<int>(chips_.size());
    const double gbps = value_or<double>(infiniband, "rate_gbps", 0) / 8;
    if (count > static_cast<int>(limits::kMaxNics)) {
      return at(infiniband, std::to_string(count) + " HCAs in all, at most " +
                                std::to_string(limits::kMaxNics) + " are supported");
    }
    for (int i = 0; i < count; ++i) {
      builder_.add_nic("mlx5_" + std::to_string(i), "", -1, gbps, {});
    }
    if (count > 0)
      warnings_.emplace_back("the profile does not say where its HCAs hang: their paths are SYS");
    return {};
  }

  void read_pcie() {
    const int generation =
        value_or<int>(child(child(root_, "device_defaults"), "pcie"), "max_link_gen", 0);
    if (generation > 0) builder_.host_bandwidth = domain::pcie_host_bandwidth(generation, false);
  }

  const YAML::Node& root_;
  const ImportOptions& options_;
  domain::TopologyBuilder builder_;
  std::vector<domain::Chip> chips_;
  std::map<std::string, RootComplex, std::less<>> complex_of_;  // by bus id
  std::vector<std::string> warnings_;
  bool explicit_links_ = false;
};

}  // namespace

bool looks_like_nvml_mock(std::string_view content) {
  const std::string_view head = content.substr(0, kLookAtBytes);
  const auto has_key = [head](std::string_view key) {
    for (std::size_t at = head.find(key); at != std::string_view::npos;
         at = head.find(key, at + 1)) {
      if (at == 0 || head[at - 1] == '\n') return true;
    }
    return false;
  };
  return has_key("device_defaults:") ||
         (has_key("devices:") && head.find("nvml_version:") != std::string_view::npos);
}

Result<ImportedTopology> import_nvml_mock(std::string_view content, const ImportOptions& options) {
  if (content.size() > kMaxProfileBytes) {
    return make_error(Errc::limit_exceeded, "the profile has " + std::to_string(content.size()) +
                                                " bytes, at most " +
                                                std::to_string(kMaxProfileBytes) + " are read");
  }
  try {
    const YAML::Node root = YAML::Load(std::string(content));
    return Importer(root, options).run();
  } catch (const YAML::Exception& problem) {
    const std::string where =
        problem.mark.is_null() ? "" : "line " + std::to_string(problem.mark.line + 1) + ": ";
    return make_error(Errc::invalid_argument, where + "not a valid profile: " + problem.msg);
  }
}

}  // namespace chipweave::codec
