// gang_replay — the same jobs on the same network, placed by the policies of `simulate` and by
// other programs: a Markdown table for docs/develop/gang-replay.md.
//
//   gang_replay [--shape 4x8x20] [--chips 8] [--gangs 2000] [--smallest 8] [--largest 512]
//               [--loads 70,90,110] [--seeds 1,2,3] [--patience 0] [--required L | --preferred L]
//               [--peer NAME='PROGRAM ARGS']…
//
// shape: blocks, racks in a block, nodes in a rack; levels block, rack, hostname. Jobs are powers
// of two of chips, all equally likely, in pods of a node's chips, and run an hour on average. A
// peer reads lines of `chipweave plan --batch` and answers each with one line.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/gang_replay/peer_placer.hpp"
#include "common/base/text.hpp"
#include "common/solver/simulate/gangs/gang_arrivals.hpp"
#include "common/solver/simulate/gangs/gang_summary.hpp"

namespace {

using namespace chipweave;
using simulate::GangSummary;

constexpr double kMeanDuration = 3600;
constexpr std::chrono::seconds kAnswerTime{60};
const std::vector<std::string> kLevels = {"block", "rack", "hostname"};

struct Settings {
  std::vector<int> shape = {4, 8, 20};
  int chips = 8;
  int gangs = 2000;
  int smallest = 8;
  int largest = 512;
  std::vector<int> loads = {70, 90, 110};  // percent
  std::vector<int> seeds = {1, 2, 3};
  int patience = 0;
  std::string required, preferred;
  std::vector<std::pair<std::string, std::vector<std::string>>> peers;
};

std::optional<std::vector<int>> numbers(const std::string& text, char separator) {
  std::vector<int> out;
  for (const std::string_view item : split(text, separator)) {
    const auto number = parse_number<int>(item);
    if (!number || *number <= 0) return std::nullopt;
    out.push_back(*number);
  }
  return out;
}

bool read_flag(Settings& settings, const std::string& flag, const std::string& value) {
  const std::map<std::string, std::vector<int>*> lists = {
      {"--loads", &settings.loads}, {"--seeds", &settings.seeds}, {"--shape", &settings.shape}};
  const std::map<std::string, int*> single = {{"--chips", &settings.chips},
                                              {"--gangs", &settings.gangs},
                                              {"--smallest", &settings.smallest},
                                              {"--largest", &settings.largest},
                                              {"--patience", &settings.patience}};
  if (const auto list = lists.find(flag); list != lists.end()) {
    const auto read = numbers(value, flag == "--shape" ? 'x' : ',');
    if (read) *list->second = *read;
    return read.has_value();
  }
  if (const auto one = single.find(flag); one != single.end()) {
    const auto read = parse_number<int>(value);
    if (read) *one->second = *read;
    return read && *read >= 0;
  }
  const std::size_t equals = value.find('=');
  if (flag == "--peer" && equals != std::string::npos) {
    const std::string command = value.substr(equals + 1);
    std::vector<std::string> words;
    for (const std::string_view word : split(command, ' '))
      if (!word.empty()) words.emplace_back(word);
    settings.peers.emplace_back(value.substr(0, equals), std::move(words));
    return !settings.peers.back().second.empty();
  }
  if (flag == "--required") settings.required = value;
  if (flag == "--preferred") settings.preferred = value;
  const bool level = std::find(kLevels.begin(), kLevels.end(), value) != kLevels.end();
  return level && (flag == "--required" || flag == "--preferred");
}

int level_number(const std::string& name) {
  const auto at = std::find(kLevels.begin(), kLevels.end(), name);
  return at == kLevels.end() ? domain::kNoLevel : static_cast<int>(at - kLevels.begin());
}

solver::Fabric fabric_of(const Settings& settings) {
  solver::Fabric out(kLevels.size());
  for (int block = 0; block < settings.shape[0]; ++block) {
    for (int rack = 0; rack < settings.shape[1]; ++rack) {
      for (int node = 0; node < settings.shape[2]; ++node) {
        const std::string name = fmt::format("b{}-r{}-n{}", block, rack, node);
        const auto id = out.add(name, {fmt::format("b{}", block), fmt::format("r{}", rack), name});
        out.set_free(id.value(), settings.chips);
      }
    }
  }
  return out;
}

std::vector<domain::TraceGang> jobs_of(const Settings& settings, int load, int seed,
                                       std::int64_t chips) {
  simulate::RandomNumbers random(static_cast<std::uint64_t>(seed));
  auto gangs = simulate::drawn_gangs(
      {simulate::GangSizes::powers_of_two, settings.smallest, settings.largest, settings.chips},
      static_cast<std::size_t>(settings.gangs), random);
  simulate::draw_durations(gangs, kMeanDuration, random);
  simulate::draw_arrivals(gangs, simulate::gap_of_load(gangs, load / 100.0, chips), random);
  for (domain::TraceGang& gang : gangs) {
    gang.required_level = level_number(settings.required);
    gang.preferred_level = level_number(settings.preferred);
  }
  return gangs;
}

// Sums over the seeds.
struct Row {
  int runs = 0;
  std::size_t refused = 0;
  double used = 0, mean = 0, p95 = 0, end = 0;
  std::vector<simulate::LevelSpread> levels;

  void add(const GangSummary& s) {
    ++runs;
    refused += s.never_fit + s.refused;
    used += s.used_until_last_arrival;
    mean += s.wait_s.mean;
    p95 += s.wait_s.p95;
    end += s.end_s;
    levels.resize(s.levels.size());
    for (std::size_t i = 0; i < levels.size(); ++i) {
      levels[i].crossings += s.levels[i].crossings;
      levels[i].domains += s.levels[i].domains;
      levels[i].fewest += s.levels[i].fewest;
      levels[i].alone += s.levels[i].alone;
    }
  }
  void print(int load, const std::string& policy) const {
    fmt::print("| {} | {} | {:.2f} | {:.0f} | {:.0f} | {:.0f} |", load, policy, 100 * used / runs,
               mean / runs, p95 / runs, end / runs);
    for (const simulate::LevelSpread& level : levels) {
      const auto domains = static_cast<double>(level.domains);
      fmt::print(" {} | {:.3f}, {:.3f} |", level.crossings / runs,
                 domains / static_cast<double>(level.fewest),
                 domains / static_cast<double>(level.alone));
    }
    fmt::print(" {} |\n", refused);
    std::fflush(stdout);
  }
};

void print_head() {
  fmt::print("| load % | policy | used % | wait mean s | p95 s | end s |");
  for (const std::string& level : kLevels)
    fmt::print(" {} crossings | domains / fewest, / alone |", level);
  fmt::print(" never |\n|---:|---|---:|---:|---:|---:|");
  for (std::size_t i = 0; i < kLevels.size(); ++i) fmt::print("---:|---:|");
  fmt::print("---:|\n");
}

using Policies = std::vector<std::pair<std::string, simulate::GangPlacer*>>;

// false: a placer failed.
bool replay_load(const Settings& settings, const solver::Fabric& cluster, int load,
                 const Policies& policies) {
  std::vector<Row> rows(policies.size());
  for (const int seed : settings.seeds) {
    const auto jobs = jobs_of(settings, load, seed, simulate::free_chips(cluster));
    const auto alone = simulate::alone_gangs(jobs, cluster, kLevels);
    simulate::GangReplayOptions options;
    options.patience_s = settings.patience;
    for (std::size_t i = 0; i < policies.size(); ++i) {
      const auto run = simulate::replay_gangs({jobs, alone, cluster}, *policies[i].second, options);
      if (!run) {
        fmt::print(stderr, "{}: {}\n", policies[i].first, run.error().text());
        return false;
      }
      rows[i].add(simulate::summary_of(jobs, *run));
    }
  }
  for (std::size_t i = 0; i < policies.size(); ++i) rows[i].print(load, policies[i].first);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a peer that has ended is an error of its next question
  Settings settings;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 < argc && read_flag(settings, argv[i], argv[i + 1])) continue;
    fmt::print(stderr, "gang_replay: {}: unknown, or its value is\n", argv[i]);
    return 2;
  }
  const int chips_in_all =
      settings.shape.size() == 3 ? settings.shape[0] * settings.shape[1] * settings.shape[2] : 0;
  if (chips_in_all == 0 || settings.chips == 0 || settings.smallest == 0 ||
      settings.largest < 2 * settings.smallest) {
    fmt::print(stderr,
               "gang_replay: expected a shape of three numbers, chips, and --largest at "
               "least twice --smallest\n");
    return 2;
  }
  Policies policies;
  std::vector<std::unique_ptr<simulate::GangPlacer>> placers;
  std::vector<std::unique_ptr<bench::PeerProgram>> programs;
  for (const simulate::NamedGangPlacer& named : simulate::gang_placers()) {
    placers.push_back(named.make(kLevels));
    policies.emplace_back(named.name, placers.back().get());
  }
  for (const auto& [name, words] : settings.peers) {
    programs.push_back(std::make_unique<bench::PeerProgram>(words, kAnswerTime));
    placers.push_back(std::make_unique<bench::PeerPlacer>(*programs.back(), kLevels));
    policies.emplace_back(name, placers.back().get());
  }
  const solver::Fabric cluster = fabric_of(settings);
  print_head();
  for (const int load : settings.loads)
    if (!replay_load(settings, cluster, load, policies)) return 1;
  return 0;
}
