#include "scheduler-plugin/server/network_log.hpp"

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/obs/log.hpp"

namespace chipweave::sched {
namespace {

void log_conflicts(const Network& network) {
  if (network.conflicts().empty()) {
    obs::log(obs::Level::info, "the sources of the network agree again");
    return;
  }
  const auto& [node, first] = *network.conflicts().begin();
  obs::log(obs::Level::warn, "sources of the network contradict each other",
           {{"nodes", network.conflicts().size()},
            {"node", node},
            {"level", printable(first.level)},
            {name_of(first.source), printable(first.element)},
            {name_of(first.other), printable(first.other_element)}});
}

}  // namespace

void NetworkLog::check(const Network& network) {
  if (!network.known()) return;  // it is only just being read
  const NetworkShape& shape = network.shape();
  if (shape.levels() != levels_) {
    levels_ = shape.levels();
    const auto source = shape.source();
    obs::log(obs::Level::info, "levels of the network",
             {{"levels", printable(joined(levels_, ", "))},
              {"source", source ? name_of(static_cast<NetworkSource>(*source)) : "none"},
              {"accelerators", name_of(shape.accelerators())}});
  }
  if (network.conflict_version() != conflicts_) {
    conflicts_ = network.conflict_version();
    log_conflicts(network);
  }
  for (const Network::SourceState& source : network.sources()) {
    std::string& known = problems_[source.source];
    if (source.problem == known) continue;
    known = source.problem;
    if (!known.empty()) {
      obs::log(obs::Level::warn, "a source of the network cannot be used",
               {{"source", name_of(source.source)}, {"problem", printable(known)}});
    }
  }
}

}  // namespace chipweave::sched
