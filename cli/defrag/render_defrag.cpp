#include "cli/defrag/render_defrag.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "common/base/count_of.hpp"
#include "common/base/text.hpp"

namespace chipweave::cli {
namespace {

constexpr std::size_t kMaxNodeColumn = 22;
constexpr std::size_t kMaxChipsColumn = 14;
constexpr std::size_t kNamedDomains = 8;

std::string level_name(const codec::DefragLineRequest& request) {
  return request.level == domain::kNoLevel
             ? "node"
             : request.network.levels[static_cast<std::size_t>(request.level)];
}

// "2 racks: b1/r1, b1/r2"; many are cut.
std::string named_domains(const codec::DefragLineRequest& request,
                          const std::vector<codec::FreedDomain>& domains) {
  std::string out = count_of(domains.size(), level_name(request)) + ": ";
  for (std::size_t i = 0; i < std::min(domains.size(), kNamedDomains); ++i) {
    const codec::FreedDomain& one = domains[i];
    const bool node = request.level == domain::kNoLevel;
    out += i == 0 ? "" : ", ";
    out += printable(node ? request.network.nodes[one.nodes.front()].name
                          : codec::joined_path(one.path));
  }
  return domains.size() > kNamedDomains ? out + ", ..." : out;
}

std::string moves_line(const codec::DefragLineRequest& request, const codec::DefragAnswer& answer) {
  std::string out = "moves " + count_of(answer.moves.size(), "pod") + " with " +
                    count_of(static_cast<std::size_t>(answer.chips_moved), "chip");
  if (!answer.gangs.empty()) out += " of " + count_of(answer.gangs.size(), "gang");
  if (answer.optimal) return out + " (proven the best)";
  out += " (not proven the best";
  if (answer.bound_domains && *answer.bound_domains > answer.free_after - answer.free_before)
    out += "; no plan frees more than " +
           count_of(static_cast<std::size_t>(*answer.bound_domains), level_name(request));
  else if (answer.bound_chips)
    out += "; no plan moves fewer than " +
           count_of(static_cast<std::size_t>(*answer.bound_chips), "chip");
  return out + ")";
}

std::string whole_nodes_line(const codec::DefragLineRequest& request,
                             const codec::DefragAnswer& answer) {
  std::string out = "largest gang of free nodes with " +
                    count_of(static_cast<std::size_t>(answer.whole_node_chips), "chip") +
                    " in one ";
  for (std::size_t i = 0; i < answer.whole_nodes_before.size(); ++i)
    out += concat((i == 0 ? "" : ", "), request.network.levels[i], " ",
                  answer.whole_nodes_before[i], " -> ", answer.whole_nodes_after[i]);
  return out;
}

std::string outlook_text(const codec::DefragLineRequest& request,
                         const codec::PlanOutcome& outlook) {
  if (!outlook.fits) return "does not fit (" + outlook.reason + ")";
  std::string out = "fits: " + count_of(static_cast<std::size_t>(outlook.placed), "pod") + " on";
  for (std::size_t i = 0; i < outlook.domains.size(); ++i)
    out += concat((i == 0 ? " " : ", "), request.network.levels[i], " ", outlook.domains[i]);
  if (outlook.gbps) out += ", " + gbps_text(*outlook.gbps) + " GB/s predicted";
  return out;
}

std::string rates(const codec::MoveEntry& move) {
  if (!move.gbps_before && !move.gbps_after) return "-";
  const auto text = [](const std::optional<double>& gbps) {
    return gbps ? gbps_text(*gbps) : std::string("-");
  };
  return text(move.gbps_before) + " -> " + text(move.gbps_after);
}

std::string move_table(const codec::DefragLineRequest& request,
                       const std::vector<codec::MoveEntry>& moves, std::size_t columns_wide) {
  const auto most = [columns_wide](std::size_t on_terminal) {
    return columns_wide == kUnlimited ? kUnlimited : on_terminal;
  };
  const auto any = [&moves](const auto& has) {
    return std::any_of(moves.begin(), moves.end(), has);
  };
  const bool gbps =
      any([](const codec::MoveEntry& move) { return move.gbps_before || move.gbps_after; });
  const bool steps = any([](const codec::MoveEntry& move) { return move.step > 1; });
  std::vector<Table::Column> columns{{"POD"}, {"FROM"}, {"TO"}, {"CHIPS"}};
  if (gbps) columns.push_back({"GB/S"});
  if (steps) columns.push_back({"STEP"});
  Table table(std::move(columns));
  for (std::size_t i = 0; i < std::min(moves.size(), most(kMaxMoveRows)); ++i) {
    const codec::MoveEntry& move = moves[i];
    std::vector<std::string> cells{
        request.pods[move.pod].name,
        shortened(request.network.nodes[move.from].name, most(kMaxNodeColumn)),
        shortened(request.network.nodes[move.to].name, most(kMaxNodeColumn)),
        move.chips ? shortened(chip_list(*move.chips), most(kMaxChipsColumn))
                   : std::to_string(request.pods[move.pod].chips)};
    if (gbps) cells.push_back(rates(move));
    if (steps)
      cells.push_back(std::to_string(move.step) + (move.stop_first ? ", stop it first" : ""));
    table.add(std::move(cells));
  }
  return table.text(colour_wanted(), columns_wide);
}

}  // namespace

std::string gang_outlook_line(const codec::DefragLineRequest& request,
                              const codec::DefragAnswer& answer) {
  if (!answer.gang_before || !answer.gang_after) return "";
  return "gang before: " + outlook_text(request, *answer.gang_before) +
         "; after: " + outlook_text(request, *answer.gang_after);
}

std::string render_defrag(const codec::DefragLineRequest& request,
                          const codec::DefragAnswer& answer, std::size_t columns) {
  std::string out;
  std::string uses;
  if (!answer.used_up.empty()) uses = "uses up " + named_domains(request, answer.used_up);
  for (const std::string& line :
       {"frees " + named_domains(request, answer.freed), uses,
        concat("free: ", answer.free_before, " before, ", answer.free_after, " after"),
        whole_nodes_line(request, answer), gang_outlook_line(request, answer),
        moves_line(request, answer)}) {
    if (!line.empty()) out += wrapped(line, 2) + "\n";
  }
  out += "\n" + move_table(request, answer.moves, columns);
  if (columns == kUnlimited || answer.moves.size() <= kMaxMoveRows) return out;
  return out + count_of(answer.moves.size() - kMaxMoveRows, "more move") +
         " left out: -o json has all\n";
}

}  // namespace chipweave::cli
