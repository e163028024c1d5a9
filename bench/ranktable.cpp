// ranktable — the cost of reading and checking a rank table compared with parsing its text, how
// memory grows with the file, and what the program costs as a whole process.
//
//   ranktable [CHIPWEAVE]   tables for docs/develop/benchmarks.md; with the path of the program
//                           also its start-up and a merge of 96 tables
#include <fmt/format.h>
#include <malloc.h>
#include <simdjson.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/codec/ranktable/lint/lint_text.hpp"
#include "common/codec/ranktable/rank_table.hpp"

namespace {

namespace codec = chipweave::codec::ranktable;
namespace domain = chipweave::domain::ranktable;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// The median of so many runs. prepare() makes the input of each run and is not timed.
template <class Prepare, class F>
double median_ms(int runs, Prepare&& prepare, F&& f) {
  std::vector<double> out;
  for (int i = 0; i < runs; ++i) {
    auto input = prepare();
    const auto begin = Clock::now();
    f(std::move(input));
    out.push_back(ms_since(begin));
  }
  std::nth_element(out.begin(), out.begin() + runs / 2, out.end());
  return out[static_cast<std::size_t>(runs / 2)];
}

template <class F>
double median_ms(int runs, F&& f) {
  return median_ms(
      runs, [] { return 0; }, [&](int) { f(); });
}

std::string address(int base, int n) {
  return fmt::format("{}.{}.{}.{}", base, n >> 16 & 255, n >> 8 & 255, n & 255);
}

domain::RankTable table_of(int ranks, bool super_pods) {
  domain::RankTable out;
  out.dialect = super_pods ? domain::Dialect::hccl_1_2 : domain::Dialect::hccl_1_0;
  out.version = super_pods ? "1.2" : "1.0";
  out.status = "completed";
  const int each = super_pods ? 16 : 8;
  auto& servers = out.groups.emplace_back().servers;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank % each == 0) {
      domain::Server& server = servers.emplace_back();
      server.server_id = address(10, rank / each + 1);
    }
    domain::Device& device = servers.back().devices.emplace_back();
    device.device_id = rank % each;
    device.device_ip = address(29, rank + 1);
    device.rank_id = rank;
    if (super_pods) {
      const std::int64_t chip = rank % each / 2;
      device.super_device_id = static_cast<std::int64_t>(rank / each % 48) << 22 | chip << 18 |
                               (rank % 2) << 16 | rank % each;
    }
  }
  out.count = static_cast<std::int64_t>(servers.size());
  if (!super_pods) return out;
  auto& pods = out.super_pods.emplace();
  for (std::size_t i = 0; i < servers.size(); ++i) {
    if (i % 48 == 0) pods.emplace_back().id = std::to_string(i / 48);
    pods.back().servers.push_back({{}, servers[i].server_id, {}});
  }
  return out;
}

void parsing(int ranks, bool super_pods, std::size_t indent) {
  const std::string text = codec::write_table(table_of(ranks, super_pods), indent);
  const int runs = ranks >= 100000 ? 11 : 51;
  simdjson::dom::parser parser;
  const simdjson::padded_string padded(text);
  const double floor = median_ms(runs, [&] { (void)parser.parse(padded).error(); });
  const double fresh = median_ms(runs, [&] {
    simdjson::dom::parser once;
    (void)once.parse(text).error();
  });
  // Like simdjson's own padded_string: a copy with spare capacity.
  const auto copy = [&] {
    std::string out;
    out.reserve(text.size() + simdjson::SIMDJSON_PADDING);
    return out += text;
  };
  const double tree = median_ms(
      runs, copy, [](std::string own) { (void)chipweave::codec::JsonTree::parse(std::move(own)); });
  const double lint = median_ms(runs, copy, [](std::string own) {
    if (!codec::lint_text(std::move(own), {}).findings.empty()) fmt::print("findings?\n");
  });
  const double nlohmann = median_ms(std::min(runs, 11), [&] {
    if (nlohmann::json::parse(text).empty()) fmt::print("empty?\n");
  });
  fmt::print("| {} {} | {} | {:.2f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.1f} | {:.2f} |\n",
             ranks, super_pods ? "1.2" : "1.0", indent, static_cast<double>(text.size()) / 1e6,
             floor, fresh, tree, lint, nlohmann, lint / floor);
}

// Peak memory of a process that lints the text, compared with one that only holds it.
double peak_mb(const std::string& text, bool lint) {
  const pid_t child = fork();
  if (child == 0) {
    if (lint) (void)codec::lint_text(text, {});
    _exit(0);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void memory(int ranks) {
  const std::string text = codec::write_table(table_of(ranks, false), 4);
  const double grown = peak_mb(text, true) - peak_mb(text, false);
  const double size = static_cast<double>(text.size()) / 1e6;
  fmt::print("| {} | {:.2f} | {:.1f} | {:.1f} |\n", ranks, size, grown, grown / size);
}

// Exit status and milliseconds of a process; its output is discarded.
double run_ms(const std::vector<std::string>& words, int wanted) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", 1, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);
  const auto begin = Clock::now();
  pid_t child = 0;
  if (posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ) != 0) return -1;
  int status = 0;
  waitpid(child, &status, 0);
  const double out = ms_since(begin);
  posix_spawn_file_actions_destroy(&actions);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != wanted) fmt::print("exit status {}\n", status);
  return out;
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// One machine's part of a ModelArts table.
domain::RankTable part_of(int machine) {
  domain::RankTable out;
  out.dialect = domain::Dialect::modelarts_global;
  out.version = "1.0";
  out.status = "completed";
  if (machine == 0) {
    domain::Group& scheduler = out.groups.emplace_back();
    scheduler.id = "0";
    scheduler.count = 1;
    domain::Server& server = scheduler.servers.emplace_back();
    server.server_id = server.server_ip = address(10, 1);
  }
  domain::Group& group = out.groups.emplace_back();
  group.id = machine % 2 == 0 ? "1" : "2";
  group.count = 1;
  domain::Server& server = group.servers.emplace_back();
  server.server_id = server.server_ip = address(10, machine + 1);
  for (int d = 0; d < 8; ++d) {
    domain::Device& device = server.devices.emplace_back();
    device.device_id = d;
    device.device_ip = address(29, machine * 8 + d + 1);
    device.rank_id = d;
  }
  return out;
}

void processes(const std::string& program) {
  constexpr int kMachines = 96;
  constexpr int kRuns = 31;
  const fs::path folder = fs::temp_directory_path() / fmt::format("chipweave-bench-{}", getpid());
  fs::create_directories(folder);
  const fs::path small = folder / "hccl.json";
  write(small, codec::write_table(table_of(16, false), 4));
  std::vector<std::string> merge = {program,      "ranktable",     "merge",
                                    "--save-dir", folder.string(), "--global-ranktable-list"};
  for (int i = 0; i < kMachines; ++i) {
    const fs::path file = folder / fmt::format("global_ranktable_{}.json", i);
    write(file, codec::write_table(part_of(i)));
    merge.push_back(file.string());
  }
  const std::string nothing = "/bin/true";
  fmt::print("\n| whole process | ms |\n|---|---:|\n");
  fmt::print("| /bin/true | {:.1f} |\n", median_ms(kRuns, [&] { run_ms({nothing}, 0); }));
  fmt::print("| lint of 16 ranks | {:.1f} |\n", median_ms(kRuns, [&] {
               run_ms({program, "ranktable", "lint", small.string()}, 0);
             }));
  fmt::print("| merge of 96 tables | {:.1f} |\n", median_ms(kRuns, [&] { run_ms(merge, 0); }));
  fs::remove_all(folder);
}

}  // namespace

int main(int argc, char** argv) {
  // Freed memory is kept, as simdjson's parser keeps its own: otherwise new pages from the kernel
  // would dominate every run. `memory` and whole processes are measured without this.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  fmt::print(
      "| ranks | indent | MB | simdjson DOM ms | with a fresh parser | tree with places | lint | "
      "nlohmann DOM | lint / simdjson |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n");
  for (const int ranks : {16, 1000, 10000, 100000}) {
    parsing(ranks, false, 4);
    parsing(ranks, true, 0);
  }
  parsing(10000, false, 0);
  parsing(10000, true, 4);
  fmt::print("\n| ranks | MB of text | MB while linting | a MB of text |\n|---|---:|---:|---:|\n");
  for (const int ranks : {10000, 100000, 200000}) memory(ranks);
  if (argc > 1) processes(argv[1]);
  return 0;
}
