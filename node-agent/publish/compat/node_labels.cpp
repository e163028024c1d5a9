#include "node-agent/publish/compat/node_labels.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/text.hpp"
#include "common/domain/vendor.hpp"
#include "node-agent/publish/compat/fact_names.hpp"
#include "node-agent/publish/compat/label_value.hpp"
#include "node-agent/publish/compat/node_class.hpp"

namespace chipweave::agent {
namespace {

void put(codec::StringMap& labels, const char* key, std::string_view text) {
  std::string value = label_value(text);
  if (!value.empty()) labels[key] = std::move(value);
}

// The parts of "550.54.15"; empty if one is not a number.
std::vector<std::string> version_parts(std::string_view text) {
  constexpr std::size_t kMaxDigits = 9;
  std::vector<std::string> out;
  while (true) {
    const std::size_t dot = std::min(text.find('.'), text.size());
    const std::string_view part = text.substr(0, dot);
    const bool digits = !part.empty() && part.size() <= kMaxDigits &&
                        std::all_of(part.begin(), part.end(), is_digit);
    if (!digits) return {};
    out.emplace_back(part);
    if (dot == text.size()) return out;
    text.remove_prefix(dot + 1);
  }
}

// GPU Feature Discovery's names of the architectures.
std::string_view family_of(int major, int minor) {
  constexpr int kTuring = 5;  // 7.5
  constexpr int kAda = 9;     // 8.9
  switch (major) {
    case 3:
      return "kepler";
    case 5:
      return "maxwell";
    case 6:
      return "pascal";
    case 7:
      return minor < kTuring ? "volta" : "turing";
    case 8:
      return minor < kAda ? "ampere" : "ada-lovelace";
    case 9:
      return "hopper";
    case 10:
    case 12:
      return "blackwell";
    default:
      return "";
  }
}

void put_compute_capability(codec::StringMap& labels, std::string_view text) {
  const std::vector<std::string> parts = version_parts(text);
  if (parts.size() != 2) return;
  put(labels, "nvidia.com/gpu.compute.major", parts[0]);
  put(labels, "nvidia.com/gpu.compute.minor", parts[1]);
  put(labels, "nvidia.com/gpu.family", family_of(std::stoi(parts[0]), std::stoi(parts[1])));
}

void put_driver(codec::StringMap& labels, std::string_view text) {
  const std::vector<std::string> parts = version_parts(text);
  if (parts.size() < 2) return;
  put(labels, "nvidia.com/cuda.driver-version.full", text);
  put(labels, "nvidia.com/cuda.driver-version.major", parts[0]);
  put(labels, "nvidia.com/cuda.driver-version.minor", parts[1]);
  if (parts.size() > 2) put(labels, "nvidia.com/cuda.driver-version.revision", parts[2]);
}

// "MXC550" for a C550; "" for other families.
std::string metax_product(std::string_view model) {
  constexpr std::string_view kMaker = "MX";
  if (model.starts_with(kMaker)) model.remove_prefix(kMaker.size());
  const bool known = model.size() > 1 && model[0] == 'C' && model[1] >= '0' && model[1] <= '9';
  return known ? std::string(kMaker).append(model) : "";
}

}  // namespace

codec::StringMap node_labels(const NodeState& state) {
  codec::StringMap out;
  put(out, kVendorLabel, state.topology.vendor());
  put(out, kTopologyLabel, node_class(state.topology));
  put(out, kChipsLabel, std::to_string(state.topology.chip_count()));
  return out;
}

codec::StringMap gfd_labels(const NodeState& state) {
  codec::StringMap out;
  const domain::NodeTopology& machine = state.topology;
  if (domain::vendor_of(machine).id != domain::VendorId::nvidia) return out;
  const domain::Chip& chip = machine.chip(0);
  put(out, "nvidia.com/gpu.product", chip.model.empty() ? machine.model() : chip.model);
  put(out, "nvidia.com/gpu.count", std::to_string(machine.chip_count()));
  constexpr unsigned kMiB = 20;
  if (chip.memory_bytes >> kMiB != 0) {
    put(out, "nvidia.com/gpu.memory", std::to_string(chip.memory_bytes >> kMiB));
  }
  put_compute_capability(out, facts::value_of(state, facts::kComputeCapability));
  put_driver(out, facts::value_of(state, facts::kDriver));
  put(out, "nvidia.com/gpu.clique", facts::value_of(state, facts::kFabricClique));
  if (const std::string_view mig = facts::value_of(state, facts::kMigCapable);
      mig == "true" || mig == "false") {
    put(out, "nvidia.com/mig.capable", mig);
  }
  return out;
}

codec::StringMap metax_labels(const NodeState& state) {
  codec::StringMap out;
  const domain::NodeTopology& machine = state.topology;
  if (domain::vendor_of(machine).id != domain::VendorId::metax) return out;
  const domain::Chip& chip = machine.chip(0);
  put(out, "metax-tech.com/gpu.installed", "true");
  const std::string product = metax_product(chip.model.empty() ? machine.model() : chip.model);
  if (!product.empty()) {
    put(out, "metax-tech.com/gpu.product", product);
    put(out, "metax-tech.com/gpu.family", "MXC");
  }
  constexpr unsigned kGiB = 30;
  if (const auto gib = chip.memory_bytes >> kGiB; gib != 0) {
    put(out, "metax-tech.com/gpu.memory", std::to_string(gib) + "GB");
  }
  return out;
}

std::string nfd_features(const codec::StringMap& labels) {
  std::string out;
  for (const auto& [key, value] : labels) out += key + "=" + value + "\n";
  return out;
}

}  // namespace chipweave::agent
