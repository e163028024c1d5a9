// chipweave-fill-nodes — reports N invented nodes to a scheduler and stays connected until SIGTERM,
// for benches of a full cluster.
//
//   chipweave-fill-nodes --scheduler 127.0.0.1:9200 --nodes 5000 [--streams 4] [--seed 1]
//                        [--unhealthy 0.02] [--profiles hgx-h100-8,hgx-v100-8]
//
// Node i is "node-i"; machines cycle through the profiles in the given order; health depends on the
// seed alone, so that two runs make the same cluster. When every node has been accepted, it prints
// one line: {"nodes":5000,"seconds":1.234}.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/client_context.h>
#include <pthread.h>

#include "chipweave/v1/inventory.grpc.pb.h"
#include "common/io/files.hpp"
#include "common/rpc/channel.hpp"
#include "common/rpc/topology_proto.hpp"
#include "node-agent/app/identity.hpp"
#include "tests/fakes/agent/machines.hpp"

namespace chipweave::bench {
namespace {
struct Options {
  std::string scheduler;
  int nodes = 0;
  int streams = 1;
  std::uint64_t seed = 1;
  double unhealthy = 0.02;  // part of the chips
  std::string profiles = "hgx-h100-8,hgx-v100-8,hgx-a100-8,mi300x-8,ascend-910b-8";
};

struct Machine {
  std::string name;
  domain::NodeTopology topology;
};

bool read_flags(int argc, char** argv, Options& out) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    const char* value = argv[i + 1];
    if (flag == "--scheduler") {
      out.scheduler = value;
    } else if (flag == "--nodes") {
      out.nodes = std::atoi(value);
    } else if (flag == "--streams") {
      out.streams = std::atoi(value);
    } else if (flag == "--seed") {
      out.seed = std::strtoull(value, nullptr, 10);
    } else if (flag == "--unhealthy") {
      out.unhealthy = std::atof(value);
    } else if (flag == "--profiles") {
      out.profiles = value;
    } else {
      return false;
    }
  }
  return argc % 2 == 1 && !out.scheduler.empty() && out.nodes > 0 && out.streams > 0 &&
         out.unhealthy >= 0 && out.unhealthy <= 1;
}

Result<std::vector<Machine>> load_machines(const std::string& list) {
  std::vector<Machine> out;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string name = list.substr(at, end - at);
    at = end + 1;
    auto loaded = io::load_machine(name);
    if (!loaded) return std::move(loaded).error();
    out.push_back({name, std::move(loaded->topology)});
  }
  return out;
}

Result<v1::InventoryReport> report_of(int index, const Machine& machine, const Options& options) {
  v1::InventoryReport m;
  m.set_node("node-" + std::to_string(index));
  m.set_boot_id("fill-" + std::to_string(options.seed));
  m.set_sequence(1);
  const auto resources = agent::default_resources(machine.topology);
  if (!resources) return Error(resources.error());
  auto named = agent::with_identity(machine.topology, m.node());
  if (!named) return std::move(named).error();
  std::mt19937_64 random(options.seed * 1000003 + static_cast<std::uint64_t>(index));
  domain::DeclaredFaults faults;
  for (const domain::Chip& chip : named->chips()) {
    if (static_cast<double>(random() >> 11U) * 0x1p-53 < options.unhealthy)
      faults.unhealthy.push_back(chip.index);
  }
  const auto topology = agent::with_faults(*named, faults);
  if (!topology) return Error(topology.error());
  m.mutable_full()->set_machine(machine.name);
  for (const std::string& r : *resources) m.mutable_full()->add_resources(r);
  *m.mutable_full()->mutable_topology() = rpc::to_proto(*topology);
  return m;
}

// One connection and the nodes that it reports.
class Feed {
 public:
  Feed(const Endpoint& scheduler, std::vector<v1::InventoryReport> reports)
      : stub_(v1::Inventory::NewStub(rpc::make_channel(scheduler))),
        stream_(stub_->Report(&context_)),
        reports_(std::move(reports)) {}

  // Sends everything and reads the acks at the same time; false if the stream ended or a report was
  // rejected.
  bool fill() {
    std::thread writer([this] {
      for (const v1::InventoryReport& report : reports_) {
        if (!stream_->Write(report)) return;
      }
    });
    const bool taken = read_acks();
    if (!taken) context_.TryCancel();
    writer.join();
    return taken;
  }
  bool beat() {
    for (const v1::InventoryReport& report : reports_) {
      v1::InventoryReport sign;
      sign.set_node(report.node());
      sign.set_boot_id(report.boot_id());
      sign.mutable_heartbeat();
      v1::ReportAck ack;
      if (!stream_->Write(sign) || !stream_->Read(&ack)) return false;
    }
    return true;
  }
  void close() {
    stream_->WritesDone();
    stream_->Finish();
  }

 private:
  bool read_acks() {
    v1::ReportAck ack;
    for (std::size_t i = 0; i < reports_.size(); ++i) {
      if (!stream_->Read(&ack)) {
        std::fprintf(stderr, "the stream ended after %zu acks\n", i);
        return false;
      }
      if (ack.outcome() != v1::OUTCOME_TAKEN) {
        std::fprintf(stderr, "%s: outcome %d %s\n", ack.node().c_str(), ack.outcome(),
                     ack.message().c_str());
        return false;
      }
    }
    return true;
  }

  std::unique_ptr<v1::Inventory::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::InventoryReport, v1::ReportAck>> stream_;
  std::vector<v1::InventoryReport> reports_;
};

// On every feed at once; false if one failed.
bool on_all(std::vector<std::unique_ptr<Feed>>& feeds, bool (Feed::*work)()) {
  std::vector<char> ok(feeds.size(), 0);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    threads.emplace_back([&, i] { ok[i] = ((*feeds[i]).*work)() ? 1 : 0; });
  }
  for (std::thread& t : threads) t.join();
  return std::all_of(ok.begin(), ok.end(), [](char c) { return c != 0; });
}

int fail(const Error& error) {
  std::fprintf(stderr, "chipweave-fill-nodes: %s\n", error.text().c_str());
  return 3;
}

int run(int argc, char** argv) {
  Options options;
  if (!read_flags(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: chipweave-fill-nodes --scheduler HOST:PORT --nodes N [--streams N] "
                 "[--seed N] [--unhealthy PART] "
                 "[--profiles A,B]\n");
    return 2;
  }
  // Before any thread starts, so that all of them leave the signals to sigtimedwait.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  const auto scheduler = parse_endpoint(options.scheduler, PortZero::refused);
  if (!scheduler) return fail(scheduler.error());
  const auto machines = load_machines(options.profiles);
  if (!machines) return fail(machines.error());
  std::vector<std::vector<v1::InventoryReport>> shares(static_cast<std::size_t>(options.streams));
  for (int i = 0; i < options.nodes; ++i) {
    const auto index = static_cast<std::size_t>(i);
    auto report = report_of(i, (*machines)[index % machines->size()], options);
    if (!report) return fail(report.error());
    shares[index % shares.size()].push_back(std::move(report).value());
  }
  std::vector<std::unique_ptr<Feed>> feeds;
  for (auto& share : shares) feeds.push_back(std::make_unique<Feed>(*scheduler, std::move(share)));
  const auto begin = std::chrono::steady_clock::now();
  if (!on_all(feeds, &Feed::fill)) return 1;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("{\"nodes\":%d,\"seconds\":%.3f}\n", options.nodes, took.count());
  std::fflush(stdout);

  for (;;) {
    const timespec beat{5, 0};
    if (sigtimedwait(&signals, nullptr, &beat) > 0) break;
    if (!on_all(feeds, &Feed::beat)) {
      std::fprintf(stderr, "chipweave-fill-nodes: the scheduler is gone\n");
      return 1;
    }
  }
  for (const auto& feed : feeds) feed->close();
  return 0;
}

}  // namespace
}  // namespace chipweave::bench

int main(int argc, char** argv) { return chipweave::bench::run(argc, argv); }
