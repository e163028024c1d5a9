// Arbitrary bytes → batch lines of `chipweave plan` and `chipweave rank`: no crash, what can be
// read is planned and ordered in bounded time, and answers are one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/codec/batch/batch.hpp"
#include "common/codec/gang/plan_codec.hpp"
#include "common/codec/gang/rank_codec.hpp"
#include "common/solver/gang/rank_order.hpp"
#include "tests/fuzz/read_back.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chipweave::codec;
  // a null pointer comes with size 0 only
  const std::string_view text(size == 0 ? "" : reinterpret_cast<const char*>(data), size);
  const auto one_line = [](const std::string& answer) {
    if (answer.find('\n') != std::string::npos) std::abort();
  };
  const PlanLine plan = parse_plan_line(text);
  require_words(plan.request);
  one_line(plan.request ? write_plan_answer(plan.id, *plan.request, {})
                        : write_batch_error(plan.id, plan.request.error()));
  const RankLine rank = parse_rank_line(text);
  require_words(rank.request);
  if (!rank.request) return 0;
  const std::size_t levels = rank.request->levels.size();
  RankAnswer answer;
  answer.order = chipweave::solver::depth_first(levels, rank.request->paths);
  answer.crossings = chipweave::solver::ring_crossings(levels, rank.request->paths, answer.order);
  answer.input_crossings = answer.crossings;
  one_line(write_rank_answer(rank.id, *rank.request, answer));
  return 0;
}
