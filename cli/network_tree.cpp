#include "cli/network_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "common/base/count_of.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/natural_order.hpp"
#include "common/base/text.hpp"
#include "common/codec/network/slurm/hostlist.hpp"

namespace chipweave::cli {
namespace {

struct NaturalLess {
  bool operator()(const std::string& a, const std::string& b) const { return natural_less(a, b); }
};

using NetworkNodes = std::vector<const domain::NetworkNode*>;

struct TreeDomain {
  std::size_t level = 0;  // of this domain; unused at the root
  std::size_t nodes = 0;  // those of domains below included
  std::map<std::string, std::unique_ptr<TreeDomain>, NaturalLess> children;
  NetworkNodes own;                             // directly below
  std::map<std::size_t, NetworkNodes> unknown;  // by the level at which their paths end
};

void put_into_tree(const domain::NetworkNode& node, const std::vector<std::string>& path,
                   std::size_t levels, TreeDomain& root) {
  TreeDomain* at = &root;
  ++at->nodes;
  std::string_view name;
  for (std::size_t level = 0; level < levels; ++level) {
    if (level >= path.size() || path[level].empty()) {
      at->unknown[level].push_back(&node);
      return;
    }
    // The finest level can be the nodes themselves. Branches with fewer levels repeat a name.
    const bool is_node = level > 0 && level + 1 == levels && path[level] == node.name;
    if (is_node || path[level] == name) continue;
    std::unique_ptr<TreeDomain>& child = at->children[path[level]];
    if (!child) child = std::make_unique<TreeDomain>();
    child->level = level;
    at = child.get();
    ++at->nodes;
    name = path[level];
  }
  at->own.push_back(&node);
}

class TreeText {
 public:
  TreeText(const std::vector<std::string>& levels, const TreeStyle& style)
      : levels_(levels), style_(style) {}

  std::string take(const std::string& title, const TreeDomain& root) {
    out_ = title + "\n";
    add_below(root, "");
    return std::move(out_);
  }

 private:
  struct Line {
    std::string text;
    const TreeDomain* below = nullptr;
  };

  // Recursion is bounded by the number of levels.
  void add_below(const TreeDomain& parent, const std::string& prefix) {
    std::vector<Line> lines;
    for (const auto& [name, child] : parent.children) {
      const bool leaf = !style_.line_a_node && child->children.empty() && child->unknown.empty();
      lines.push_back({concat(printable(name), " (", level_name(child->level), ", ",
                              count_of(child->nodes, "node"), ")"),
                       leaf ? nullptr : child.get()});
      if (leaf) lines.back().text += " " + ranges_of(child->own);
    }
    add_nodes(parent.own, "", lines);
    for (const auto& [level, nodes] : parent.unknown)
      add_nodes(nodes, level_name(level) + " unknown: ", lines);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool last = i + 1 == lines.size();
      out_ += prefix + branch(last) + lines[i].text + "\n";
      if (lines[i].below != nullptr) add_below(*lines[i].below, prefix + trunk(last));
    }
  }

  void add_nodes(NetworkNodes nodes, const std::string& what, std::vector<Line>& lines) const {
    if (nodes.empty()) return;
    if (!style_.line_a_node) {
      lines.push_back({what + ranges_of(nodes)});
      return;
    }
    std::sort(nodes.begin(), nodes.end(),
              [](const auto* a, const auto* b) { return natural_less(a->name, b->name); });
    for (const domain::NetworkNode* node : nodes) {
      lines.push_back({what + printable(node->name)});
      if (!node->rails.empty())
        lines.back().text += printable(" (rails " + joined(node->rails, ", ") + ")");
    }
  }

  static std::string ranges_of(const NetworkNodes& nodes) {
    std::vector<std::string> names;
    names.reserve(nodes.size());
    for (const domain::NetworkNode* node : nodes) names.push_back(node->name);
    return printable(node_ranges(std::move(names)));
  }

  // Only the name of a label, without its prefix.
  std::string level_name(std::size_t level) const {
    return printable(levels_[level].substr(levels_[level].rfind('/') + 1));
  }

  const char* branch(bool last) const {
    if (style_.utf8) return last ? "└─ " : "├─ ";
    return last ? "`- " : "|- ";
  }
  const char* trunk(bool last) const {
    if (last) return "   ";
    return style_.utf8 ? "│  " : "|  ";
  }

  const std::vector<std::string>& levels_;
  TreeStyle style_;
  std::string out_;
};

template <class PathOf>
std::string tree_of(const domain::NetworkTable& table, const std::vector<std::string>& levels,
                    const std::string& title, const TreeStyle& style, const PathOf& path_of) {
  if (levels.empty() || table.nodes.empty()) return "";
  TreeDomain root;
  for (const domain::NetworkNode& node : table.nodes)
    put_into_tree(node, path_of(node), levels.size(), root);
  return TreeText(levels, style).take(title, root);
}

// The number at the end of the part before the first dot: "gpu", "01", ".b.example"; of an IP
// address the last one.
struct NumberedName {
  std::string_view prefix, digits, suffix;
};

NumberedName numbered_name(std::string_view name) {
  const bool address = name.find_first_not_of("0123456789.") == std::string_view::npos;
  const std::size_t dot = address ? name.size() : std::min(name.find('.'), name.size());
  std::size_t start = dot;
  while (start > 0 && is_digit(name[start - 1])) --start;
  return {name.substr(0, start), name.substr(start, dot - start), name.substr(dot)};
}

}  // namespace

std::string network_tree(const domain::NetworkTable& table, const TreeStyle& style) {
  return tree_of(
      table, table.levels, "network", style,
      [](const domain::NetworkNode& node) -> const std::vector<std::string>& { return node.path; });
}

std::string accelerator_tree(const domain::NetworkTable& table, const TreeStyle& style) {
  return tree_of(table, table.accelerator_levels, "accelerators", style,
                 [](const domain::NetworkNode& node) -> const std::vector<std::string>& {
                   return node.accelerator;
                 });
}

std::string node_ranges(std::vector<std::string> names) {
  std::sort(names.begin(), names.end(), natural_less);
  std::string out;
  for (std::size_t i = 0; i < names.size();) {
    const NumberedName first = numbered_name(names[i]);
    std::vector<std::string> alike;  // without their suffix
    std::size_t next = i;
    for (; next < names.size(); ++next) {
      const NumberedName name = numbered_name(names[next]);
      const bool joins = next == i || (!first.digits.empty() && !name.digits.empty() &&
                                       name.prefix == first.prefix && name.suffix == first.suffix);
      if (!joins) break;
      alike.push_back(concat(name.prefix, name.digits));
    }
    out += (out.empty() ? "" : ",") + codec::compress_hostlist(alike) + std::string(first.suffix);
    i = next;
  }
  return out;
}

}  // namespace chipweave::cli
