#include "cli/calibrate/calibration.hpp"

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "common/codec/calibration/collective_log.hpp"
#include "common/http/sha256.hpp"
#include "common/solver/calibration/fit.hpp"

namespace chipweave::cli {
namespace {

std::string hex_digits(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    out += kDigits[value >> 4U];
    out += kDigits[value & 15U];
  }
  return out;
}

struct Measurement {
  std::size_t log = 0;
  std::size_t line = 0;
  solver::MeasuredRun run;
};

// The points of all logs. Errors: every refused log with its reason.
Result<std::vector<Measurement>> measurements(const std::vector<ParsedLog>& logs,
                                              const domain::NodeTopology& topology,
                                              const solver::RunFacts& facts) {
  std::vector<Measurement> out;
  std::vector<std::string> refusals;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const auto refuse = [&](Error why) {
      refusals.push_back(std::move(why).in("file " + logs[i].file).text());
    };
    if (Result<void> ok = solver::check_one_rank_count(logs[i].runs); !ok) {
      refuse(std::move(ok).error());
      continue;
    }
    for (const domain::CollectiveRun& run : logs[i].runs) {
      Result<solver::MeasuredRun> measured = solver::measured_run(run, topology, facts);
      if (measured) {
        out.push_back({i, run.line, *std::move(measured)});
      } else {
        refuse(std::move(measured).error());
      }
    }
  }
  if (!refusals.empty()) return make_error(Errc::invalid_argument, joined(refusals, "\n"));
  std::vector<solver::MeasuredRun> runs;
  runs.reserve(out.size());
  for (const Measurement& m : out) runs.push_back(m.run);
  if (Result<void> ok = solver::check_repeated(runs, topology); !ok) return std::move(ok).error();
  return out;
}

// The machine's model, and what the logs call its devices: agents report one or the other.
std::vector<std::string> models_of(const std::vector<ParsedLog>& logs,
                                   const domain::NodeTopology& topology) {
  std::vector<std::string> models;
  const auto add = [&models](const std::string& name) {
    if (name.empty() || models.size() == codec::kMaxOverlayModels) return;
    if (std::find(models.begin(), models.end(), name) == models.end()) models.push_back(name);
  };
  add(topology.model());
  for (const ParsedLog& log : logs) {
    for (const domain::CollectiveRun& run : log.runs) {
      for (const domain::CollectiveRank& rank : run.devices) add(rank.name);
    }
  }
  return models;
}

codec::OverlayLog provenance(const ParsedLog& log) {
  codec::OverlayLog out{log.file, log.sha256, "", "", ""};
  for (const domain::CollectiveRun& run : log.runs) {
    if (out.date.empty()) out.date = run.date;
    if (out.tool.empty()) out.tool = run.tool;
    if (out.library.empty()) out.library = run.library;
  }
  return out;
}

codec::OverlayPoint point_of(const Measurement& m, const solver::FittedPoint& fitted,
                             const domain::NodeTopology& topology) {
  codec::OverlayPoint out;
  out.log = m.log;
  out.line = m.line;
  out.collective = m.run.collective;
  out.chips = topology.indices(m.run.chips);
  out.chips_from = m.run.chips_from;
  out.sizes = m.run.sizes;
  out.checked = m.run.checked;
  out.measured = m.run.busbw;
  out.before = fitted.before;
  out.after = fitted.after;
  for (const domain::LinkKind kind : fitted.decided_by)
    out.decided_by.emplace_back(domain::to_string(kind));
  out.used = fitted.used();
  return out;
}

}  // namespace

Result<ParsedLog> parse_log(LogFormat format, const LogText& log) {
  auto runs = format == LogFormat::hccl_test ? codec::read_hccl_test(log.content)
                                             : codec::read_nccl_tests(log.content);
  if (!runs) return std::move(runs).error().in("file " + log.file);
  return ParsedLog{log.file, hex_digits(http::sha256(log.content)), *std::move(runs)};
}

Result<codec::OverlayFile> calibrate(const std::vector<ParsedLog>& logs,
                                     const domain::NodeTopology& topology,
                                     const std::string& machine, const solver::RunFacts& facts) {
  if (topology.vendor().empty() || topology.model().empty()) {
    return make_error(Errc::invalid_argument,
                      "the machine's description names no vendor or no model, so that no node "
                      "could be matched: add both");
  }
  const auto measured = measurements(logs, topology, facts);
  if (!measured) return Error(measured.error());
  std::vector<solver::CalibrationPoint> points;
  for (const Measurement& m : *measured) points.push_back({m.run.chips, m.run.busbw});
  const Result<solver::Fit> fit = solver::fit_rates(topology, points);
  if (!fit) return Error(fit.error());
  codec::OverlayFile out;
  out.vendor = topology.vendor();
  out.models = models_of(logs, topology);
  out.machine = machine;
  for (const solver::FittedRate& rate : fit->rates)
    out.rates.push_back({rate.kind, rate.after, rate.before, rate.points});
  for (const ParsedLog& log : logs) out.logs.push_back(provenance(log));
  for (std::size_t i = 0; i < measured->size(); ++i)
    out.points.push_back(point_of((*measured)[i], fit->points[i], topology));
  return out;
}

}  // namespace chipweave::cli
