#include "cli/ranktable/render_ring.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/text.hpp"

namespace chipweave::cli {

using codec::ranktable::LintedText;
using domain::ranktable::Device;
using domain::ranktable::LayeredRank;
using domain::ranktable::RankTable;
using solver::RingCrossing;
using solver::RingLevel;
using solver::TableRing;

namespace {

// Consecutive ranks on one host.
struct Run {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::size_t host = 0;
  std::vector<const Device*> devices;
  const RingCrossing* leaves = nullptr;  // the step after it, if it goes to another host
};

std::vector<Run> runs_of(const TableRing& ring) {
  std::map<std::int64_t, std::pair<std::size_t, const Device*>> by_rank;
  for (std::size_t h = 0; h < ring.hosts.size(); ++h) {
    for (const Device& device : ring.hosts[h].devices) by_rank[*device.rank_id] = {h, &device};
  }
  std::map<std::int64_t, const RingCrossing*> step_from;
  for (const RingCrossing& step : ring.steps) step_from[step.from_rank] = &step;
  std::vector<Run> out;
  for (const auto& [rank, seat] : by_rank) {
    if (out.empty() || out.back().leaves != nullptr) {
      out.push_back({rank, rank, seat.first, {}, nullptr});
    }
    Run& run = out.back();
    run.last = rank;
    run.devices.push_back(seat.second);
    const auto step = step_from.find(rank);
    if (step != step_from.end()) run.leaves = step->second;
  }
  return out;
}

std::string range_text(std::int64_t first, std::int64_t last) {
  return first == last ? std::to_string(first) : concat(first, "-", last);
}

std::string devices_text(const std::vector<const Device*>& devices) {
  std::vector<int> ids;
  ids.reserve(devices.size());
  for (const Device* device : devices)
    ids.push_back(static_cast<int>(device->device_id.value_or(-1)));
  return std::is_sorted(ids.begin(), ids.end()) ? chip_list(ids) : comma_list(ids);
}

std::string addresses_text(const std::vector<const Device*>& devices) {
  std::string first = devices.front()->device_ip.value_or("");
  if (devices.size() == 1) return first;
  return first + " .. " + devices.back()->device_ip.value_or("");
}

std::string path_text(const std::vector<std::string>& path) {
  std::string out;
  for (const std::string& element : path) {
    out += (out.empty() ? "" : "/") + (element.empty() ? std::string("?") : element);
  }
  return out;
}

std::string head_text(const LintedText& linted) {
  const RankTable& table = linted.table;
  return concat(to_string(table.dialect), ", status ", table.status.value_or("(none)"), ", ",
                table.rank_count(), " ranks");
}

std::string level_line(const RingLevel& level) {
  std::string out = concat(level.name, ": crossed ", level.crossings, " times, ");
  if (level.crossings == level.least) return out + "which is the minimum";
  return concat(out, level.least, " is the minimum");
}

std::string levels_text(const TableRing& ring, bool colours) {
  std::string out;
  for (const RingLevel& level : ring.levels) {
    out += painted(printable(level_line(level)),
                   level.crossings == level.least ? Colour::green : Colour::yellow, colours) +
           "\n";
  }
  return out;
}

void begin_table(JsonWriter& json, const LintedText& linted) {
  json.begin_object().field("dialect", to_string(linted.table.dialect));
  json.key("status");
  if (linted.table.status) {
    json.string(*linted.table.status);
  } else {
    json.raw("null");
  }
  json.field("ranks", linted.table.rank_count());
}

}  // namespace

std::string render_ring(const LintedText& linted, const TableRing& ring, bool colours) {
  std::string out = painted(head_text(linted), Colour::bold, colours) + "\n";
  Table table({{"RANKS", Table::Align::right},
               {"HOST"},
               {"DEVICES"},
               {"ADDRESSES"},
               {"WHERE"},
               {"THEN CROSSES"}},
              1);
  for (const Run& run : runs_of(ring)) {
    const auto& host = ring.hosts[run.host];
    const bool beyond_server = run.leaves != nullptr && run.leaves->level + 1 < ring.levels.size();
    table.add({range_text(run.first, run.last), printable(host.name), devices_text(run.devices),
               printable(addresses_text(run.devices)), printable(path_text(host.path)),
               run.leaves == nullptr ? "" : printable(ring.levels[run.leaves->level].name)},
              beyond_server ? Colour::yellow : Colour::none);
  }
  return out + table.text(colours) + levels_text(ring, colours);
}

std::string render_layered(const LintedText& linted, bool colours) {
  std::string out = painted(head_text(linted), Colour::bold, colours) + "\n";
  Table table({{"RANK", Table::Align::right},
               {"LOCAL", Table::Align::right},
               {"DEVICE", Table::Align::right},
               {"LAYERS"}},
              3);
  for (const LayeredRank& rank : linted.table.ranks) {
    std::string layers;
    for (const auto& layer : rank.layers) {
      layers +=
          concat((layers.empty() ? "" : ", "), layer.layer.value_or(-1), " ",
                 layer.instance_id.value_or("?"), " (", layer.addresses.size(), " addresses)");
    }
    const auto number = [](const domain::ranktable::Number& n) {
      return n ? std::to_string(*n) : std::string("?");
    };
    table.add(
        {number(rank.rank_id), number(rank.local_id), number(rank.device_id), printable(layers)});
  }
  return out + table.text(colours);
}

std::string ring_json(const LintedText& linted, const TableRing& ring) {
  JsonWriter json;
  begin_table(json, linted);
  json.key("levels").begin_array();
  for (const RingLevel& level : ring.levels) {
    json.begin_object().field("name", level.name).field("crossings", level.crossings);
    json.field("least", level.least).end_object();
  }
  json.end_array().key("ring").begin_array();
  for (const Run& run : runs_of(ring)) {
    json.begin_object().key("ranks").begin_array().integer(run.first).integer(run.last).end_array();
    json.field("host", ring.hosts[run.host].name);
    json.key("path").strings(ring.hosts[run.host].path);
    json.key("devices").begin_array();
    for (const Device* device : run.devices) json.integer(device->device_id.value_or(-1));
    json.end_array().key("crosses");
    if (run.leaves == nullptr) {
      json.raw("null");
    } else {
      json.string(ring.levels[run.leaves->level].name);
    }
    json.end_object();
  }
  json.end_array();
  std::vector<std::string> order;
  for (const std::size_t host : ring.order) order.push_back(ring.hosts[host].name);
  json.key("order").strings(order);
  json.key("unknown").strings(ring.unknown);
  json.end_object();
  return json.take() + "\n";
}

std::string layered_json(const LintedText& linted) {
  JsonWriter json;
  begin_table(json, linted);
  json.end_object();
  return json.take() + "\n";
}

std::string render_order(const TableRing& ring, bool colours) {
  std::string out = levels_text(ring, colours) + "order of hosts that crosses least:\n";
  std::int64_t next = 0;
  for (const std::size_t h : ring.order) {
    const auto& host = ring.hosts[h];
    const auto count = static_cast<std::int64_t>(host.devices.size());
    out += "  " + range_text(next, next + count - 1) + "\t" + printable(host.name) + "\t" +
           printable(path_text(host.path)) + "\n";
    next += count;
  }
  return out;
}

}  // namespace chipweave::cli
