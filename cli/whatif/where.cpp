#include "cli/whatif/where.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "common/base/count_of.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/domain/vendor.hpp"

namespace chipweave::cli {
namespace {

domain::ChipSet chips_of(const Seat& seat) {
  domain::ChipSet out;
  for (const domain::ChipSet part : seat.parts) out |= part;
  return out;
}

// A single chip has no bandwidth.
std::string figure(double gbps) { return gbps > 0 ? gbps_text(gbps) : "-"; }

void write_seat(JsonWriter& w, const ClusterModel& model, const Seat& seat) {
  w.field("node", model.nodes()[seat.node].name);
  w.key("chips").integers(model.indices(seat.node, chips_of(seat)));
  w.key("gbps").number(seat.gbps).key("best_gbps").number(seat.best_gbps);
  w.key("left").integers(model.indices(seat.node, seat.left));
}

void write_rejected(JsonWriter& w, const ClusterModel& model, const Outlook& outlook) {
  w.key("rejected").begin_array();
  for (const auto& [reason, nodes] : outlook.rejected) {
    std::vector<std::string> names;
    for (const std::size_t node : nodes) names.push_back(model.nodes()[node].name);
    w.begin_object().field("reason", reason).key("nodes").strings(names).end_object();
  }
  w.end_array();
}

}  // namespace

Places find_places(ClusterModel model, const PodNeed& need, int pods) {
  Places out{.need = need, .pods = pods, .seats = {}, .outlook = {}};
  if (pods == 1) {
    out.outlook = model.outlook(need);
    out.seats = out.outlook.seats;
    return out;
  }
  for (int i = 0; i < pods; ++i) {
    auto seat = model.best(need);
    if (!seat) {
      out.outlook = model.outlook(need);
      break;
    }
    model.take(*seat, need);
    out.seats.push_back(*std::move(seat));
  }
  return out;
}

Result<std::string> resource_for(const ClusterModel& model, const std::string& named) {
  const std::vector<std::string> offered = model.resources();
  if (!named.empty()) {
    if (std::find(offered.begin(), offered.end(), named) != offered.end()) return named;
    const std::vector<std::string_view> known(offered.begin(), offered.end());
    return make_error(Errc::not_found, unknown_name("resource of the nodes", named, known))
        .in("--resource");
  }
  if (offered.empty())
    return make_error(Errc::not_found, "no node has reported chips; start chipweave-agent on one");
  // The usual name first, where chips have several.
  std::vector<std::string> names = domain::whole_chip_resources();
  names.insert(names.end(), offered.begin(), offered.end());
  const auto everywhere = [&](const std::string& name) {
    return std::all_of(
        model.nodes().begin(), model.nodes().end(), [&](const ClusterModel::Node& node) {
          return node.resources.empty() ||
                 std::binary_search(node.resources.begin(), node.resources.end(), name);
        });
  };
  const auto common = std::find_if(names.begin(), names.end(), everywhere);
  if (common != names.end()) return *common;
  return make_error(Errc::invalid_argument,
                    "required, because nodes offer several: " + joined(offered, ", "))
      .in("--resource");
}

std::string places_text(const ClusterModel& model, const Places& places, bool colours) {
  using Align = Table::Align;
  std::vector<Table::Column> columns{
      {"NODE"}, {"CHIPS"}, {"GB/s", Align::right}, {"BEST GB/s", Align::right}, {"LEFT"}};
  const bool several = places.pods > 1;
  if (several) columns.insert(columns.begin(), {"POD", Align::right});
  Table table(std::move(columns), several ? 1 : 0);
  std::size_t number = 0;
  for (const Seat& seat : places.seats) {
    std::vector<std::string> cells{
        model.nodes()[seat.node].name, chip_list(model.indices(seat.node, chips_of(seat))),
        figure(seat.gbps), figure(seat.best_gbps), chip_list(model.indices(seat.node, seat.left))};
    if (several) cells.insert(cells.begin(), std::to_string(++number));
    table.add(std::move(cells));
  }
  std::string out;
  if (!places.seats.empty()) out = table.text(colours);
  if (!several) return out + wrapped(places.outlook.summary(), 2) + "\n";
  out += std::to_string(places.seats.size()) + " of " + count_of(places.pods, "pod") +
         (places.seats.size() == 1 ? " fits" : " fit");
  if (places.all_fit()) return out + "\n";
  return out + "; for the next:\n" + wrapped(places.outlook.summary(), 2) + "\n";
}

std::string places_json(const ClusterModel& model, const Places& places) {
  JsonWriter w;
  w.begin_object().field("resource", places.need.resource);
  w.key("requested").integer(places.need.chips).key("pods").integer(places.pods);
  w.key("distributed").boolean(places.need.distributed).key("fits").boolean(places.all_fit());
  w.key(places.pods == 1 ? "nodes" : "placed").begin_array();
  for (const Seat& seat : places.seats) {
    w.begin_object();
    write_seat(w, model, seat);
    w.end_object();
  }
  w.end_array();
  const bool summarised = places.pods == 1 || !places.all_fit();
  w.field("summary", summarised ? places.outlook.summary() : "");
  write_rejected(w, model, places.outlook);
  return w.end_object().take() + "\n";
}

}  // namespace chipweave::cli
