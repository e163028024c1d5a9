// Small networks and gangs for tests of the replay of gangs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/solver/simulate/gangs/gang_replay.hpp"

namespace chipweave::simulate::test {

inline const std::vector<std::string> kLevels = {"block", "rack"};

// Nodes b0/r0/b0-r0-n0 and so on, with so many chips each.
inline solver::Fabric fabric(int blocks, int racks, int nodes, int chips = 8) {
  solver::Fabric out(kLevels.size());
  for (int b = 0; b < blocks; ++b) {
    for (int r = 0; r < racks; ++r) {
      const std::string block = "b" + std::to_string(b);
      const std::string rack = "r" + std::to_string(r);
      for (int n = 0; n < nodes; ++n) {
        const auto id =
            out.add(block + "-" + rack + "-n" + std::to_string(n), {block, rack}).value();
        out.set_free(id, chips);
      }
    }
  }
  return out;
}

inline domain::TraceGang gang(int pods, int chips, double arrival_s = 0, double duration_s = 1) {
  domain::TraceGang out;
  out.name = std::to_string(pods) + "x" + std::to_string(chips);
  out.pods = pods;
  out.chips = chips;
  out.arrival_s = arrival_s;
  out.duration_s = duration_s;
  return out;
}

// Answers of another placer, kept in the order in which gangs started.
class Recorder : public GangPlacer {
 public:
  explicit Recorder(GangPlacer& placer) : placer_(placer) {}
  Result<std::optional<GangSeats>> place(const solver::Fabric& on,
                                         const domain::TraceGang& gang) override {
    ++asked;
    auto seats = placer_.place(on, gang);
    if (seats && *seats) started.push_back(**seats);
    return seats;
  }

  std::vector<GangSeats> started;
  int asked = 0;

 private:
  GangPlacer& placer_;
};

inline std::unique_ptr<GangPlacer> placer(std::string_view name) {
  for (const NamedGangPlacer& one : gang_placers()) {
    if (one.name == name) return one.make(kLevels);
  }
  return nullptr;
}

inline Result<GangReplayed> replayed(const std::vector<domain::TraceGang>& gangs,
                                     const solver::Fabric& cluster, GangPlacer& by,
                                     double patience_s = 0) {
  const std::vector<AloneGang> alone = alone_gangs(gangs, cluster, kLevels);
  GangReplayOptions options;
  options.patience_s = patience_s;
  return replay_gangs({gangs, alone, cluster}, by, options);
}

}  // namespace chipweave::simulate::test
