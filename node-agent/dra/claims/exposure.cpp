#include "node-agent/dra/claims/exposure.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/domain/vendor.hpp"

namespace chipweave::agent::dra {
namespace {

constexpr std::size_t kMaxRules = 16;
constexpr std::size_t kMaxPathBytes = 200;
constexpr std::array<std::string_view, 4> kPlaceholders = {"index", "minor", "physical", "pci"};

// Whether the names in braces are known, and nothing leads out of /dev.
bool is_usable(std::string_view path) {
  if (!path.starts_with("/dev/") || path.size() > kMaxPathBytes) return false;
  if (path.find("..") != std::string_view::npos) return false;
  while (!path.empty()) {
    const std::size_t open = path.find('{');
    if (path.substr(0, open).find('}') != std::string_view::npos) return false;
    if (open == std::string_view::npos) return true;
    const std::size_t close = path.find('}', open);
    if (close == std::string_view::npos) return false;
    const std::string_view name = path.substr(open + 1, close - open - 1);
    bool known = false;
    for (const std::string_view each : kPlaceholders) known = known || each == name;
    if (!known) return false;
    path.remove_prefix(close + 1);
  }
  return true;
}

std::optional<std::string> value_of(std::string_view name, const domain::Chip& chip,
                                    const HostDevices& host) {
  if (name == "index") return std::to_string(chip.index.value);
  if (name == "physical") return std::to_string(chip.physical_id.value_or(chip.index.value));
  if (name == "pci") return chip.pci.empty() ? std::nullopt : std::optional(chip.pci);
  const auto minor = host.nvidia_minor(chip.pci);
  return minor ? std::optional(std::to_string(*minor)) : std::nullopt;
}

Error unknown_value(std::string_view name, const NodeRule& rule, const domain::Chip& chip) {
  std::string text = "the " + std::string(name) + " of chip " + std::to_string(chip.index.value) +
                     " is not known, for the device node " + rule.path + ": ";
  if (name == "minor") {
    text += "NVIDIA's driver tells it in /proc/driver/nvidia/gpus/" + lower_case(chip.pci) +
            "/information; check that the driver is loaded and that the agent sees that file, or ";
  }
  return make_error(Errc::not_found, text + "set --dra-device-nodes");
}

Result<std::string> path_of(const NodeRule& rule, const domain::Chip& chip,
                            const HostDevices& host) {
  std::string out;
  std::string_view rest = rule.path;
  while (!rest.empty()) {
    const std::size_t open = std::min(rest.find('{'), rest.size());
    out += rest.substr(0, open);
    rest.remove_prefix(open);
    if (rest.empty()) break;
    const std::size_t close = rest.find('}');
    const std::string_view name = rest.substr(1, close - 1);
    const auto value = value_of(name, chip, host);
    if (!value) return unknown_value(name, rule, chip);
    out += *value;
    rest.remove_prefix(close + 1);
  }
  return out;
}

}  // namespace

Result<std::vector<NodeRule>> parse_node_rules(const std::string& text) {
  std::vector<NodeRule> out;
  for (std::string_view each : split(text, ',')) {
    const bool optional = each.ends_with('?');
    if (optional) each.remove_suffix(1);
    if (!is_usable(each)) {
      return make_error(Errc::invalid_argument,
                        "expected paths below /dev, with {index}, {minor}, {physical} or {pci} for "
                        "the chip, got " +
                            in_quotes(std::string(each)));
    }
    if (out.size() == kMaxRules) {
      return make_error(Errc::limit_exceeded,
                        "expected at most " + std::to_string(kMaxRules) + " device nodes");
    }
    out.push_back({std::string(each), optional});
  }
  return out;
}

Exposure usual_exposure(const domain::NodeTopology& topology) {
  Exposure out;
  switch (domain::vendor_of(topology).id) {
    case domain::VendorId::nvidia:
      out.nodes = {{"/dev/nvidia{minor}"},
                   {"/dev/nvidiactl"},
                   {"/dev/nvidia-uvm", true},
                   {"/dev/nvidia-uvm-tools", true}};
      out.variable = "NVIDIA_VISIBLE_DEVICES";
      break;
    case domain::VendorId::amd:
      out.nodes = {{"/dev/kfd"},
                   {"/dev/dri/by-path/pci-{pci}-card", true},
                   {"/dev/dri/by-path/pci-{pci}-render"}};
      out.variable = "AMD_VISIBLE_DEVICES";
      break;
    case domain::VendorId::ascend:
      out.nodes = {{"/dev/davinci{physical}"},
                   {"/dev/davinci_manager"},
                   {"/dev/devmm_svm", true},
                   {"/dev/hisi_hdc", true}};
      out.variable = "ASCEND_VISIBLE_DEVICES";
      break;
    case domain::VendorId::metax:
    case domain::VendorId::unknown:
      break;
  }
  return out;
}

Result<std::vector<codec::CdiNode>> nodes_of(const Exposure& exposure, const domain::Chip& chip,
                                             const HostDevices& host) {
  std::vector<codec::CdiNode> out;
  for (const NodeRule& rule : exposure.nodes) {
    auto path = path_of(rule, chip, host);
    const auto node = path ? host.node_at(*path) : std::nullopt;
    if (node) {
      out.push_back({*node, ""});
    } else if (!rule.optional) {
      if (!path) return std::move(path).error();
      return make_error(Errc::not_found,
                        "this node has no " + *path +
                            ": check that the driver of the chips is loaded, or set "
                            "--dra-device-nodes, with a ? behind a node that is not needed");
    }
  }
  return out;
}

}  // namespace chipweave::agent::dra
