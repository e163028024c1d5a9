#include "scheduler-plugin/server/grpc_decode.hpp"

#include <algorithm>
#include <utility>

#include "common/base/limits.hpp"
#include "common/rpc/carried_proto.hpp"
#include "common/rpc/fault_proto.hpp"
#include "common/rpc/topology_proto.hpp"

namespace chipweave::sched {
namespace {

constexpr int kMaxLinkChanges = limits::kMaxChips * (limits::kMaxChips - 1) / 2;
constexpr std::size_t kMaxBootIdBytes = 64;

Error bad_field(const std::string& key, const std::string& why) {
  return make_error(Errc::invalid_argument, key + " " + why);
}

Error too_much(const std::string& key, std::size_t has, std::size_t most) {
  return make_error(Errc::limit_exceeded, key + ": " + std::to_string(has) + ", at most " +
                                              std::to_string(most) + " are accepted");
}

bool plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  });
}

// report: "full" or "delta".
template <class Report>
Result<void> decode_for_people(const Report& m, const char* report, InventoryReport& out) {
  if (m.has_faults()) {
    auto faults = rpc::from_proto(m.faults());
    if (!faults) return std::move(faults).error().in(report);
    out.faults = std::move(faults).value();
  }
  if (m.has_carried()) {
    auto carried = rpc::from_proto(m.carried());
    if (!carried) return std::move(carried).error().in(report);
    out.carried = std::move(carried).value();
  }
  return {};
}

Result<void> decode_delta(const v1::DeltaReport& delta, InventoryReport& out) {
  if (delta.chips_size() > limits::kMaxChips) {
    return too_much("delta.chips", static_cast<std::size_t>(delta.chips_size()), limits::kMaxChips);
  }
  if (delta.links_size() > kMaxLinkChanges) {
    return too_much("delta.links", static_cast<std::size_t>(delta.links_size()), kMaxLinkChanges);
  }
  for (const v1::ChipHealthChange& c : delta.chips()) {
    const auto health = rpc::from_proto(c.health());
    if (!health) {
      return bad_field("delta.chips[chip " + std::to_string(c.chip()) + "].health",
                       "is not a known state");
    }
    out.chips.push_back({domain::ChipIndex{c.chip()}, *health});
  }
  for (const v1::LinkLanesChange& l : delta.links()) {
    if (l.a() == l.b() || l.lanes_down() < 0 || l.lanes_down() > limits::kMaxLanes) {
      return bad_field("delta.links[" + std::to_string(l.a()) + "-" + std::to_string(l.b()) + "]",
                       "needs two different chips and lanes_down between 0 and " +
                           std::to_string(limits::kMaxLanes));
    }
    out.links.push_back({domain::ChipIndex{l.a()}, domain::ChipIndex{l.b()}, l.lanes_down()});
  }
  return decode_for_people(delta, "delta", out);
}

Result<void> decode_full(const v1::FullReport& full, InventoryReport& out) {
  if (auto ok = check_name(full.machine(), "full.machine", true); !ok) return ok;
  if (full.resources_size() > limits::kMaxResources) {
    return too_much("full.resources", static_cast<std::size_t>(full.resources_size()),
                    limits::kMaxResources);
  }
  for (const std::string& r : full.resources()) {
    if (auto ok = check_name(r, "full.resources", false); !ok) return ok;
  }
  if (!full.has_topology()) return bad_field("full.topology", "is missing");
  auto topology = rpc::from_proto(full.topology());
  if (!topology) return std::move(topology).error().in("full.topology");
  out.machine = full.machine();
  out.resources.assign(full.resources().begin(), full.resources().end());
  out.topology = std::move(topology).value();
  return decode_for_people(full, "full", out);
}

template <class Map>
Result<std::map<std::string, std::string>> decode_texts(const Map& texts, const std::string& key) {
  std::size_t bytes = 0;
  std::map<std::string, std::string> out;
  for (const auto& [k, v] : texts) {
    bytes += k.size() + v.size();
    if (bytes > limits::kMaxAnnotationBytes) {
      return too_much(key + " bytes", bytes, limits::kMaxAnnotationBytes);
    }
    out.emplace(k, v);
  }
  return out;
}

}  // namespace

Result<void> check_name(const std::string& value, const std::string& key, bool may_be_empty) {
  if (value.empty() && !may_be_empty) return bad_field(key, "is missing");
  if (value.size() > limits::kMaxNameBytes) {
    return too_much(key + " bytes", value.size(), limits::kMaxNameBytes);
  }
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::any_of(value.begin(), value.end(), control))
    return bad_field(key, "has control characters");
  return {};
}

Result<void> check_sender(const v1::InventoryReport& m) {
  if (auto ok = check_name(m.node(), "node", false); !ok) return ok;
  if (!plain(m.node())) return bad_field("node", "may hold letters, digits, '-', '.' and '_' only");
  if (m.boot_id().empty()) return bad_field("boot_id", "is missing");
  if (m.boot_id().size() > kMaxBootIdBytes) {
    return too_much("boot_id bytes", m.boot_id().size(), kMaxBootIdBytes);
  }
  return {};
}

Result<InventoryReport> decode_report(const v1::InventoryReport& m) {
  if (auto ok = check_sender(m); !ok) return std::move(ok).error();
  InventoryReport out;
  out.node = m.node();
  out.boot_id = m.boot_id();
  out.sequence = m.sequence();
  Result<void> body;
  switch (m.body_case()) {
    case v1::InventoryReport::kFull:
      body = decode_full(m.full(), out);
      break;
    case v1::InventoryReport::kDelta:
      body = decode_delta(m.delta(), out);
      break;
    case v1::InventoryReport::kHeartbeat:
    case v1::InventoryReport::BODY_NOT_SET:
      return bad_field("body", "must be full, delta or heartbeat");
  }
  if (!body) return std::move(body).error();
  return out;
}

Result<PodKey> decode_key(const v1::PodKey& m) {
  if (auto ok = check_name(m.namespace_(), "pod.namespace", false); !ok) {
    return std::move(ok).error();
  }
  if (auto ok = check_name(m.name(), "pod.name", false); !ok) return std::move(ok).error();
  return PodKey{m.namespace_(), m.name()};
}

Result<PodRequest> decode_request(const v1::PodRequest& m, PodName name) {
  PodRequest out;
  if (name == PodName::required || m.has_pod()) {
    auto key = decode_key(m.pod());
    if (!key) return std::move(key).error().in("request");
    out.key = std::move(key).value();
  }
  if (auto ok = check_name(m.uid(), "request.uid", name == PodName::optional); !ok) {
    return std::move(ok).error();
  }
  if (auto ok = check_name(m.resource(), "request.resource", false); !ok)
    return std::move(ok).error();
  if (m.chips() < 1 || m.chips() > limits::kMaxChips) {
    return bad_field("request.chips", "is " + std::to_string(m.chips()) +
                                          ", must be between 1 and " +
                                          std::to_string(limits::kMaxChips));
  }
  out.uid = m.uid();
  out.resource = m.resource();
  out.chips = m.chips();
  out.distributed = m.distributed();
  if (m.has_group()) {
    if (auto ok = check_name(m.group().name(), "request.group.name", false); !ok) {
      return std::move(ok).error();
    }
    if (m.group().replicas() < 1 || m.group().replicas() > static_cast<int>(limits::kMaxPods)) {
      return bad_field("request.group.replicas",
                       "must be between 1 and " + std::to_string(limits::kMaxPods));
    }
    out.group = GroupRef{m.group().name(), m.group().replicas()};
  }
  auto labels = decode_texts(m.labels(), "request.labels");
  if (!labels) return std::move(labels).error();
  auto annotations = decode_texts(m.annotations(), "request.annotations");
  if (!annotations) return std::move(annotations).error();
  out.labels = std::move(labels).value();
  out.annotations = std::move(annotations).value();
  if (std::string wrong = read_wishes(out); !wrong.empty())
    return bad_field("request.annotations", wrong);
  return out;
}

Result<std::vector<std::string_view>> decode_nodes(
    const google::protobuf::RepeatedPtrField<std::string>& nodes) {
  const auto count = static_cast<std::size_t>(nodes.size());
  if (count > limits::kMaxNodes) return too_much("nodes", count, limits::kMaxNodes);
  return std::vector<std::string_view>(nodes.begin(), nodes.end());
}

v1::Outcome to_proto(ReportOutcome outcome) {
  switch (outcome) {
    case ReportOutcome::taken:
      return v1::OUTCOME_TAKEN;
    case ReportOutcome::older:
      return v1::OUTCOME_OLDER;
    case ReportOutcome::needs_full:
      return v1::OUTCOME_NEEDS_FULL;
    case ReportOutcome::no_room:
      return v1::OUTCOME_REFUSED;
  }
  return v1::OUTCOME_UNSPECIFIED;
}

}  // namespace chipweave::sched
