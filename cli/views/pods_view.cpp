#include "cli/views/pods_view.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/views/age_column.hpp"
#include "common/base/natural_order.hpp"

namespace chipweave::cli {
namespace {

std::string figure(double gbps) { return gbps > 0 ? gbps_text(gbps) : std::string("-"); }

bool comes_before(const codec::PodSummary& a, const codec::PodSummary& b) {
  if (a.ns != b.ns) return natural_less(a.ns, b.ns);
  return natural_less(a.name, b.name);
}

bool is_same(const codec::PodSummary& a, const codec::PodSummary& b) {
  const auto key = [](const codec::PodSummary& pod) {
    return std::tie(pod.state, pod.node, pod.chips, pod.gbps, pod.best_gbps, pod.created,
                    pod.node_stale);
  };
  // the time that an agent has been silent does not count
  return key(a) == key(b) && (a.node_stale || a.reason == b.reason);
}

}  // namespace

std::vector<codec::PodSummary> shown_pods(std::vector<codec::PodSummary> pods,
                                          const PodFilter& filter) {
  std::erase_if(pods, [&](const codec::PodSummary& pod) {
    return (!filter.ns.empty() && pod.ns != filter.ns) ||
           (filter.pending_only && !pod.node.empty());
  });
  std::sort(pods.begin(), pods.end(), comes_before);
  return pods;
}

std::string render_pods(const std::vector<codec::PodSummary>& pods, bool wide, bool colours,
                        std::chrono::system_clock::time_point now) {
  std::vector<Table::Column> columns{{"POD"},
                                     {"STATE"},
                                     {"NODE"},
                                     {"CHIPS"},
                                     {"GB/s", Table::Align::right},
                                     {"BEST GB/s", Table::Align::right},
                                     {"AGE"}};
  if (wide) {
    columns.insert(columns.end(), {{"RESOURCE"}, {"REQUESTED", Table::Align::right}, {"JOB"}});
    columns.push_back({"GANG"});
  }
  const std::size_t reason = columns.size();
  columns.push_back({"REASON"});
  Table table(std::move(columns), reason);
  for (const codec::PodSummary& pod : pods) {
    std::vector<std::string> cells{pod.ns + "/" + pod.name,    pod.state,
                                   or_dash(pod.node),          chip_list(pod.chips),
                                   figure(pod.gbps),           figure(pod.best_gbps),
                                   age_since(pod.created, now)};
    if (wide) {
      cells.insert(cells.end(), {or_dash(pod.resource), std::to_string(pod.requested),
                                 or_dash(pod.job), or_dash(pod.gang)});
    }
    cells.push_back(or_dash(pod.reason));
    const bool well = !pod.node.empty() && !pod.node_stale;
    table.add(std::move(cells), well ? Colour::none : Colour::yellow);
  }
  return table.text(colours);
}

std::vector<codec::PodSummary> changed_pods(const std::vector<codec::PodSummary>& before,
                                            const std::vector<codec::PodSummary>& now) {
  std::vector<codec::PodSummary> out;
  auto old = before.begin();
  for (const codec::PodSummary& pod : now) {
    for (; old != before.end() && comes_before(*old, pod); ++old) {
      out.push_back(*old);
      out.back().state = "gone";
    }
    const bool known = old != before.end() && !comes_before(pod, *old);
    if (!known || !is_same(*old, pod)) out.push_back(pod);
    if (known) ++old;
  }
  for (; old != before.end(); ++old) {
    out.push_back(*old);
    out.back().state = "gone";
  }
  return out;
}

}  // namespace chipweave::cli
