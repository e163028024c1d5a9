#include "node-agent/device_plugin/core/hand_over.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"

namespace chipweave::device_plugin {
namespace {

struct Preset {
  std::string_view vendor;
  std::string_view usual;
  std::string_view variable;
  std::string_view value;
  std::string_view cdi;
  std::string_view node;
  std::string_view shared;  // comma separated, with "?" behind optional ones
  bool drm;
};
// NVIDIA's container toolkit, AMD's and Huawei's device plugins and runtimes (Ascend Docker
// Runtime).
constexpr std::array<Preset, 4> kPresets{{
    {"nvidia", "env", "NVIDIA_VISIBLE_DEVICES", "{ids}", "nvidia.com/gpu={id}",
     "/dev/nvidia{minor}",
     "/dev/nvidiactl,/dev/nvidia-uvm?,/dev/nvidia-uvm-tools?,/dev/nvidia-modeset?", false},
    {"amd", "devices", "", "", "amd.com/gpu={index}", "", "/dev/kfd", true},
    {"ascend", "env", "ASCEND_VISIBLE_DEVICES", "{physicals}", "huawei.com/npu={physical}",
     "/dev/davinci{physical}", "/dev/davinci_manager,/dev/devmm_svm?,/dev/hisi_hdc?", false},
    {"metax", "devices", "", "", "metax-tech.com/gpu={index}", "", "/dev/mxcd", true},
}};

constexpr std::array<std::string_view, 5> kOfOne = {"id", "index", "physical", "pci", "minor"};
constexpr std::array<std::string_view, 3> kOfAll = {"ids", "indices", "physicals"};

// minor: of that chip, where a text has it.
std::string of_one(std::string_view name, int slot, const Devices& devices, int minor = -1) {
  const domain::Chip& chip = devices.topology().chip(slot);
  if (name == "id") return devices.id(slot);
  if (name == "pci") return chip.pci;
  if (name == "minor") return std::to_string(minor);
  const int index = chip.index.value;
  return std::to_string(name == "index" ? index : chip.physical_id.value_or(index));
}

std::string of_all(std::string_view name, ChipSet chips, const Devices& devices) {
  const std::string_view one = name == "ids" ? "id" : name == "indices" ? "index" : "physical";
  std::vector<std::string> texts;
  for (const int slot : chips) texts.push_back(of_one(one, slot, devices));
  return joined(texts, ",");
}

// Calls value(name) for each placeholder.
template <class Value>
std::string filled(std::string_view text, const Value& value) {
  std::string out;
  while (true) {
    const std::size_t open = text.find('{');
    const std::size_t close = text.find('}', open == std::string_view::npos ? 0 : open);
    if (open == std::string_view::npos || close == std::string_view::npos) return out.append(text);
    out.append(text.substr(0, open)).append(value(text.substr(open + 1, close - open - 1)));
    text.remove_prefix(close + 1);
  }
}

bool names_minor(const HandOver& how) {
  constexpr const char* kMinor = "{minor}";
  return std::any_of(how.cdi.begin(), how.cdi.end(),
                     [](const std::string& text) { return text.find(kMinor) != text.npos; }) ||
         std::any_of(how.nodes.begin(), how.nodes.end(), [](const HandOver::Node& node) {
           return node.path.find(kMinor) != std::string::npos;
         });
}

Error minor_unknown(const domain::Chip& chip) {
  return make_error(Errc::not_found,
                    concat("the minor number of chip ", chip.index.value,
                           " is not known: NVIDIA's driver tells it in /proc/driver/nvidia/gpus/",
                           lower_case(chip.pci),
                           "/information; check that the driver is loaded, or set --device-node"));
}

}  // namespace

Result<HandOver> vendor_hand_over(std::string_view vendor, std::string_view ways) {
  const auto* const preset = std::find_if(kPresets.begin(), kPresets.end(),
                                          [&](const Preset& one) { return one.vendor == vendor; });
  if (preset == kPresets.end()) {
    return make_error(Errc::invalid_argument,
                      "how chips of this vendor are handed over is not known: say it by "
                      "--environment, --cdi-device or --device-node");
  }
  HandOver out;
  for (const std::string_view way : split(ways.empty() ? preset->usual : ways, ',')) {
    if (way == "env") {
      if (preset->variable.empty())
        return make_error(Errc::invalid_argument,
                          "no environment variable hands over chips of " + std::string(vendor));
      out.environment.emplace(preset->variable, preset->value);
    } else if (way == "cdi") {
      out.cdi.emplace_back(preset->cdi);
    } else if (way == "devices") {
      if (!preset->node.empty()) out.nodes.push_back(parse_node(preset->node));
      for (const std::string_view node : split(preset->shared, ','))
        out.shared_nodes.push_back(parse_node(node));
      out.drm_nodes = preset->drm;
    } else {
      return make_error(Errc::invalid_argument,
                        unknown_name("way", way, {"env", "cdi", "devices"}));
    }
  }
  return out;
}

HandOver::Node parse_node(std::string_view text) {
  const bool optional = text.ends_with('?');
  if (optional) text.remove_suffix(1);
  return {std::string(text), optional};
}

Result<void> check_placeholders(std::string_view text, bool all) {
  std::string wrong;
  filled(text, [&](std::string_view name) {
    const bool known = all ? std::find(kOfAll.begin(), kOfAll.end(), name) != kOfAll.end()
                           : std::find(kOfOne.begin(), kOfOne.end(), name) != kOfOne.end();
    if (!known) wrong = name;
    return std::string();
  });
  if (wrong.empty()) return {};
  return make_error(Errc::invalid_argument,
                    "unknown placeholder " + in_quotes(wrong) + "; there are " +
                        (all ? joined(kOfAll, ", ") : joined(kOfOne, ", ")));
}

Result<Handed> hand_over(const HandOver& how, ChipSet chips, const Devices& devices,
                         const agent::HostDevices& host) {
  Handed out;
  const bool needs_minor = names_minor(how);
  const auto add = [&](const HandOver::Node& node, std::string path) {
    if (!node.optional || host.node_at(path)) out.nodes.push_back(std::move(path));
  };
  for (const auto& [name, text] : how.environment) {
    out.environment[name] = filled(
        text, [&](std::string_view placeholder) { return of_all(placeholder, chips, devices); });
  }
  for (const int slot : chips) {
    const domain::Chip& chip = devices.topology().chip(slot);
    const auto minor = needs_minor ? host.nvidia_minor(chip.pci) : std::nullopt;
    if (needs_minor && !minor) return minor_unknown(chip);
    const auto value = [&](std::string_view placeholder) {
      return of_one(placeholder, slot, devices, minor.value_or(-1));
    };
    for (const std::string& text : how.cdi) out.cdi.push_back(filled(text, value));
    for (const HandOver::Node& node : how.nodes) add(node, filled(node.path, value));
    if (!how.drm_nodes) continue;
    for (std::string& node : host.drm_nodes(chip.pci)) out.nodes.push_back(std::move(node));
  }
  for (const HandOver::Node& node : how.shared_nodes) add(node, node.path);
  return out;
}

}  // namespace chipweave::device_plugin
