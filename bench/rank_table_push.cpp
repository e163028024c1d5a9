// bench_rank_table_push — from the address of a pod to the rank tables of subscribers: sends a
// pod's status to a standalone scheduler again and again, and measures until every subscriber of
// job.Job has the new table, and the subscriber of config.Config.
//
//   bench_rank_table_push HTTP-PORT CLUSTERD-PORT POD-PATH NODE-ADDRESS JOB-ID SUBSCRIBERS
//   CONNECTIONS
//                         ROUNDS
//
// Started by bench/rank_table_push, which makes the pods. The floor is a bare gRPC server in this
// process that writes the same bytes to as many streams. Prints rows of a table in Markdown.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/client_callback.h>
#include <grpcpp/support/server_callback.h>

#include "bench/http_socket.hpp"
#include "mindcluster/config.grpc.pb.h"
#include "mindcluster/job.grpc.pb.h"

namespace chipweave::bench {
namespace {

using Steady = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience{60};

// Messages of all streams of one kind, since the last reset.
class Arrivals {
 public:
  void add(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    ++count_;
    bytes_ = std::max(bytes_, bytes);
    last_ = Steady::now();
    if (count_ >= wanted_) changed_.notify_all();
  }
  void expect(int count) {
    const std::lock_guard lock(mutex_);
    count_ = 0;
    wanted_ = count;
  }
  // When the last came.
  Steady::time_point wait() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kPatience, [&] { return count_ >= wanted_; })) {
      std::fprintf(stderr, "%d of %d messages came\n", count_, wanted_);
      std::exit(1);
    }
    return last_;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
  int wanted_ = 0;
  std::size_t bytes_ = 0;
  Steady::time_point last_{};
};

// A stream whose messages are counted and not decoded: real clients are on other machines.
class Reader final : public grpc::ClientReadReactor<grpc::ByteBuffer> {
 public:
  template <class Request>
  Reader(const std::shared_ptr<grpc::Channel>& channel, const char* method, const Request& request,
         Arrivals& arrivals)
      : channel_(channel),
        method_(method, grpc::internal::RpcMethod::SERVER_STREAMING, channel_),
        arrivals_(arrivals) {
    grpc::internal::ClientCallbackReaderFactory<grpc::ByteBuffer>::Create(
        channel_.get(), method_, &context_, &request, this);
    StartRead(&message_);
    StartCall();
  }
  void cancel() { context_.TryCancel(); }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_; });
  }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return;
    arrivals_.add(message_.Length());
    StartRead(&message_);
  }
  void OnDone(const grpc::Status& status) override {
    if (status.error_code() != grpc::StatusCode::CANCELLED)
      std::fprintf(stderr, "a stream ended: %s\n", status.error_message().c_str());
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_all();
  }

  std::shared_ptr<grpc::Channel> channel_;
  grpc::internal::RpcMethod method_;
  Arrivals& arrivals_;
  grpc::ClientContext context_;
  grpc::ByteBuffer message_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
};

using Readers = std::vector<std::unique_ptr<Reader>>;

// To both addresses of this host in turn, since one may have 512 subscriptions.
std::vector<std::shared_ptr<grpc::Channel>> channels_to(int port, int count) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  std::vector<std::shared_ptr<grpc::Channel>> out;
  for (int i = 0; i < count; ++i) {
    const std::string address = (i % 2 == 0 ? "127.0.0.1:" : "[::1]:") + std::to_string(port);
    out.push_back(
        grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
  }
  return out;
}

void end(Readers& readers) {
  for (const auto& reader : readers) reader->cancel();
  for (const auto& reader : readers) reader->wait();
  readers.clear();
}

Readers follow_jobs(int port, int count, int connections, Arrivals& arrivals) {
  const auto channels = channels_to(port, connections);
  Readers out;
  for (int i = 0; i < count; ++i) {
    const auto& channel = channels[static_cast<std::size_t>(i) % channels.size()];
    grpc::ClientContext context;
    job::ClientInfo client;
    job::Status status;
    const auto registered = job::Job::NewStub(channel)->Register(&context, client, &status);
    if (!registered.ok()) {
      std::fprintf(stderr, "Register: %s\n", registered.error_message().c_str());
      std::exit(1);
    }
    client.set_clientid(status.clientid());
    out.push_back(
        std::make_unique<Reader>(channel, "/job.Job/SubscribeJobSummarySignal", client, arrivals));
  }
  return out;
}

Readers follow_table(int port, const std::string& job, Arrivals& arrivals) {
  const auto channel = channels_to(port, 1).front();
  grpc::ClientContext context;
  config::ClientInfo client;
  client.set_jobid(job);
  config::Status status;
  if (!config::Config::NewStub(channel)->Register(&context, client, &status).ok()) std::exit(1);
  Readers out;
  out.push_back(
      std::make_unique<Reader>(channel, "/config.Config/SubscribeRankTable", client, arrivals));
  return out;
}

void row(const char* what, std::size_t bytes, std::vector<double> all) {
  std::sort(all.begin(), all.end());
  const auto at = [&](double part) {
    return all[static_cast<std::size_t>(part * static_cast<double>(all.size() - 1) + 0.5)];
  };
  std::printf("| %s | %.1f | %zu | %.1f | %.1f | %.1f |\n", what, static_cast<double>(bytes) / 1e3,
              all.size(), at(0.5), at(0.99), all.back());
  std::fflush(stdout);
}

double ms(Steady::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

struct Pod {
  HttpSocket http;
  std::string path;
  std::string host;
  int turn = 0;
  // Another address than before.
  void change() {
    const std::string body = R"({"hostIP":")" + host + R"(","podIP":"10.250.0.)" +
                             std::to_string(10 + turn++ % 90) + R"("})";
    const auto reply = http.ask("PUT", path, body);
    if (reply.status == 200) return;
    std::fprintf(stderr, "PUT %s: %d %s\n", path.c_str(), reply.status, reply.begin.c_str());
    std::exit(1);
  }
};

void measure(const char* what, Pod& pod, Arrivals& arrivals, int count, int rounds) {
  std::vector<double> all;
  for (int i = -2; i < rounds; ++i) {
    arrivals.expect(count);
    const auto begin = Steady::now();
    pod.change();
    const auto last = arrivals.wait();
    if (i >= 0) all.push_back(ms(last - begin));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  row(what, arrivals.bytes(), std::move(all));
}

// Holds its streams, and writes to all of them.
class Bare final
    : public job::Job::WithRawCallbackMethod_SubscribeJobSummarySignal<job::Job::Service> {
 public:
  class Stream final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
   public:
    explicit Stream(Bare& bare) : bare_(bare) { ++bare_.open_; }
    void write(const grpc::ByteBuffer& message) { StartWrite(&message); }

   private:
    void OnCancel() override { Finish(grpc::Status::CANCELLED); }
    void OnDone() override { --bare_.open_; }
    Bare& bare_;
  };
  grpc::ServerWriteReactor<grpc::ByteBuffer>* SubscribeJobSummarySignal(
      grpc::CallbackServerContext* /*context*/, const grpc::ByteBuffer* /*request*/) override {
    const std::lock_guard lock(mutex_);
    return streams_.emplace_back(std::make_unique<Stream>(*this)).get();
  }
  void write(const grpc::ByteBuffer& message) {
    const std::lock_guard lock(mutex_);
    for (const auto& stream : streams_) stream->write(message);
  }
  int open() const { return open_; }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::atomic<int> open_{0};
};

void measure_floor(std::size_t bytes, int count, int connections, int rounds) {
  Bare bare;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("[::]:0", grpc::InsecureServerCredentials(), &port);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  builder.RegisterService(&bare);
  const auto server = builder.BuildAndStart();
  const grpc::Slice slice(std::string(bytes, 'x'));
  const grpc::ByteBuffer message(&slice, 1);
  Arrivals arrivals;
  const auto channels = channels_to(port, connections);
  Readers readers;
  for (int i = 0; i < count; ++i) {
    readers.push_back(std::make_unique<Reader>(
        channels[static_cast<std::size_t>(i) % channels.size()],
        "/job.Job/SubscribeJobSummarySignal", job::ClientInfo(), arrivals));
  }
  while (bare.open() < count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::vector<double> all;
  for (int i = -2; i < rounds; ++i) {
    arrivals.expect(count);
    const auto begin = Steady::now();
    bare.write(message);
    const auto last = arrivals.wait();
    if (i >= 0) all.push_back(ms(last - begin));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const std::string what = "floor: a bare gRPC server, " + std::to_string(count) + " streams";
  row(what.c_str(), bytes, std::move(all));
  end(readers);
  while (bare.open() > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  server->Shutdown();
}

int run(char** argv) {
  const auto port = static_cast<std::uint16_t>(std::atoi(argv[1]));
  const int clusterd = std::atoi(argv[2]);
  const int subscribers = std::atoi(argv[6]);
  const int connections = std::atoi(argv[7]);
  const int rounds = std::atoi(argv[8]);
  Pod pod{HttpSocket(port), argv[3], argv[4]};
  std::puts("| from the last address to | KB | rounds | p50 ms | p99 ms | max ms |");
  std::puts("|---|---:|---:|---:|---:|---:|");
  {
    std::vector<double> all;
    for (int i = 0; i < rounds; ++i) {
      const auto begin = Steady::now();
      pod.change();
      all.push_back(ms(Steady::now() - begin));
    }
    row("the reply to the status alone, without subscribers", 0, std::move(all));
  }
  {
    Arrivals arrivals;
    arrivals.expect(1);
    Readers one = follow_table(clusterd, argv[5], arrivals);
    arrivals.wait();
    measure("config.Config, one subscriber", pod, arrivals, 1, rounds);
    end(one);
  }
  std::size_t bytes = 0;
  for (const int count : {1, subscribers}) {
    Arrivals arrivals;
    arrivals.expect(count);
    Readers all = follow_jobs(clusterd, count, std::min(count, connections), arrivals);
    arrivals.wait();
    const std::string what = "job.Job, the last of " + std::to_string(count);
    measure(what.c_str(), pod, arrivals, count, rounds);
    bytes = arrivals.bytes();
    end(all);
  }
  measure_floor(bytes, 1, 1, rounds);
  measure_floor(bytes, subscribers, connections, rounds);
  return 0;
}

}  // namespace
}  // namespace chipweave::bench

int main(int argc, char** argv) {
  if (argc != 9) {
    std::fputs("started by bench/rank_table_push\n", stderr);
    return 2;
  }
  return chipweave::bench::run(argv);
}
