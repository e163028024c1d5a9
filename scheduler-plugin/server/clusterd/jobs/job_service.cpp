#include "scheduler-plugin/server/clusterd/jobs/job_service.hpp"

#include <chrono>
#include <string>
#include <vector>

#include "scheduler-plugin/server/clusterd/jobs/job_stream.hpp"
#include "scheduler-plugin/server/grpc_auth.hpp"

namespace chipweave::sched::clusterd {
namespace {

constexpr int kRegistered = 200;             // ClusterD's code here; its other services have 0
constexpr std::size_t kListBytes = 1 << 20;  // and the last signal of the list

std::string milliseconds_now() {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(
                            std::chrono::system_clock::now().time_since_epoch())
                            .count());
}

// "" for an odd request, which then ends as one with an unknown id.
std::string client_of(const grpc::ByteBuffer& request) {
  grpc::ByteBuffer copy(request);
  job::ClientInfo out;
  const auto read = grpc::SerializationTraits<job::ClientInfo>::Deserialize(&copy, &out);
  return read.ok() ? out.clientid() : std::string();
}

}  // namespace

void ListStream::start() {
  JobStream::start();
  time_ = milliseconds_now();
  jobs_ = feed_.log().jobs();
}

std::unique_ptr<job::JobSummarySignalList> ListStream::take() {
  std::vector<grpc::Slice> signals;
  const bool first = place_.read < place_.begin;
  if (!started_ || !take_in(feed_.log().next(place_, kListBytes, signals))) return nullptr;
  auto out = std::make_unique<job::JobSummarySignalList>();
  for (const grpc::Slice& signal : signals)
    out->add_jobsummarysignals()->ParseFromArray(signal.begin(), static_cast<int>(signal.size()));
  const bool of_first = first && place_.read <= place_.begin;
  out->set_reporttime(of_first ? time_ : milliseconds_now());
  out->set_jobtotalnum(of_first ? static_cast<int>(jobs_) : out->jobsummarysignals_size());
  return out;
}

grpc::ServerUnaryReactor* JobService::Register(grpc::CallbackServerContext* /*context*/,
                                               const job::ClientInfo* /*request*/,
                                               job::Status* response) {
  return UnaryCall::begin(context_, [this, response] {
    auto client = feed_.register_client();
    if (!client) return rpc::to_status(client.error());
    response->set_code(kRegistered);
    response->set_info("registration successful");
    response->set_clientid(*std::move(client));
    return grpc::Status::OK;
  });
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* JobService::SubscribeJobSummarySignal(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  return SignalStream::begin(context_, feed_, client_of(*request), address_of(context->peer()));
}

grpc::ServerWriteReactor<job::JobSummarySignalList>* JobService::SubscribeJobSummarySignalList(
    grpc::CallbackServerContext* context, const job::ClientInfo* request) {
  return ListStream::begin(context_, feed_, request->clientid(), address_of(context->peer()));
}

}  // namespace chipweave::sched::clusterd
