#include "common/codec/calibration/overlay_file.hpp"

#include <algorithm>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/text.hpp"
#include "common/codec/json/json_object.hpp"

namespace chipweave::codec {
namespace {

using domain::LinkKind;

constexpr std::string_view kFormat = "chipweave-profile-overlay/1";

void write_rates(JsonWriter& out, const OverlayFile& overlay, bool host) {
  out.begin_object();
  for (const OverlayRate& rate : overlay.rates) {
    if (domain::is_host_path(rate.kind) != host) continue;
    out.key(domain::to_string(rate.kind)).begin_object();
    out.key("gbps").decimal(rate.gbps).key("replaces").decimal(rate.replaces);
    out.field("points", rate.points).end_object();
  }
  out.end_object();
}

void write_logs(JsonWriter& out, const OverlayFile& overlay) {
  out.begin_array();
  for (const OverlayLog& log : overlay.logs) {
    out.begin_object().field("file", log.file).field("sha256", log.sha256);
    if (!log.date.empty()) out.field("date", log.date);
    if (!log.tool.empty()) out.field("tool", log.tool);
    if (!log.library.empty()) out.field("library", log.library);
    out.end_object();
  }
  out.end_array();
}

void write_points(JsonWriter& out, const OverlayFile& overlay) {
  out.begin_array();
  for (const OverlayPoint& point : overlay.points) {
    out.begin_object().field("log", point.log).field("line", point.line);
    out.field("collective", point.collective).key("chips").integers(point.chips);
    out.field("chips_from", point.chips_from).key("sizes").begin_array();
    for (const std::uint64_t size : point.sizes) out.integer(size);
    out.end_array().key("checked").boolean(point.checked);
    out.key("measured").decimal(point.measured).key("before").decimal(point.before);
    out.key("after").decimal(point.after).key("decided_by").strings(point.decided_by);
    out.key("used").boolean(point.used).end_object();
  }
  out.end_array();
}

// A rate with the constant that it replaces.
void read_rate(const JsonValue& member, LinkKind kind, double most, std::map<LinkKind, double>& to,
               JsonProblems& problems) {
  const JsonObject o(member, {"gbps", "replaces", "points"}, problems);
  if (!o) return;
  o.require("gbps");
  o.require("replaces");
  const auto gbps = o.number("gbps");
  const auto replaces = o.number("replaces");
  o.integer("points", 0, kMaxOverlayPoints);
  const std::string limit = std::to_string(static_cast<int>(most));
  if (gbps && !(*gbps > 0 && *gbps <= most))
    return o.problem("gbps", "must be above 0 and at most " + limit + " (GB/s)");
  if (replaces && !(*replaces > 0 && *replaces <= most))
    return o.problem("replaces", "must be above 0 and at most " + limit + " (GB/s)");
  if (!gbps || !replaces) return;
  if (!domain::change_is_possible(kind, *gbps / *replaces)) {
    return o.problem("gbps", std::string("must be between 0.5 and ") +
                                 (domain::is_host_path(kind) ? "2" : "1.25") +
                                 " times \"replaces\": beyond that the machine is described wrong, "
                                 "most often its number of lanes");
  }
  to[kind] = *gbps;
}

void read_rates(const JsonObject& top, bool host, domain::RateOverlay& out,
                JsonProblems& problems) {
  const std::string_view key = host ? "host_gbps" : "gbps_per_lane";
  const JsonValue rates = top.map(key, domain::kLinkKindCount);
  if (!rates) return;
  for (const JsonValue rate : rates) {
    const auto kind = domain::parse_link_kind(rate.name());
    const bool fits = kind && *kind != LinkKind::self && domain::is_host_path(*kind) == host;
    if (!fits) {
      problems.add(rate, host ? "unknown host path; known: BOARD, PIX, PXB, PHB, NODE, SYS"
                              : "unknown kind of link; known: NVLINK, NVSWITCH, XGMI, HCCS, SIO, "
                                "UB, METAXLINK");
      continue;
    }
    read_rate(rate, *kind, host ? domain::kMaxMeasuredHostPath : domain::kMaxMeasuredLane,
              host ? out.host : out.lanes, problems);
  }
}

// For people; types and names are checked so that a misspelt key is found.
void check_provenance(const JsonObject& top, JsonProblems& problems) {
  const JsonValue logs = top.array("logs", kMaxOverlayPoints);
  for (const JsonValue log : logs) {
    const JsonObject o(log, {"file", "sha256", "date", "tool", "library"}, problems);
    for (const char* key : {"file", "sha256", "date", "tool", "library"}) o.text(key);
  }
  for (const JsonValue point : top.array("points", kMaxOverlayPoints)) {
    const JsonObject o(point,
                       {"log", "line", "collective", "chips", "chips_from", "sizes", "checked",
                        "measured", "before", "after", "decided_by", "used"},
                       problems);
    if (!o) continue;
    const auto log = o.integer("log", 0, kMaxOverlayPoints);
    if (log && logs && *log >= logs.size()) o.problem("log", "\"logs\" has no such entry");
    for (const char* key : {"measured", "before", "after"}) {
      const auto gbps = o.number(key);
      if (gbps && !(*gbps >= 0 && *gbps <= limits::kMaxGbps))
        o.problem(key, "must be from 0 to 100000 (GB/s)");
    }
    o.text("collective");
    o.text("chips_from");
    o.flag("checked");
    o.flag("used");
  }
}

}  // namespace

std::string write_overlay(const OverlayFile& overlay) {
  JsonWriter out(2);
  out.begin_object().field("format", kFormat).field("vendor", overlay.vendor);
  out.key("models").strings(overlay.models);
  out.key("gbps_per_lane");
  write_rates(out, overlay, false);
  out.key("host_gbps");
  write_rates(out, overlay, true);
  out.field("made_by", overlay.made_by).field("machine", overlay.machine);
  out.key("logs");
  write_logs(out, overlay);
  out.key("points");
  write_points(out, overlay);
  return out.end_object().take() + "\n";
}

Result<domain::RateOverlay> read_overlay(std::string_view json, std::string name) {
  const Result<JsonTree> document = parse_json(json, {kMaxOverlayBytes, limits::kMaxJsonValues});
  if (!document) return document.error();
  JsonProblems problems{JsonValue(*document)};
  const JsonObject top(JsonValue(*document),
                       {"format", "vendor", "models", "gbps_per_lane", "host_gbps", "made_by",
                        "machine", "logs", "points"},
                       problems);
  if (!top) return problems.error();
  domain::RateOverlay out;
  out.name = std::move(name);
  if (const auto format = top.require_text("format"); format && *format != kFormat)
    top.problem("format", "expected \"" + std::string(kFormat) + "\"");
  out.vendor = top.require_text("vendor").value_or("");
  if (out.vendor.empty()) top.problem("vendor", "must not be empty");
  top.require("models");
  out.models = top.texts("models", kMaxOverlayModels);
  const bool unnamed = std::any_of(out.models.begin(), out.models.end(),
                                   [](const std::string& m) { return trim(m).empty(); });
  if (out.models.empty() || unnamed) top.problem("models", "must name at least one model");
  read_rates(top, false, out, problems);
  read_rates(top, true, out, problems);
  top.text("made_by");
  top.text("machine");
  check_provenance(top, problems);
  if (problems.any()) return problems.error();
  if (out.lanes.empty() && out.host.empty()) {
    return make_error(Errc::invalid_argument,
                      "gbps_per_lane and host_gbps are empty: the file replaces no constant");
  }
  return out;
}

}  // namespace chipweave::codec
