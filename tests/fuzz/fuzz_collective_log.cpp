// Arbitrary bytes → logs of nccl-tests and hccl_test: no crash, limits hold; what is accepted can
// be judged against a machine.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/codec/calibration/collective_log.hpp"
#include "common/domain/topology_builder.hpp"
#include "common/solver/calibration/run_check.hpp"
#include "tests/fuzz/read_back.hpp"

namespace {

using namespace chipweave;

const domain::NodeTopology& eight_chips() {
  static const domain::NodeTopology topology = [] {
    domain::TopologyBuilder builder;
    builder.vendor = "nvidia";
    builder.model = "A100-SXM4";
    std::vector<domain::TopologyBuilder::Port> ports;
    for (int i = 0; i < 8; ++i) {
      domain::Chip chip;
      chip.index = domain::ChipIndex{i};
      builder.add_chip(chip);
      ports.push_back({chip.index, 12, 0});
    }
    builder.add_switch("s", domain::LinkKind::nvswitch, ports);
    return std::move(builder).build().value();
  }();
  return topology;
}

void judge(const Result<std::vector<domain::CollectiveRun>>& runs) {
  codec::require_words(runs);
  if (!runs) return;
  codec::require(!runs->empty() && runs->size() <= codec::kMaxRunsOfLog);
  for (const domain::CollectiveRun& run : *runs) {
    codec::require(run.rows.size() <= codec::kMaxRowsOfRun);
    codec::require(run.devices.size() <= codec::kMaxRanksOfRun);
    for (const bool ring : {false, true}) {
      const solver::RunFacts facts{run.collective.empty() ? "all_reduce" : "", {}, ring};
      const auto measured = solver::measured_run(run, eight_chips(), facts);
      codec::require_words(measured);
      if (measured) codec::require(measured->busbw > 0 && !measured->sizes.empty());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // a null pointer comes with size 0 only
  const std::string_view text(size == 0 ? "" : reinterpret_cast<const char*>(data), size);
  judge(codec::read_nccl_tests(text));
  judge(codec::read_hccl_test(text));
  return 0;
}
