// TopologyReader — the parsed JSON of one machine → TopologyBuilder. Internal to common/codec; used
// once, by one thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/topology/import.hpp"
#include "common/domain/topology_builder.hpp"

namespace chipweave::codec {

// ", expected one of A, B"
std::string expected_one_of(const std::vector<std::string_view>& names);
// "links[3]"
std::string json_item(const std::string& list, std::size_t i);
std::string lower_case_ascii(std::string text);

// One document → one builder. Every read_* takes one top-level key.
class TopologyReader {
 public:
  explicit TopologyReader(const ImportOptions& options) : options_(options) {}

  Result<domain::NodeTopology> read(const Json& document);

 private:
  struct FastFact {
    domain::LinkKind kind;
    int lanes;
    int lanes_down;
    double gbps;
    std::string where;
  };
  using Pair = std::pair<int, int>;

  void read_host_gbps(const JsonObject& top);
  void read_rule(const JsonObject& top);
  void read_super_pod(const JsonObject& top);
  void read_chips(const JsonObject& top);
  void read_chip(const Json& value, const std::string& path);
  void read_links(const JsonObject& top);
  void read_link(const Json& value, const std::string& path);
  void read_meshes(const JsonObject& top);
  void read_host_groups(const JsonObject& top);
  void read_switches(const JsonObject& top);
  void read_switch(const Json& value, const std::string& path);
  std::vector<domain::TopologyBuilder::Port> read_ports(const JsonObject& o);
  void read_nics(const JsonObject& top);
  void read_nic(const Json& value, const std::string& path);
  void read_partitions(const JsonObject& top);

  std::optional<domain::LinkKind> kind_of(const JsonObject& o,
                                          const std::vector<std::string_view>& allowed);
  std::optional<domain::LinkKind> parse_kind(const std::string& text, const std::string& path,
                                             const std::vector<std::string_view>& allowed);
  std::optional<int> known_chip(const Json& value, const std::string& path);
  // Distinct known chips; empty after a problem.
  std::vector<int> chip_list(const Json& value, const std::string& path);
  int lanes_of(const JsonObject& o, std::string_view key, int fallback, int min = 0) {
    return static_cast<int>(o.integer(key, min, limits::kMaxLanes).value_or(fallback));
  }
  std::optional<double> rate_of(const JsonObject& o, std::string_view key);
  // Of the model, which must have been read.
  double default_rate(domain::LinkKind kind);
  void add_fast(Pair pair, FastFact fact);

  const ImportOptions& options_;
  JsonProblems problems_;
  domain::TopologyBuilder builder_;
  std::set<int> chips_;
  std::map<domain::LinkKind, double> default_rates_;
  std::map<Pair, FastFact> fast_;
  std::map<Pair, std::pair<domain::LinkKind, std::string>> host_;  // said in links[]: kind, where
};

}  // namespace chipweave::codec
