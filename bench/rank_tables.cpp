// rank_tables — from the last address of a job to its table: how long the scheduler's loop works on
// the table of a job whose last pod gets its address, by number of ranks. The floor is the text
// alone, written from the finished table. Ends with 1 if 10,000 ranks take longer than their
// target.
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/table_job.hpp"
#include "common/codec/ranktable/rank_table.hpp"
#include "tests/support/manual_clock.hpp"

namespace {

using namespace chipweave;
using namespace chipweave::sched;
using Steady = std::chrono::steady_clock;

constexpr int kRuns = 21;
constexpr double kTargetMs = 20;  // 10,000 ranks

double ms_since(Steady::time_point begin) {
  return std::chrono::duration<double, std::milli>(Steady::now() - begin).count();
}

class Text final : public RankTableListener {
 public:
  void job_table(const PublishedTable& table) override { last = table; }
  void job_table_gone(const std::string& /*ns*/, const std::string& /*job*/) override {}
  void deployment_table(const PublishedTable& /*table*/) override {}
  void deployment_table_gone(TableKind /*kind*/, const std::string& /*ns*/,
                             const std::string& /*id*/) override {}
  PublishedTable last;
};

// Milliseconds, or below 0 if there was no table.
double run(int pods) {
  const ManualClock clock;
  bench::TableJob job(clock, pods, 64U << 20U);
  Text text;
  job.tables.add(text);
  if (text.last.complete) {
    std::fputs("complete too early\n", stderr);
    return -1;
  }
  const auto begin = Steady::now();
  job.change(0);
  const double took = ms_since(begin);
  if (!text.last.complete) {
    std::fprintf(stderr, "no table: %s\n", text.last.problem.c_str());
    return -1;
  }
  auto table = codec::ranktable::parse_table(text.last.text);
  if (!table) return -1;
  std::vector<double> floors;
  for (int i = 0; i < kRuns; ++i) {
    const auto from = Steady::now();
    if (codec::ranktable::write_table(*table, 0).empty()) return -1;
    floors.push_back(ms_since(from));
  }
  std::vector<double> all{took};
  for (int i = 1; i < kRuns; ++i) {
    const auto from = Steady::now();
    job.change(i);
    all.push_back(ms_since(from));
  }
  const double out = bench::median(all);
  std::printf("| %d | %.2f | %.2f | %.2f | %.2f | %.1f |\n", pods * bench::kTableChips,
              static_cast<double>(text.last.text.size()) / 1e6, took, out, bench::median(floors),
              out / bench::median(floors));
  return out;
}

}  // namespace

int main() {
  std::puts("| ranks | MB | first ms | table ms | text alone ms | table / text |");
  std::puts("|---:|---:|---:|---:|---:|---:|");
  int code = 0;
  for (const int pods : {2, 125, 1250, 6250}) {
    const double took = run(pods);
    if (took < 0) return 2;
    if (pods == 1250 && took > kTargetMs) code = 1;
  }
  return code;
}
