#include "common/codec/agent/probe_line.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/codec/agent/metrics_line.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/topology/import.hpp"
#include "common/codec/topology/topology_json_reader.hpp"

namespace chipweave::codec {
namespace {

using domain::ChipIndex;
using domain::Neighbour;
using domain::Observation;
using domain::Port;
using domain::Signal;
using domain::SignalKind;

constexpr std::size_t kMaxPorts = 4096;
constexpr std::size_t kMaxNeighbours = 256;
constexpr std::size_t kMaxFacts = 1024;
constexpr std::size_t kMaxWarnings = 256;
constexpr int kMaxPortNumber = 65'535;

constexpr std::array<std::pair<SignalKind, const char*>, 4> kKinds = {{
    {SignalKind::state, "state"},
    {SignalKind::event, "event"},
    {SignalKind::counter, "counter"},
    {SignalKind::reading, "reading"},
}};

// The driver, the usual one, is not written.
constexpr std::array<std::pair<domain::Basis, const char*>, 2> kBases = {{
    {domain::Basis::starting, "starting"},
    {domain::Basis::bus, "bus"},
}};

constexpr std::array<Errc, 8> kCodes = {
    Errc::invalid_argument, Errc::not_found,      Errc::conflict,    Errc::unavailable,
    Errc::deadline,         Errc::limit_exceeded, Errc::unsupported, Errc::internal};

// A text that may come from a broken library, cut to what readers accept.
std::string_view fact(std::string_view text) { return text.substr(0, limits::kMaxFactBytes); }

void write_chip(JsonWriter& w, const char* key, const std::optional<ChipIndex>& chip) {
  if (chip) w.key(key).integer(chip->value);
}

void write_fact(JsonWriter& w, const char* key, const std::string& text) {
  if (!text.empty()) w.field(key, fact(text));
}

void write_port(JsonWriter& w, const Port& port) {
  w.begin_object().key("chip").integer(port.chip.value).key("number").integer(port.number);
  write_chip(w, "peer", port.peer);
  if (!port.up) w.key("up").boolean(false);
  w.end_object();
}

void write_signal(JsonWriter& w, const Signal& signal) {
  w.begin_object();
  for (const auto& [kind, name] : kKinds) {
    if (kind == signal.kind) w.field("kind", name);
  }
  w.field("code", fact(signal.code));
  write_chip(w, "chip", signal.chip);
  if (signal.port) w.key("port").integer(*signal.port);
  write_fact(w, "nic", signal.nic);
  if (signal.value != 0) w.key("value").number(signal.value);
  write_fact(w, "text", signal.text);
  write_fact(w, "pci", signal.pci);
  w.end_object();
}

void write_neighbour(JsonWriter& w, const Neighbour& neighbour) {
  w.begin_object();
  write_fact(w, "nic", neighbour.nic);
  write_chip(w, "chip", neighbour.chip);
  write_fact(w, "system", neighbour.system);
  write_fact(w, "port", neighbour.port);
  write_fact(w, "address", neighbour.address);
  w.end_object();
}

template <class List, class Write>
void write_list(JsonWriter& w, const char* key, const List& list, Write write) {
  if (list.empty()) return;
  w.key(key).begin_array();
  for (const auto& item : list) write(w, item);
  w.end_array();
}

std::optional<ChipIndex> chip_at(const JsonObject& o, const char* key) {
  const auto index = o.integer(key, 0, limits::kMaxChipIndex);
  return index ? std::optional(ChipIndex{*index}) : std::nullopt;
}

Port read_port(JsonValue value, JsonProblems& problems) {
  const JsonObject o(value, {"chip", "number", "peer", "up"}, problems);
  Port out;
  out.chip.value = o.require_integer("chip", 0, limits::kMaxChipIndex).value_or(0);
  out.number = o.require_integer("number", 0, kMaxPortNumber).value_or(0);
  out.peer = chip_at(o, "peer");
  out.up = o.flag("up").value_or(true);
  return out;
}

Signal read_signal(JsonValue value, JsonProblems& problems) {
  const JsonObject o(value, {"kind", "code", "chip", "port", "nic", "value", "text", "pci"},
                     problems);
  Signal out;
  const std::string kind = o.require_text("kind").value_or("state");
  bool known = false;
  for (const auto& [of, name] : kKinds) {
    if (kind != name) continue;
    out.kind = of;
    known = true;
  }
  if (!known) o.problem("kind", "must be one of state, event, counter, reading");
  out.code = o.require_text("code").value_or("");
  if (o.has("code") && out.code.empty()) o.problem("code", "is empty");
  out.chip = chip_at(o, "chip");
  out.port = o.integer("port", 0, kMaxPortNumber);
  out.nic = o.text_or_empty("nic");
  out.value = o.number("value").value_or(0);
  out.text = o.text_or_empty("text");
  out.pci = o.text_or_empty("pci");
  return out;
}

Neighbour read_neighbour(JsonValue value, JsonProblems& problems) {
  const JsonObject o(value, {"nic", "chip", "system", "port", "address"}, problems);
  return {o.text_or_empty("nic"), chip_at(o, "chip"), o.text_or_empty("system"),
          o.text_or_empty("port"), o.text_or_empty("address")};
}

template <class T, class Read>
std::vector<T> read_list(const JsonObject& o, const char* key, std::size_t most, Read read) {
  std::vector<T> out;
  for (const JsonValue item : o.array(key, most)) out.push_back(read(item, o.problems()));
  return out;
}

std::map<std::string, std::string> read_facts(const JsonObject& o) {
  std::map<std::string, std::string> out;
  for (const JsonValue fact : o.map("facts", kMaxFacts)) {
    if (!fact.is_string()) o.problems().add(fact, expected("a string", fact));
    out.emplace(fact.name(), fact.text());
  }
  return out;
}

domain::Basis read_basis(const JsonObject& o) {
  const auto given = o.text("basis");
  if (!given) return domain::Basis::driver;
  for (const auto& [basis, name] : kBases) {
    if (*given == name) return basis;
  }
  o.problem("basis", "must be starting or bus");
  return domain::Basis::driver;
}

Result<ProbeLine> read_failure(JsonValue document) {
  JsonProblems problems;
  const JsonObject top(document, {"error"}, problems);
  const JsonObject o(top.find("error"), {"code", "message"}, problems);
  const std::string code = o.require_text("code").value_or("");
  Error out = make_error(Errc::internal, o.require_text("message").value_or(""));
  if (problems.any()) return problems.error();
  for (const Errc known : kCodes) {
    if (code == to_string(known)) out.code = known;
  }
  return ProbeLine(std::in_place_type<Error>, std::move(out));
}

Result<ProbeLine> read_events(JsonValue document) {
  JsonProblems problems;
  const JsonObject o(document, {"events"}, problems);
  ProbeEvents out{read_list<Signal>(o, "events", kMaxSignals, read_signal)};
  for (std::size_t i = 0; i < out.events.size(); ++i) {
    if (out.events[i].kind == SignalKind::event) continue;
    o.problem("events", "entry " + std::to_string(i) + " is not of kind event");
    break;
  }
  if (problems.any()) return problems.error();
  return ProbeLine(std::move(out));
}

Result<ProbeLine> read_measuring(JsonValue document) {
  JsonProblems problems;
  const JsonObject o(document, {"measuring"}, problems);
  if (o.flag("measuring") == false) o.problem("measuring", "must be true");
  if (problems.any()) return problems.error();
  return ProbeLine(ProbeMeasuring{});
}

Result<ProbeLine> read_sample(JsonValue document) {
  JsonProblems problems;
  domain::MetricsSample out = read_metrics(document, problems);
  if (problems.any()) return problems.error();
  return ProbeLine(std::move(out));
}

}  // namespace

std::string ProbeLineWriter::alive() { return "{\"alive\":true}\n"; }

std::string ProbeLineWriter::measuring() { return "{\"measuring\":true}\n"; }

std::string ProbeLineWriter::events(const std::vector<Signal>& events) {
  JsonWriter w;
  w.begin_object();
  write_list(w, "events", events, write_signal);
  w.end_object();
  return w.take() + "\n";
}

std::string ProbeLineWriter::failure(const Error& error) {
  JsonWriter w;
  w.begin_object().key("error").begin_object().field("code", to_string(error.code));
  w.field("message", fact(error.text())).end_object().end_object();
  return w.take() + "\n";
}

std::string ProbeLineWriter::metrics(const domain::MetricsSample& sample) {
  return metrics_line(sample);
}

std::string ProbeLineWriter::observation(const Observation& seen) {
  JsonWriter w;
  w.begin_object().field("machine", fact(seen.machine));
  std::string topology = export_topology_json(seen.topology);
  std::erase(topology, '\n');  // only between values: inside strings they are escaped
  if (topology != topology_) {
    w.key("topology").raw(topology);
    topology_ = std::move(topology);
  }
  write_list(w, "ports", seen.ports, write_port);
  write_list(w, "signals", seen.signals, write_signal);
  write_list(w, "neighbours", seen.neighbours, write_neighbour);
  write_list(w, "warnings", seen.warnings,
             [](JsonWriter& to, const std::string& text) { to.string(fact(text)); });
  w.key("facts").begin_object();
  for (const auto& [name, value] : seen.facts) w.field(name, fact(value));
  w.end_object();
  for (const auto& [basis, name] : kBases) {
    if (basis == seen.basis) w.field("basis", name);
  }
  w.end_object();
  return w.take() + "\n";
}

Result<ProbeLine> ProbeLineReader::read(std::string_view line) {
  if (line == "{\"alive\":true}") return ProbeLine(ProbeAlive{});
  auto document = parse_json(line, {kMaxProbeLineBytes, limits::kMaxJsonValues});
  if (!document) return std::move(document).error();
  const JsonValue root(*document);
  if (root["error"]) return read_failure(root);
  if (root["events"]) return read_events(root);
  if (root["measuring"]) return read_measuring(root);
  if (root["metrics"]) return read_sample(root);
  JsonProblems problems;
  const JsonObject o(
      root, {"machine", "topology", "ports", "signals", "neighbours", "facts", "warnings", "basis"},
      problems);
  if (!o) return problems.error();
  if (const JsonValue topology = o.find("topology")) {
    auto read = TopologyReader(ImportOptions{}).read(topology);
    if (!read) return std::move(read).error().in("topology");
    topology_ = std::move(read).value();
  }
  if (!topology_) o.problem("topology", "is missing, and no line before had one");
  std::string machine = o.require_text("machine").value_or("");
  auto warnings = o.texts("warnings", kMaxWarnings);
  auto ports = read_list<Port>(o, "ports", kMaxPorts, read_port);
  auto signals = read_list<Signal>(o, "signals", kMaxSignals, read_signal);
  auto neighbours = read_list<Neighbour>(o, "neighbours", kMaxNeighbours, read_neighbour);
  auto facts = read_facts(o);
  const domain::Basis basis = read_basis(o);
  if (problems.any()) return problems.error();
  return ProbeLine(Observation{std::move(machine), *topology_, std::move(warnings),
                               std::move(ports), std::move(signals), std::move(neighbours),
                               std::move(facts), basis});
}

}  // namespace chipweave::codec
