#include "common/codec/topology/kfd/kfd_tree.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/text/lines.hpp"
#include "common/codec/text/numbers.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

// One `properties` file: lines of a key and a number.
class Properties {
 public:
  static Result<Properties> parse(const std::string& path, std::string_view text) {
    Properties out(path);
    LineReader lines(text);
    for (std::string_view line; lines.next_trimmed(line);) {
      if (line.empty()) continue;
      const std::size_t blank = line.find(' ');
      const std::string_view value =
          blank == std::string_view::npos ? "" : trim(line.substr(blank));
      if (!parse_unsigned(value) && !parse_int(value)) {
        return make_error(Errc::invalid_argument, path + ": " + lines.where() +
                                                      ": expected a key and a number, got " +
                                                      quoted_excerpt(line));
      }
      if (!out.values_.emplace(line.substr(0, blank), value).second) {
        return make_error(Errc::invalid_argument, path + ": " + lines.where() + ": duplicate key " +
                                                      quoted_excerpt(line.substr(0, blank)));
      }
    }
    return out;
  }

  bool has(std::string_view key) const { return values_.find(key) != values_.end(); }
  // A number that may be negative (-1: none).
  Result<std::int64_t> number(std::string_view key) const {
    const auto it = values_.find(key);
    const std::optional<std::int64_t> value =
        it == values_.end() ? std::nullopt : parse_int(it->second);
    if (!value) return missing(key);
    return *value;
  }
  // 0 if the key is absent: old kernels do not print some ids.
  std::uint64_t id(std::string_view key) const {
    const auto it = values_.find(key);
    return it == values_.end() ? 0 : parse_unsigned(it->second).value_or(0);
  }

 private:
  explicit Properties(std::string path) : path_(std::move(path)) {}
  Error missing(std::string_view key) const {
    return make_error(Errc::invalid_argument, path_ + ": " + std::string(key) +
                                                  (has(key) ? " is out of range" : " is missing"));
  }

  std::string path_;
  std::map<std::string, std::string, std::less<>> values_;
};

// "x/nodes/2/io_links/0/properties" → prefix "x/", node 2, rest "io_links/0/properties".
struct NodePath {
  std::string_view prefix;
  int node = 0;
  std::string_view rest;
};

std::optional<NodePath> node_path(std::string_view path) {
  constexpr std::string_view kNodes = "nodes/";
  std::size_t at = path.find(kNodes);
  while (at != std::string_view::npos && at != 0 && path[at - 1] != '/')
    at = path.find(kNodes, at + 1);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view tail = path.substr(at + kNodes.size());
  const std::size_t slash = tail.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto number = parse_unsigned(tail.substr(0, slash));
  if (!number || *number > limits::kMaxArchiveFiles) return std::nullopt;
  return NodePath{path.substr(0, at), static_cast<int>(*number), tail.substr(slash + 1)};
}

bool ends_with_properties(std::string_view rest, std::string_view folder) {
  constexpr std::string_view kFile = "/properties";
  return rest.size() > folder.size() + kFile.size() && rest.substr(0, folder.size()) == folder &&
         rest.substr(rest.size() - kFile.size()) == kFile;
}

Result<void> read_node(const Properties& properties, KfdNode& node) {
  const Result<std::int64_t> simds = properties.number("simd_count");
  if (!simds) return simds.error();
  const Result<std::int64_t> cores = properties.number("cpu_cores_count");
  if (!cores) return cores.error();
  node.is_cpu = *cores > 0;
  if (*simds <= 0) return {};
  const Result<std::int64_t> minor = properties.number("drm_render_minor");
  if (!minor) return minor.error();
  node.is_gpu = *minor >= 128;
  if (node.is_gpu) node.render_minor = static_cast<int>(std::min<std::int64_t>(*minor, 1 << 20));
  for (const std::string_view key : {"vendor_id", "device_id", "location_id"}) {
    if (const Result<std::int64_t> value = properties.number(key); !value) return value.error();
  }
  node.vendor = static_cast<std::uint32_t>(properties.id("vendor_id"));
  node.device = static_cast<std::uint32_t>(properties.id("device_id"));
  const std::uint64_t location = properties.id("location_id");
  std::array<char, 32> bus_id{};
  std::snprintf(bus_id.data(), bus_id.size(), "%04x:%02x:%02x.%x",
                static_cast<unsigned>(properties.id("domain") & 0xffffU),
                static_cast<unsigned>(location >> 8U & 0xffU),
                static_cast<unsigned>(location >> 3U & 0x1fU),
                static_cast<unsigned>(location & 7U));
  node.bus_id = bus_id.data();
  node.unique_id = properties.id("unique_id");
  node.gfx_version = properties.id("gfx_target_version");
  return {};
}

class KfdTreeReader {
 public:
  Result<KfdTree> read(const FileTree& files) {
    for (const auto& [path, text] : files) {
      const std::optional<NodePath> place = node_path(path);
      if (!place) continue;
      if (!prefix_) prefix_ = place->prefix;
      if (*prefix_ != place->prefix) {
        return make_error(Errc::invalid_argument,
                          "two KFD trees, below " + quoted_excerpt(*prefix_) + " and " +
                              quoted_excerpt(place->prefix) + "; give one of them");
      }
      if (Result<void> done = read_file(path, text, *place); !done) return std::move(done).error();
    }
    if (!prefix_) {
      return make_error(
          Errc::invalid_argument,
          "no file nodes/<n>/properties: not a KFD tree (/sys/class/kfd/kfd/topology)");
    }
    warn();
    return std::move(out_);
  }

 private:
  Result<void> read_file(const std::string& path, std::string_view text, const NodePath& place) {
    const bool of_node = place.rest == "properties";
    const bool of_link = ends_with_properties(place.rest, "io_links/") ||
                         ends_with_properties(place.rest, "p2p_links/");
    const bool of_memory = ends_with_properties(place.rest, "mem_banks/");
    KfdNode& node = out_.nodes[place.node];
    if (!of_node && !of_link && !of_memory) return {};
    const Result<Properties> properties = Properties::parse(path, text);
    if (!properties) return properties.error();
    if (of_node) {
      described_.insert(place.node);
      return read_node(*properties, node);
    }
    if (of_memory) {
      const Result<std::int64_t> size = properties->number("size_in_bytes");
      if (!size) return size.error();
      if (*size > 0) node.memory_bytes += static_cast<std::uint64_t>(*size);
      return {};
    }
    return read_link(path, *properties, place.node, node);
  }

  Result<void> read_link(const std::string& path, const Properties& properties, int number,
                         KfdNode& node) {
    std::array<std::int64_t, 6> values{};
    constexpr std::array<std::string_view, 6> kKeys = {"type",   "node_from",     "node_to",
                                                       "weight", "min_bandwidth", "max_bandwidth"};
    for (std::size_t i = 0; i < kKeys.size(); ++i) {
      const Result<std::int64_t> value = properties.number(kKeys[i]);
      if (!value) return value.error();
      values[i] = *value;
    }
    const auto [type, from, to, weight, min_mbps, max_mbps] = values;
    if (to < 0 || to > static_cast<std::int64_t>(limits::kMaxArchiveFiles)) {
      return make_error(Errc::invalid_argument,
                        path + ": node_to must be a node, got " + std::to_string(to));
    }
    if (to == number) {
      return make_error(Errc::invalid_argument,
                        path + ": node " + std::to_string(to) + " is linked with itself");
    }
    if (weight < 0) {
      return make_error(Errc::invalid_argument,
                        path + ": weight must not be negative, got " + std::to_string(weight));
    }
    if (from != number) ++wrong_from_;
    for (const KfdLink& l : node.links) {
      if (l.type != type || l.to != to) continue;
      ++repeated_;
      return {};
    }
    node.links.push_back({type, static_cast<int>(to), weight, min_mbps, max_mbps});
    return {};
  }

  void warn() {
    int next = 0;
    int nowhere = 0;
    for (const auto& [number, node] : out_.nodes) {
      // The kernel numbers without gaps.
      for (; next < number; ++next) {
        out_.warnings.add("node " + std::to_string(next) +
                          " is missing (not readable?): the chips behind it have lower numbers");
      }
      ++next;
      for (const KfdLink& link : node.links) nowhere += described_.count(link.to) == 0 ? 1 : 0;
      if (described_.count(number) == 0) {
        out_.warnings.add("node " + std::to_string(number) +
                          " has no properties file and is left out");
      }
    }
    if (nowhere > 0) {
      out_.warnings.add(std::to_string(nowhere) +
                        " links to nodes without a description are left out");
    }
    if (repeated_ > 0) {
      out_.warnings.add(std::to_string(repeated_) +
                        " links repeat one of the same type and ends; the first is used");
    }
    if (wrong_from_ > 0) {
      out_.warnings.add(std::to_string(wrong_from_) +
                        " links have another node_from than their folder; the folder is used");
    }
  }

  KfdTree out_;
  std::optional<std::string> prefix_;
  std::set<int> described_;
  int wrong_from_ = 0;
  int repeated_ = 0;
};

}  // namespace

Result<KfdTree> read_kfd_tree(const FileTree& files) { return KfdTreeReader().read(files); }

}  // namespace chipweave::codec
