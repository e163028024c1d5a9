// bench_rank_table_patch — from the last address of a job to its ConfigMap: how long until an API
// server on loopback has read the PATCH with the table, by number of ranks. The client, TLS and the
// server are as in the cluster; the watch that brings the pod is not measured. Ends with 1 if 1,000
// ranks take longer than their target.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/table_job.hpp"
#include "common/http/loop.hpp"
#include "common/kube/api_client.hpp"
#include "scheduler-plugin/kube/ranktables/table_config_maps.hpp"
#include "tests/component/kube_api/scripted_server.hpp"

namespace {

using namespace chipweave;
using namespace chipweave::sched;
using Json = nlohmann::json;
using Steady = std::chrono::steady_clock;

constexpr int kRounds = 30;
constexpr double kTargetMs = 50;                 // 1,000 ranks
constexpr std::chrono::milliseconds kGap{1200};  // the keeper writes once a second
constexpr std::chrono::seconds kPatience{20};

// One ConfigMap, and when it was written with a complete table.
class Store {
 public:
  void serve(test::ScriptedServer::Talk& talk) {
    while (const auto request = talk.request()) {
      const auto came = Steady::now();
      const Json body = Json::parse(request->substr(request->find("\r\n\r\n") + 4));
      const std::lock_guard lock(mutex_);
      const bool create = request->starts_with("POST");
      if (!create && object_.is_null()) {
        talk.reply(404, R"({"kind":"Status","code":404})");
        continue;
      }
      create ? object_ = body : (object_.merge_patch(body), object_);
      object_["metadata"]["uid"] = "uid-of-map";
      object_["metadata"]["resourceVersion"] = std::to_string(++version_);
      talk.reply(create ? 201 : 200, object_.dump());
      const bool table = request->find(R"(\"status\":\"completed\")") != std::string::npos;
      if (create || table) {
        written_ = came;
        ++writes_;
        changed_.notify_all();
      }
    }
  }
  Steady::time_point wait(int writes) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kPatience, [&] { return writes_ >= writes; })) {
      std::fputs("the table was not written\n", stderr);
      std::exit(2);
    }
    return written_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Json object_;
  int version_ = 0;
  int writes_ = 0;
  Steady::time_point written_{};
};

void on_loop(http::Loop& loop, const std::function<void()>& task) {
  std::promise<void> done;
  loop.post([&] {
    task();
    done.set_value();
  });
  done.get_future().wait();
}

// The median, in milliseconds.
double run(int pods) {
  Store store;
  const test::Pem authority = test::make_authority("cluster");
  test::ScriptedServer server(test::make_certificate(authority, "IP:127.0.0.1"),
                              [&](auto& talk) { store.serve(talk); });
  http::Loop loop;
  std::thread thread([&] { loop.run(); });
  const SystemClock clock;
  std::unique_ptr<kube::ApiClient> client;
  std::unique_ptr<bench::TableJob> job;
  std::unique_ptr<TableConfigMaps> maps;
  on_loop(loop, [&] {
    kube::ApiAccess access;
    access.origin.host = "127.0.0.1";
    access.origin.port = std::to_string(server.port());
    access.origin.pem.ca = authority.certificate;
    client = kube::ApiClient::make(loop, std::move(access), "bench/1").value();
    job = std::make_unique<bench::TableJob>(clock, pods, 1'000'000);
    TableConfigMaps::Ways ways;
    ways.fence = [] { return [] { return true; }; };
    ways.owner = [](const GangRef&) { return std::nullopt; };
    ways.completed = [](const GangRef&, const std::string&) {};
    ways.failed = [](const GangRef&, const std::string& why) {
      std::fprintf(stderr, "%s\n", why.c_str());
    };
    maps = std::make_unique<TableConfigMaps>(*client, clock, TableConfigMaps::Which{true, false},
                                             std::move(ways));
    maps->tick(1);
    job->tables.add(*maps);
  });
  store.wait(1);  // the empty one
  std::vector<double> all;
  for (int i = 0; i < kRounds; ++i) {
    std::this_thread::sleep_for(kGap);
    const auto begin = Steady::now();
    loop.post([&, i] { job->change(i); });
    const auto written = store.wait(i + 2);
    all.push_back(std::chrono::duration<double, std::milli>(written - begin).count());
  }
  on_loop(loop, [&] {
    maps.reset();
    job.reset();
    client.reset();
  });
  loop.stop();
  thread.join();
  const double out = bench::median(all);
  std::printf("| %d | %d | %.1f | %.1f |\n", pods * bench::kTableChips, kRounds, out,
              *std::max_element(all.begin(), all.end()));
  std::fflush(stdout);
  return out;
}

}  // namespace

int main() {
  std::puts("| ranks | rounds | p50 ms | max ms |");
  std::puts("|---:|---:|---:|---:|");
  return run(125) > kTargetMs ? 1 : 0;
}
