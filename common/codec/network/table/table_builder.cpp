#include "common/codec/network/table/table_builder.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

Result<void> check_levels(const std::vector<std::string>& levels) {
  if (levels.size() > limits::kMaxNetworkLevels) {
    return make_error(Errc::limit_exceeded, std::to_string(levels.size()) +
                                                " levels; must be at most " +
                                                std::to_string(limits::kMaxNetworkLevels));
  }
  std::set<std::string_view> seen;
  for (const std::string& level : levels) {
    if (auto good = check_network_name("level", level); !good) return good;
    if (!seen.insert(level).second) {
      return network_error("duplicate level " + quoted_excerpt(level));
    }
  }
  return {};
}

// Elements may be empty (unknown), but not bad names.
Result<void> check_elements(const domain::NetworkNode& node,
                            const std::vector<std::string>& elements) {
  for (const std::string& element : elements) {
    if (element.empty()) continue;
    if (auto good = check_network_name("domain", element); !good) {
      return std::move(good).error().in("node " + quoted_excerpt(node.name));
    }
  }
  return {};
}

std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what;
}

}  // namespace

Result<void> check_network_name(std::string_view what, std::string_view name) {
  const std::string begin = std::string(what) + " " + quoted_excerpt(name);
  if (name.empty()) return network_error(std::string(what) + " name is empty");
  if (name.size() > limits::kMaxNameBytes) {
    return make_error(Errc::limit_exceeded, begin + ": a name must have at most " +
                                                counted(limits::kMaxNameBytes, "bytes"));
  }
  const bool control = std::any_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (control) return network_error(begin + ": a name must not have control characters");
  return {};
}

std::vector<std::string> switch_levels(std::size_t depth) {
  constexpr std::array<const char*, 3> kNames{"leaf", "spine", "core"};
  std::vector<std::string> out;
  for (std::size_t tier = depth; tier > 0; --tier) {
    out.push_back(tier <= kNames.size() ? kNames[tier - 1] : "tier-" + std::to_string(tier));
  }
  return out;
}

NetworkTableBuilder::NetworkTableBuilder(std::vector<std::string> levels,
                                         std::vector<std::string> accelerator_levels,
                                         const std::string& where)
    : good_(check_levels(levels)) {
  if (auto good = check_levels(accelerator_levels); good_ && !good) {
    good_ = std::move(good).error().in("accelerator");
  }
  if (!good_) good_ = located(std::move(good_).error(), where);
  table_.levels = std::move(levels);
  table_.accelerator_levels = std::move(accelerator_levels);
}

bool NetworkTableBuilder::add(domain::NetworkNode node, std::string_view where) {
  if (good_) good_ = check_and_add(std::move(node), where);
  return ok();
}

Result<void> NetworkTableBuilder::check_and_add(domain::NetworkNode node, std::string_view where) {
  const auto at = [&where](Error error) { return located(std::move(error), std::string(where)); };
  if (auto good = check_network_name("node", node.name); !good) return at(std::move(good).error());
  const std::string shown = "node " + quoted_excerpt(node.name);
  if (table_.nodes.size() >= limits::kMaxNetworkNodes) {
    return at(too_many(limits::kMaxNetworkNodes, "nodes; split the file"));
  }
  const bool no_accelerator =
      std::all_of(node.accelerator.begin(), node.accelerator.end(),
                  [](const std::string& element) { return element.empty(); });
  if (no_accelerator) node.accelerator.clear();
  const auto wrong_length = [&](const char* what, std::size_t expected, std::size_t got) {
    return at(network_error(shown + ": expected " + counted(expected, "elements") + " in its " +
                            what + ", got " + std::to_string(got)));
  };
  if (node.path.size() != table_.levels.size()) {
    return wrong_length("path", table_.levels.size(), node.path.size());
  }
  if (!node.accelerator.empty() && node.accelerator.size() != table_.accelerator_levels.size()) {
    return wrong_length("accelerator", table_.accelerator_levels.size(), node.accelerator.size());
  }
  if (node.rails.size() > limits::kMaxNetworkRails) {
    return at(make_error(Errc::limit_exceeded, shown + ": must have at most " +
                                                   counted(limits::kMaxNetworkRails, "rails")));
  }
  for (const auto* elements : {&node.path, &node.accelerator, &node.rails}) {
    if (auto good = check_elements(node, *elements); !good) return at(std::move(good).error());
  }
  const auto [first, fresh] = places_.emplace(node.name, where);
  if (!fresh) {
    const std::string& other = first->second;
    return at(network_error("duplicate " + shown + (other.empty() ? "" : ", first at " + other)));
  }
  table_.nodes.push_back(std::move(node));
  return {};
}

}  // namespace chipweave::codec
