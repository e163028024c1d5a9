// Pods, nodes, annotations and tables of ModelArts jobs.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/codec/ranktable/modelarts/device_report.hpp"
#include "common/codec/ranktable/modelarts/job_pods.hpp"
#include "common/codec/ranktable/modelarts/job_table.hpp"
#include "common/codec/ranktable/modelarts/route_file.hpp"
#include "common/codec/ranktable/rank_table.hpp"
#include "tests/fuzz/read_back.hpp"

namespace {

namespace codec = chipweave::codec;
using codec::require;
using codec::require_words;

void check_report(std::string_view text) {
  const auto report = codec::parse_device_report(text);
  require_words(report);
  if (!report) return;
  const auto again = codec::parse_device_report(codec::write_rank_table_annotation(*report));
  require(again.ok() && again->devices.size() == report->devices.size());
}

void check_job(std::string_view text) {
  auto job = codec::read_job_pods(text, {});
  require_words(job);
  const auto nodes = codec::read_route_nodes(text);
  require_words(nodes);
  if (!job) return;
  if (nodes) codec::add_node_switches(*job, *nodes);
  const auto tables = codec::make_job_tables(*job, {}, nullptr);
  require_words(tables);
  if (!tables || !codec::is_completed(tables->ranks)) return;
  require(codec::read_job_table(codec::ranktable::write_table(tables->ranks)).ok());
  // Making the tables again changes nothing.
  const auto again = codec::make_job_tables(*job, {}, &tables->ranks);
  require(again.ok() && again->ranks == tables->ranks);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 4) {
    case 0:
      check_report(text);
      break;
    case 1:
      require_words(codec::read_route_plan(text));
      break;
    case 2:
      require_words(codec::read_job_table(text));
      break;
    default:
      check_job(text);
      break;
  }
  return 0;
}
