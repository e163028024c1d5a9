#include "common/solver/vendor/vendor_rules.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

namespace chipweave::solver {
namespace {

using domain::AscendRequest;
using domain::AscendServer;
using domain::kNoLevel;
using domain::VendorJob;

constexpr int kDefaultSuperPodNodes = 48;
constexpr int kDefaultReserveNodes = 2;
constexpr int kMax950SuperPodNodes = 1024;
constexpr int kRackChips = 64;        // of a 950 super-pod
constexpr int kUbDomainChips = 1024;  // 16 racks
constexpr int kDieChips = 2;          // a module of A3 is two dies, each counted as a chip

Error wrong(const char* key, std::string message) {
  return make_error(Errc::invalid_argument, std::move(message)).in(key);
}

std::string text(std::int64_t number) { return std::to_string(number); }
std::string chips(std::int64_t number) { return text(number) + (number == 1 ? " chip" : " chips"); }
std::string nodes(std::int64_t number) { return text(number) + (number == 1 ? " node" : " nodes"); }

// The request with its defaults filled in.
struct SuperPodJob {
  AscendServer server = AscendServer::a3;
  int node_chips = 0;
  int super_pod_nodes = 0;
  int reserve_nodes = 0;
  int pods = 0;
  std::int64_t total = 0;     // chips
  std::int64_t sp_block = 0;  // chips
  bool sp_block_given = false;
  bool single() const { return pods == 1; }
};

AscendServer server_of(const AscendRequest& request) {
  const bool only_950 = request.ra_block.has_value() || request.ub_memory;
  return request.server.value_or(only_950 ? AscendServer::a5_950 : AscendServer::a3);
}

Result<SuperPodJob> with_defaults(const VendorJob& job, const AscendRequest& request) {
  SuperPodJob out;
  out.server = server_of(request);
  out.node_chips = request.node_chips.value_or(out.server == AscendServer::a3 ? 16 : 8);
  if (out.node_chips < 1) return wrong("ascend.node_chips", "must be at least 1");
  out.super_pod_nodes = request.super_pod_size.value_or(kDefaultSuperPodNodes);
  if (out.super_pod_nodes < 1) return wrong("ascend.super_pod_size", "must be at least 1 node");
  if (out.server == AscendServer::a5_950 && out.super_pod_nodes > kMax950SuperPodNodes)
    return wrong("ascend.super_pod_size", "must be at most " + nodes(kMax950SuperPodNodes) +
                                              " on a 950 super-pod, not " +
                                              text(out.super_pod_nodes));
  out.reserve_nodes =
      request.reserve_nodes.value_or(std::min(kDefaultReserveNodes, out.super_pod_nodes - 1));
  if (out.reserve_nodes < 0 || out.reserve_nodes >= out.super_pod_nodes)
    return wrong("ascend.reserve_nodes", "must be 0 to " + text(out.super_pod_nodes - 1) +
                                             ", less than the " + nodes(out.super_pod_nodes) +
                                             " of super_pod_size, not " + text(out.reserve_nodes));
  out.pods = job.pods;
  out.total = std::int64_t{job.pods} * job.chips_per_pod;
  out.sp_block_given = request.sp_block.has_value();
  out.sp_block = request.sp_block ? std::int64_t{*request.sp_block} : out.total;
  if (request.ra_block && out.server != AscendServer::a5_950)
    return wrong("ascend.ra_block", "only the racks of a 950 super-pod have it");
  if (request.ub_memory && out.server != AscendServer::a5_950)
    return wrong("ascend.ub_memory", "only a 950 super-pod has it");
  return out;
}

Result<void> check_pod_size(const SuperPodJob& job, int chips_per_pod) {
  if (!job.single()) {
    if (chips_per_pod == job.node_chips) return {};
    return wrong("chips_per_pod", "is " + text(chips_per_pod) +
                                      ": in a super-pod the pods of a job of several take whole "
                                      "nodes, " +
                                      chips(job.node_chips) + " each");
  }
  const bool halves_a_module = job.server == AscendServer::a3 && chips_per_pod % kDieChips != 0;
  if (chips_per_pod <= job.node_chips && (chips_per_pod == 1 || !halves_a_module)) return {};
  return wrong("chips_per_pod",
               "is " + text(chips_per_pod) + ": the only pod of a job may have " +
                   (job.server == AscendServer::a3 ? "1 or an even number of chips, " : "") +
                   "at most " + text(job.node_chips) + ", those of a node");
}

Result<void> check_sp_block(const SuperPodJob& job) {
  const std::string is =
      job.sp_block_given ? "is " + text(job.sp_block)
                         : "is not given, so the whole job is one block of " + chips(job.sp_block);
  const auto bad = [&](const std::string& why) {
    return wrong("ascend.sp_block", is + ": " + why);
  };
  if (job.sp_block < 1) return bad("must be at least 1 chip");
  const std::int64_t capacity = std::int64_t{job.super_pod_nodes} * job.node_chips;
  if (job.sp_block > capacity)
    return bad("a super-pod has " + chips(capacity) + " (" + nodes(job.super_pod_nodes) + " of " +
               text(job.node_chips) + ")");
  if (job.single()) {
    if (job.sp_block == job.total) return {};
    return bad("must equal the " + chips(job.total) + " of a job that is one pod");
  }
  if (job.sp_block % job.node_chips != 0)
    return bad("must be a multiple of the " + chips(job.node_chips) + " of a node");
  if (job.total % job.sp_block != 0)
    return bad("must divide the " + chips(job.total) + " of the job");
  return {};
}

Result<void> check_ra_block(const SuperPodJob& job, int ra_block) {
  const auto bad = [&](const std::string& why) {
    return wrong("ascend.ra_block", "is " + text(ra_block) + ": " + why);
  };
  if (ra_block < 1 || ra_block > kRackChips ||
      !std::has_single_bit(static_cast<std::uint32_t>(ra_block)))
    return bad("must be a power of two from 1 to " + text(kRackChips) + ", the chips of a rack");
  if (job.sp_block % ra_block != 0)
    return bad("must divide sp_block, which is " + text(job.sp_block));
  return {};
}

// The levels needed must exist, each inside the one before it.
Result<void> check_levels(const domain::VendorLevels& levels, const AscendRequest& request) {
  int above = levels.super_pod;
  const char* name_above = "super_pod_level";
  if (above == kNoLevel)
    return wrong("ascend.super_pod_level", "is missing: which level of the network is a super-pod");
  const auto next = [&](int level, const char* key, const char* name,
                        const char* what) -> Result<void> {
    if (level == kNoLevel)
      return wrong(key, std::string("is missing: which level of the network is ") + what);
    if (level <= above) return wrong(key, std::string("must be a finer level than ") + name_above);
    above = level;
    name_above = name;
    return {};
  };
  if (request.ub_memory) {
    if (auto ok = next(levels.ub_domain, "ascend.ub_level", "ub_level", "a UB memory domain"); !ok)
      return ok;
  }
  if (request.ra_block) {
    if (auto ok = next(levels.rack, "ascend.rack_level", "rack_level", "a rack"); !ok) return ok;
  }
  return {};
}

Result<void> add_super_pod(const VendorJob& job, const AscendRequest& request,
                           VendorConstraints& out) {
  const Result<SuperPodJob> filled = with_defaults(job, request);
  if (!filled) return filled.error();
  if (auto ok = check_levels(job.levels, request); !ok) return ok;
  if (auto ok = check_pod_size(*filled, job.chips_per_pod); !ok) return ok;
  if (auto ok = check_sp_block(*filled); !ok) return ok;
  if (request.ra_block) {
    if (auto ok = check_ra_block(*filled, *request.ra_block); !ok) return ok;
  }
  if (request.ub_memory && filled->total > kUbDomainChips)
    return wrong("ascend.ub_memory", "a UB memory domain is 16 racks, " + chips(kUbDomainChips) +
                                         "; the job has " + text(filled->total));
  out.whole_nodes = !filled->single();
  if (filled->reserve_nodes > 0)
    out.keep_spare = domain::Spare{job.levels.super_pod, filled->reserve_nodes};
  if (request.ub_memory) out.required_level = std::max(out.required_level, job.levels.ub_domain);
  if (!request.soft && filled->sp_block == filled->total)
    out.required_level = std::max(out.required_level, job.levels.super_pod);
  if (filled->single()) return {};
  const auto pods_of = [&](std::int64_t block) {
    return static_cast<int>(block / filled->node_chips);
  };
  out.slices.push_back({job.levels.super_pod, pods_of(filled->sp_block), request.soft});
  // A block of less than a node is inside one rack anyway.
  if (request.ra_block && pods_of(*request.ra_block) > 1)
    out.slices.push_back({job.levels.rack, pods_of(*request.ra_block), false});
  return {};
}

Result<void> add_nvlink(const VendorJob& job, const domain::NvlinkRequest& request,
                        VendorConstraints& out) {
  const int level = job.levels.nvlink;
  if (level == kNoLevel)
    return wrong("nvl_domain_level", "is missing: which level of the network is an NVLink domain");
  if (!request.segment) {
    out.required_level = std::max(out.required_level, level);
    return {};
  }
  if (*request.segment < 1) return wrong("nvl_segment", "must be at least 1 pod");
  if (job.pods % *request.segment != 0)
    return wrong("nvl_segment", "is " + text(*request.segment) + ": must divide the " +
                                    text(job.pods) + " pods of the job");
  out.slices.push_back({level, *request.segment, false});
  return {};
}

Result<void> add_tor(const VendorJob& job, const domain::TorRequest& request,
                     VendorConstraints& out) {
  if (request.schema == domain::TorSchema::none) return {};
  if (job.levels.leaf == kNoLevel)
    return wrong("tor.level", "is missing: which level of the network is a leaf switch");
  const bool filler =
      request.schema == domain::TorSchema::large_model && job.pods < domain::kFillerReplicas;
  if (filler || request.network == domain::TorNetwork::single_layer)
    out.required_level = std::max(out.required_level, job.levels.leaf);
  out.by_leaf_switch = true;
  return {};
}

// Combines two slices of one level; a soft one does not make a hard one stricter.
VendorSlice together(const VendorSlice& a, const VendorSlice& b) {
  if (a.soft != b.soft) return a.soft ? b : a;
  return {a.level, std::lcm(a.size, b.size), a.soft};
}

// Inside one required domain a slice of a coarser level only says how many pods form a whole, so it
// moves down.
Result<void> settle_slices(VendorConstraints& out) {
  for (VendorSlice& slice : out.slices) slice.level = std::max(slice.level, out.required_level);
  std::sort(out.slices.begin(), out.slices.end(),
            [](const VendorSlice& a, const VendorSlice& b) { return a.level < b.level; });
  std::vector<VendorSlice> merged;
  for (const VendorSlice& slice : out.slices) {
    if (!merged.empty() && merged.back().level == slice.level) {
      merged.back() = together(merged.back(), slice);
    } else {
      merged.push_back(slice);
    }
  }
  for (std::size_t i = 1; i < merged.size(); ++i) {
    if (merged[i - 1].size % merged[i].size == 0) continue;
    return wrong("nvl_segment", "blocks of " + text(merged[i].size) + " pods and of " +
                                    text(merged[i - 1].size) +
                                    " on a coarser level: the smaller "
                                    "must divide the larger");
  }
  out.slices = std::move(merged);
  return {};
}

}  // namespace

Result<VendorConstraints> vendor_constraints(const VendorJob& job) {
  if (job.pods < 1) return wrong("pods", "must be at least 1");
  if (job.ascend && job.chips_per_pod < 1) return wrong("chips_per_pod", "must be at least 1");
  VendorConstraints out;
  if (job.ascend) {
    if (auto ok = add_super_pod(job, *job.ascend, out); !ok) return std::move(ok).error();
  }
  if (job.nvlink) {
    if (auto ok = add_nvlink(job, *job.nvlink, out); !ok) return std::move(ok).error();
  }
  if (job.tor) {
    if (auto ok = add_tor(job, *job.tor, out); !ok) return std::move(ok).error();
  }
  if (auto ok = settle_slices(out); !ok) return std::move(ok).error();
  return out;
}

VendorConstraints without_soft_slices(VendorConstraints constraints) {
  std::erase_if(constraints.slices, [](const VendorSlice& slice) { return slice.soft; });
  return constraints;
}

}  // namespace chipweave::solver
