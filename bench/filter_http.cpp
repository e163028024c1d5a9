// bench_filter_http — filter and prioritize of a running scheduler over HTTP keep-alive, as a ratio
// to an echo floor.
//
//   chipweave-scheduler --standalone … (filled with the nodes named below), then
//   bench_filter_http --url http://127.0.0.1:PORT [--node-names FILE|COUNT] [--nodes 100,1000,5000]
//                     [--rounds 300] [--resource nvidia.com/gpu] [--chips 4]
//
// The floor returns the scheduler's own reply to the same body, captured before. Calls to both
// alternate, and so does the first one of each pair, so that other load on the machine affects both
// equally. The pod is unknown to the cluster, so the scheduler reserves nothing and every call
// finds the same state. Ends with 1 if the p99 of a path is more than twice the floor's.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/echo_floor.hpp"
#include "bench/filter_body.hpp"
#include "bench/targets.hpp"
#include "common/http/client.hpp"

namespace chipweave::bench {
namespace {

struct Options {
  std::string url;
  std::string node_names = "5000";
  std::vector<int> nodes = {100, 1000, 5000};
  int rounds = 300;
  std::string resource = "nvidia.com/gpu";
  int chips = 4;
};

Result<int> positive(const std::string& flag, std::string_view text) {
  int value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || value < 1) {
    return make_error(Errc::invalid_argument,
                      flag + ": '" + std::string(text) + "' is not a positive number");
  }
  return value;
}

Result<std::vector<int>> positives(const std::string& flag, std::string_view text) {
  std::vector<int> all;
  while (true) {
    const std::size_t comma = text.find(',');
    const auto one = positive(flag, text.substr(0, comma));
    if (!one.ok()) return one.error();
    all.push_back(*one);
    if (comma == std::string_view::npos) return all;
    text.remove_prefix(comma + 1);
  }
}

Result<Options> parse(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const std::string& flag = arguments[i];
    if (i + 1 == arguments.size())
      return make_error(Errc::invalid_argument, flag + " needs a value");
    const std::string& value = arguments[i + 1];
    if (flag == "--url") {
      options.url = value;
    } else if (flag == "--node-names") {
      options.node_names = value;
    } else if (flag == "--resource") {
      options.resource = value;
    } else if (flag == "--nodes") {
      auto nodes = positives(flag, value);
      if (!nodes.ok()) return nodes.error();
      options.nodes = std::move(*nodes);
    } else if (flag == "--rounds" || flag == "--chips") {
      const auto number = positive(flag, value);
      if (!number.ok()) return number.error();
      (flag == "--rounds" ? options.rounds : options.chips) = *number;
    } else {
      return make_error(Errc::invalid_argument, "unknown flag " + flag);
    }
  }
  if (options.url.empty())
    return make_error(Errc::invalid_argument, "--url of a running scheduler is missing");
  return options;
}

struct Times {
  std::vector<double> micros;

  double quantile(double q) {
    std::sort(micros.begin(), micros.end());
    const auto rank = static_cast<std::size_t>(q * static_cast<double>(micros.size() - 1) + 0.5);
    return micros[rank];
  }
};

// One timed call; the reply must equal the captured one, or the comparison would not be fair.
Result<double> timed(http::Client& client, const std::string& target, const std::string& body,
                     const std::string& expected) {
  const auto start = std::chrono::steady_clock::now();
  const auto reply = client.call("POST", target, body);
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  if (!reply.ok()) return reply.error();
  if (reply->status != 200)
    return make_error(Errc::unavailable, fmt::format("{} answered {}", target, reply->status));
  if (reply->body.size() != expected.size()) {
    return make_error(
        Errc::conflict,
        target + " changed its answer during the run; is anything else using the server?");
  }
  return took.count();
}

struct Servers {
  http::Client scheduler;
  http::Client floor_client;
  EchoFloor floor;
};

// The p99 as a ratio to the floor's.
Result<double> measure(Servers& servers, const Options& options, const std::string& target,
                       int nodes, const std::string& body) {
  const auto captured = servers.scheduler.call("POST", target, body);
  if (!captured.ok()) return captured.error();
  if (captured->status != 200) {
    return make_error(Errc::unavailable,
                      fmt::format("{} answered {}: {}", target, captured->status, captured->body));
  }
  if (auto set = servers.floor.set_reply(captured->body); !set) return std::move(set).error();
  Times scheduler;
  Times floor;
  const int warm_up = std::max(1, options.rounds / 10);
  for (int round = -warm_up; round < options.rounds; ++round) {
    for (int turn = 0; turn < 2; ++turn) {
      const bool to_floor = (round + turn) % 2 == 0;
      const auto micros =
          timed(to_floor ? servers.floor_client : servers.scheduler, target, body, captured->body);
      if (!micros.ok()) return micros.error();
      if (round >= 0) (to_floor ? floor : scheduler).micros.push_back(*micros);
    }
  }
  const double p50 = scheduler.quantile(0.5);
  const double p99 = scheduler.quantile(0.99);
  const double floor50 = floor.quantile(0.5);
  const double floor99 = floor.quantile(0.99);
  fmt::print("{:<18} {:>6} {:>8} {:>8} {:>9.0f} {:>9.0f} {:>9.0f} {:>9.0f} {:>7.2f} {:>7.2f}\n",
             target, nodes, body.size() / 1024, captured->body.size() / 1024, p50, p99, floor50,
             floor99, p50 / floor50, p99 / floor99);
  std::fflush(stdout);
  return p99 / floor99;
}

// False: a target was missed.
Result<bool> run(const std::vector<std::string>& arguments) {
  const auto options = parse(arguments);
  if (!options.ok()) return options.error();
  const auto names = node_names(options->node_names);
  if (!names.ok()) return names.error();
  auto scheduler = http::Client::connect_to(options->url);
  if (!scheduler.ok()) return scheduler.error();
  auto floor = EchoFloor::start();
  if (!floor.ok()) return floor.error();
  auto floor_client = http::Client::connect_to(floor->url());
  if (!floor_client.ok()) return floor_client.error();
  Servers servers{std::move(*scheduler), std::move(*floor_client), std::move(*floor)};
  fmt::print("{:<18} {:>6} {:>8} {:>8} {:>9} {:>9} {:>9} {:>9} {:>7} {:>7}\n", "path", "nodes",
             "req KiB", "rep KiB", "p50 us", "p99 us", "floor p50", "floor p99", "x p50", "x p99");
  std::vector<std::pair<std::string, double>> ratios;
  for (const int nodes : options->nodes) {
    const auto wanted = static_cast<std::size_t>(nodes);
    if (wanted > names->size()) {
      return make_error(Errc::invalid_argument,
                        fmt::format("--nodes {}: only {} node names", nodes, names->size()));
    }
    const std::string body = filter_body(*names, wanted, options->resource, options->chips);
    for (const char* target : {"/kube/filter", "/kube/prioritize"}) {
      const auto ratio = measure(servers, *options, target, nodes, body);
      if (!ratio.ok()) return ratio.error();
      ratios.emplace_back(fmt::format("{}, {} nodes: p99", target, nodes), *ratio);
    }
  }
  Targets targets;
  for (const auto& [what, ratio] : ratios) targets.at_most(what, ratio, 2, "x");
  return targets.all_met();
}

}  // namespace
}  // namespace chipweave::bench

int main(int argc, char** argv) {
  const auto done = chipweave::bench::run(std::vector<std::string>(argv + 1, argv + argc));
  if (done.ok()) return *done ? 0 : 1;
  fmt::print(stderr, "bench_filter_http: {}\n", done.error().text());
  return done.error().code == chipweave::Errc::invalid_argument ? 2 : 1;
}
