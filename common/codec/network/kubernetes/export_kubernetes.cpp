// Kubernetes objects: Volcano's HyperNodes; Kueue's Topology with labelled nodes.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/network/exporters.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

bool is_lower(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_alnum(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z'); }

// Valid and unique names for Kubernetes: other characters become '-', duplicates get a number.
class KubeNames {
 public:
  enum class Form { object, label };
  KubeNames(Form form, std::size_t max) : form_(form), max_(max) {}

  const std::string& name(const std::string& wanted) {
    const auto known = made_.find(wanted);
    if (known != made_.end()) return known->second;
    const std::string base = shaped(wanted);
    std::string name = base;
    for (int i = 2; !used_.insert(name).second; ++i) {
      const std::string number = "-" + std::to_string(i);
      name = base.substr(0, max_ - number.size()) + number;
    }
    if (name != wanted) ++changed_;
    return made_[wanted] = name;
  }
  std::size_t changed() const { return changed_; }

 private:
  std::string shaped(const std::string& wanted) const {
    std::string out;
    for (const char c : wanted.substr(0, max_)) {
      const bool upper = c >= 'A' && c <= 'Z';
      if (form_ == Form::object && upper) {
        out += static_cast<char>(c - 'A' + 'a');
      } else if (is_alnum(c) || c == '-' || c == '.' || (c == '_' && form_ == Form::label)) {
        out += c;
      } else {
        out += '-';
      }
    }
    while (!out.empty() && !is_alnum(out.back())) out.pop_back();
    while (!out.empty() && !is_alnum(out.front())) out.erase(0, 1);
    return out.empty() ? "x" : out;
  }

  Form form_;
  std::size_t max_;
  std::unordered_map<std::string, std::string> made_;
  std::set<std::string> used_;
  std::size_t changed_ = 0;
};

void warn_of_changed(const NetworkExport& from, const KubeNames& names, const char* what) {
  if (names.changed() == 0) return;
  from.warnings.add(std::to_string(names.changed()) + " names are not valid " + what +
                    " in Kubernetes and are changed");
}

std::string member(const char* type, const std::string& name) {
  return std::string("  - type: ") + type +
         "\n    selector:\n      exactMatch:\n        name: " + quoted_json(name) + "\n";
}

// A label key: [prefix/]name.
bool is_label_key(std::string_view key) {
  const std::size_t slash = key.find('/');
  const std::string_view prefix = slash == std::string_view::npos ? "" : key.substr(0, slash);
  const std::string_view name = slash == std::string_view::npos ? key : key.substr(slash + 1);
  const auto good = [](std::string_view part, bool any_case) {
    const bool chars = std::all_of(part.begin(), part.end(), [&](char c) {
      return (any_case ? is_alnum(c) || c == '_' : is_lower(c)) || c == '-' || c == '.';
    });
    return chars && !part.empty() && is_alnum(part.front()) && is_alnum(part.back());
  };
  if (name.size() > limits::kMaxLabelBytes || !good(name, true)) return false;
  return slash == std::string_view::npos || good(prefix, false);
}

// The label of each level. One that is not a qualified label key gets the prefix.
std::vector<std::string> label_keys(const NetworkExport& from,
                                    const std::vector<std::string>& levels, const char* prefix) {
  std::vector<std::string> out;
  KubeNames names(KubeNames::Form::label, limits::kMaxLabelBytes);
  for (const std::string& level : levels) {
    const bool usable = is_label_key(level) && level.find('/') != std::string::npos;
    out.push_back(usable ? level : prefix + names.name(level));
    if (!usable) {
      from.warnings.add("level " + quoted_excerpt(level) + " is written as label " +
                        quoted_excerpt(out.back()));
    }
  }
  return out;
}

void append_labels(std::string& out, const std::vector<std::string>& keys,
                   const std::vector<std::string>& values, KubeNames& names) {
  for (std::size_t i = 0; i < keys.size() && i < values.size(); ++i) {
    if (values[i].empty()) continue;
    out += "    " + quoted_json(keys[i]) + ": " + quoted_json(names.name(values[i])) + "\n";
  }
}

}  // namespace

Result<std::string> export_hypernodes(const NetworkExport& from) {
  warn_of_rails(from);
  warn_of_accelerator(from);
  KubeNames names(KubeNames::Form::object, limits::kMaxNameBytes);
  std::string out;
  const std::size_t levels = from.table.levels.size();
  for (const DomainTree::Domain& domain : from.tree.domains()) {
    out += out.empty() ? "" : "---\n";
    out += "apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata:\n  name: " +
           quoted_json(names.name(domain.name)) +
           "\nspec:\n  tier: " + std::to_string(levels - domain.level) +
           "\n  tierName: " + quoted_json(from.table.levels[domain.level]) + "\n  members:\n";
    for (const std::size_t child : domain.children) {
      out += member("HyperNode", names.name(from.tree.domains()[child].name));
    }
    for (const std::size_t node : domain.nodes) out += member("Node", from.table.nodes[node].name);
  }
  warn_of_changed(from, names, "object names");
  return out;
}

Result<std::string> export_kueue(const NetworkExport& from) {
  warn_of_rails(from);
  const std::vector<std::string> keys =
      label_keys(from, from.table.levels, "topology.chipweave.dev/");
  std::vector<std::string> second;
  const std::vector<std::string> known{"accelerator.topograph.run/domain",
                                       "accelerator.topograph.run/sub-domain"};
  for (std::size_t i = 0; i < from.table.accelerator_levels.size(); ++i) {
    if (i >= known.size()) {
      from.warnings.add("level " + quoted_excerpt(from.table.accelerator_levels[i]) +
                        " of the accelerators is left out");
      continue;
    }
    second.push_back(known[i]);
    if (from.table.accelerator_levels[i] == known[i]) continue;
    from.warnings.add("level " + quoted_excerpt(from.table.accelerator_levels[i]) +
                      " of the accelerators is written as label " + known[i]);
  }
  std::string out =
      "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Topology\nmetadata:\n  name: \"default\"\nspec:\n"
      "  levels:\n";
  for (const std::string& key : keys) out += "  - nodeLabel: " + quoted_json(key) + "\n";
  KubeNames names(KubeNames::Form::label, limits::kMaxLabelBytes);
  for (const domain::NetworkNode& node : from.table.nodes) {
    out += "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: " + quoted_json(node.name) +
           "\n  labels:\n";
    append_labels(out, keys, node.path, names);
    append_labels(out, second, node.accelerator, names);
  }
  warn_of_changed(from, names, "label values");
  return out;
}

}  // namespace chipweave::codec
