#include "cli/plan/render_plan.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "common/base/count_of.hpp"

namespace chipweave::cli {
namespace {

// On a terminal. With these and the least that a path gets, a row has at most kMaxColumns.
constexpr std::size_t kMaxOfNode = 24;
constexpr std::size_t kMaxOfSet = 14;
constexpr std::size_t kMaxOfRanks = 18;
constexpr std::size_t kMaxOfChips = 16;

struct Row {
  domain::GangNodeId node = 0;
  int set = domain::kNoSet;
  std::vector<int> ranks;
  std::vector<int> chips;
};

std::vector<Row> rows_of(const domain::Plan& plan, const codec::PlanDetails& details) {
  std::vector<Row> out;
  std::map<std::pair<domain::GangNodeId, int>, std::size_t> places;
  for (std::size_t i = 0; i < plan.pods.size(); ++i) {
    const domain::PlannedPod& pod = plan.pods[i];
    const auto [at, fresh] = places.try_emplace({pod.node, pod.set}, out.size());
    if (fresh) out.push_back({pod.node, pod.set, {}, {}});
    Row& row = out[at->second];
    row.ranks.push_back(pod.rank);
    if (i >= details.chips.size()) continue;
    row.chips.insert(row.chips.end(), details.chips[i].begin(), details.chips[i].end());
  }
  for (Row& row : out) {
    std::sort(row.ranks.begin(), row.ranks.end());
    std::sort(row.chips.begin(), row.chips.end());
  }
  return out;
}

// "0-3,8-11", cut after a comma if it is long.
std::string short_list(const std::vector<int>& numbers, std::size_t most) {
  constexpr std::string_view kMore = "...";
  std::string out = chip_list(numbers);
  if (out.size() <= most) return out;
  out.resize(out.rfind(',', most - kMore.size() - 1) + 1);
  return out.append(kMore);
}

std::string by_level(const std::vector<std::string>& levels, const std::vector<int>& values) {
  std::string out;
  for (std::size_t i = 0; i < values.size(); ++i)
    out += (i == 0 ? "" : ", ") + levels[i] + " " + std::to_string(values[i]);
  return out;
}

// Pods of the gang that keep their nodes, and those that a repair moved.
struct Before {
  int stay = 0;
  int lost = 0;
};

Before before(const domain::Gang& gang) {
  Before out;
  for (const auto& [node, here] : gang.existing) {
    const bool failed = gang.failed && std::find(gang.failed->begin(), gang.failed->end(), node) !=
                                           gang.failed->end();
    (failed ? out.lost : out.stay) += here.pods;
  }
  return out;
}

std::string headline(const domain::Gang& gang, const domain::Plan& plan) {
  std::vector<domain::GangNodeId> nodes;
  for (const domain::PlannedPod& pod : plan.pods) nodes.push_back(pod.node);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  const Before ran = before(gang);
  const int asked = gang.failed ? ran.lost : gang.pods;
  const bool all = static_cast<std::size_t>(asked) == plan.pods.size();
  const std::string what = gang.failed ? "lost pod" : "pod";
  std::string out = "fits: ";
  out += all ? count_of(plan.pods.size(), what)
             : std::to_string(plan.pods.size()) + " of " +
                   count_of(static_cast<std::size_t>(asked), what);
  out += " on " + count_of(nodes.size(), "node");
  if (ran.stay > 0) out += ", beside " + std::to_string(ran.stay) + " that run";
  if (!all) out += "; at least " + std::to_string(gang.min_member) + " must run";
  return out;
}

std::string domains_line(const std::vector<std::string>& levels, const domain::Plan& plan) {
  std::string out = "domains: " + by_level(levels, plan.domains);
  if (plan.optimal) return out + " (proven the best)";
  out += " (not proven the best";
  if (!plan.bound.empty()) out += "; no plan has fewer than " + by_level(levels, plan.bound);
  return out + ")";
}

// The predicted bandwidth; empty: the request has too little information.
std::string bandwidth_line(const codec::PlanDetails& details) {
  std::string gbps;
  std::string limit;
  std::string left_out;
  for (const codec::PlanTerm& term : details.bandwidth) {
    if (term.name == "gbps" && term.gbps) gbps = gbps_text(*term.gbps);
    if (term.name == "limit") limit = term.text;
    if (term.name == "left_out") left_out = term.text;
  }
  if (gbps.empty()) return "";
  std::string out = left_out.empty() ? "bandwidth: " : "bandwidth: at most ";
  out += gbps + " GB/s predicted";
  if (!limit.empty()) out += ", limited by " + limit;
  if (!left_out.empty()) out += "; not known: " + left_out;
  return out;
}

// What the order of ranks costs for the communicators; empty: there are none.
std::string ranks_line(const codec::PlanDetails& details) {
  if (!details.ranks) return "";
  const codec::PlanRanks& ranks = *details.ranks;
  if (!ranks.refused.empty()) return "ranks: depth-first; " + ranks.refused;
  std::string out = "ranks: cost of the communicators " + std::to_string(ranks.weighted);
  if (ranks.weighted != ranks.depth_first_weighted)
    out += " (depth-first " + std::to_string(ranks.depth_first_weighted) + ")";
  return out + (ranks.optimal ? ", proven the least for these nodes" : ", not proven the least");
}

std::string node_table(const codec::PlanRequest& request, const std::vector<Row>& rows,
                       std::size_t columns_wide) {
  const auto most = [columns_wide](std::size_t on_terminal) {
    return columns_wide == kUnlimited ? kUnlimited : on_terminal;
  };
  const std::vector<domain::PodSet>& sets = request.gang.sets;
  const bool chips =
      std::any_of(rows.begin(), rows.end(), [](const Row& row) { return !row.chips.empty(); });
  std::vector<Table::Column> columns{{"NODE"}, {"PATH"}};
  if (!sets.empty()) columns.push_back({request.gang.roles ? "ROLE" : "SUBGROUP"});
  columns.push_back({"PODS", Table::Align::right});
  columns.push_back({"RANKS"});
  if (chips) columns.push_back({"CHIPS"});
  Table table(std::move(columns), 1);
  for (std::size_t i = 0; i < std::min(rows.size(), most(kMaxPlanRows)); ++i) {
    const Row& row = rows[i];
    const codec::PlanNode& node = request.nodes[row.node];
    const std::string path = codec::joined_path(node.path);
    std::vector<std::string> cells{shortened(node.name, most(kMaxOfNode)),
                                   path.empty() ? "-" : path};
    if (!sets.empty()) {
      const bool known = row.set != domain::kNoSet;
      cells.push_back(
          known ? shortened(sets[static_cast<std::size_t>(row.set)].name, most(kMaxOfSet)) : "-");
    }
    cells.push_back(std::to_string(row.ranks.size()));
    cells.push_back(short_list(row.ranks, most(kMaxOfRanks)));
    if (chips) cells.push_back(short_list(row.chips, most(kMaxOfChips)));
    table.add(std::move(cells));
  }
  return table.text(colour_wanted(), columns_wide);
}

}  // namespace

std::string render_plan(const codec::PlanRequest& request, const domain::Plan& plan,
                        const codec::PlanDetails& details, std::size_t columns) {
  std::string out;
  for (const std::string& line : {headline(request.gang, plan), domains_line(request.levels, plan),
                                  bandwidth_line(details), ranks_line(details), plan.reason}) {
    if (!line.empty()) out += wrapped(line, 2) + "\n";
  }
  const std::vector<Row> rows = rows_of(plan, details);
  out += "\n" + node_table(request, rows, columns);
  if (columns == kUnlimited || rows.size() <= kMaxPlanRows) return out;
  std::size_t pods = 0;
  for (std::size_t i = kMaxPlanRows; i < rows.size(); ++i) pods += rows[i].ranks.size();
  return out + count_of(rows.size() - kMaxPlanRows, "more row") + " with " + count_of(pods, "pod") +
         " left out: -o json has all\n";
}

}  // namespace chipweave::cli
