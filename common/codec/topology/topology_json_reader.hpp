// TopologyReader — the JSON of one machine → TopologyBuilder. Internal to common/codec; used once,
// by one thread.
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

// One document → one builder. Every read_* takes one top-level key.
class TopologyReader {
 public:
  explicit TopologyReader(const ImportOptions& options) : options_(options) {}

  // Key paths in errors start at `document`.
  Result<domain::NodeTopology> read(JsonValue document);

 private:
  struct FastFact {
    domain::LinkKind kind;
    int lanes;
    int lanes_down;
    double gbps;
    JsonValue where;
  };
  using Pair = std::pair<int, int>;

  void read_host_gbps(const JsonObject& top);
  void read_rule(const JsonObject& top);
  void read_super_pod(const JsonObject& top);
  void read_chips(const JsonObject& top);
  void read_chip(JsonValue value);
  void read_links(const JsonObject& top);
  void read_link(JsonValue value);
  void read_meshes(const JsonObject& top);
  void read_host_groups(const JsonObject& top);
  void read_switches(const JsonObject& top);
  void read_switch(JsonValue value);
  std::vector<domain::TopologyBuilder::Port> read_ports(const JsonObject& o);
  void read_nics(const JsonObject& top);
  void read_nic(JsonValue value);
  void read_partitions(const JsonObject& top);

  std::optional<domain::LinkKind> kind_of(const JsonObject& o,
                                          const std::vector<std::string_view>& allowed);
  std::optional<domain::LinkKind> parse_kind(JsonValue text,
                                             const std::vector<std::string_view>& allowed);
  std::optional<int> known_chip(JsonValue value);
  // Distinct known chips; empty after a problem.
  std::vector<int> chip_list(JsonValue value);
  int lanes_of(const JsonObject& o, std::string_view key, int fallback, int min = 0) {
    return o.integer(key, min, limits::kMaxLanes).value_or(fallback);
  }
  std::optional<double> rate_of(const JsonObject& o, std::string_view key);
  // The default of the model, which must have been read before.
  double default_rate(domain::LinkKind kind);
  void add_fast(Pair pair, FastFact fact);

  // "pair 0-3 contradicts links[2] (PIX)"
  std::string contradiction(Pair pair, JsonValue other, const std::string& fact) const;

  const ImportOptions& options_;
  JsonValue document_;
  JsonProblems problems_;
  domain::TopologyBuilder builder_;
  std::set<int> chips_;
  std::map<domain::LinkKind, double> default_rates_;
  std::map<Pair, FastFact> fast_;
  std::map<Pair, std::pair<domain::LinkKind, JsonValue>> host_;  // of links[]: kind, where
};

}  // namespace chipweave::codec
