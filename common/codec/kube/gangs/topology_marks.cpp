// Topology requests of labels and annotations, of every framework.
#include "common/base/text.hpp"
#include "common/codec/kube/gangs/gang_reading.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

using domain::TopologyWish;
using Reader = void (*)(const Marks&, TopologyWish&);

std::string_view value_of(const StringMap& map, std::string_view key) {
  const auto found = map.find(key);
  return found == map.end() ? std::string_view() : std::string_view(found->second);
}

TopologyWish read_all(const Marks& marks, std::initializer_list<Reader> readers) {
  TopologyWish out;
  for (const Reader read : readers) {
    TopologyWish one;
    read(marks, one);
    add_missing(out, one);
  }
  return out;
}

std::string_view own(const Marks& marks, std::string_view key) {
  const std::string_view label = marks.label(key);
  return label.empty() ? marks.annotation(key) : label;
}

}  // namespace

std::string_view Marks::label(std::string_view key) const { return value_of(labels, key); }
std::string_view Marks::annotation(std::string_view key) const {
  return value_of(annotations, key);
}

std::optional<int> Marks::number(std::string_view key, int most, TopologyWish& to) const {
  if (!has(key)) return std::nullopt;
  const std::string_view text = annotation(key);
  const auto number = parse_number<int>(text);
  if (number && *number >= 1 && *number <= most) return number;
  note_problem(to, key, text, "expected a number from 1 to " + std::to_string(most));
  return std::nullopt;
}

void note_problem(TopologyWish& to, std::string_view key, std::string_view value,
                  std::string_view wanted) {
  if (!to.problem.empty()) return;
  to.problem = std::string(key) + " is " + quoted_excerpt(value) + "; " + std::string(wanted);
}

// For pods of any controller, or of none.
void own_topology(const Marks& marks, TopologyWish& to) {
  constexpr std::string_view kSlice = "chipweave.dev/gang-slice";
  constexpr std::string_view kPolicy = "chipweave.dev/gang-policy";
  if (const auto level = own(marks, "chipweave.dev/gang-required-level"); !level.empty())
    to.required.emplace_back(level);
  if (const auto level = own(marks, "chipweave.dev/gang-preferred-level"); !level.empty())
    to.preferred.emplace_back(level);
  if (const auto policy = own(marks, kPolicy); policy == "even")
    to.even = true;
  else if (!policy.empty() && policy != "compact")
    note_problem(to, kPolicy, policy, "expected compact or even");
  const std::string_view slices = own(marks, kSlice);
  if (slices.empty()) return;
  for (const std::string_view item : split(slices, ',')) {
    const std::size_t at = item.rfind('=');
    const std::string_view level = trim(item.substr(0, at));
    const auto size = at == std::string_view::npos ? std::optional<int>()
                                                   : parse_number<int>(trim(item.substr(at + 1)));
    if (level.empty() || !size || *size < 1 || *size > limits::kMaxGangPods ||
        to.slices.size() == limits::kMaxNetworkLevels)
      return note_problem(to, kSlice, slices, "expected LEVEL=PODS, separated by commas");
    to.slices.push_back({std::string(level), *size});
  }
}

TopologyWish topology_of_pod(const StringMap& labels, const StringMap& annotations) {
  return read_all({labels, annotations},
                  {own_topology, volcano_topology, koordinator_topology, kueue_topology,
                   kai_topology, lws_topology, ascend_topology});
}

// Kueue reads its annotations on pod templates only.
TopologyWish topology_of_object(const StringMap& labels, const StringMap& annotations) {
  return read_all({labels, annotations}, {own_topology, volcano_topology, koordinator_topology,
                                          kai_topology, ascend_topology});
}

}  // namespace chipweave::codec
