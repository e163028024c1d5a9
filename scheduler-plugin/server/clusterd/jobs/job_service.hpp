// The service of ClusterD by which others learn of the cluster's jobs. Calls come on gRPC's
// threads.
#pragma once

#include <utility>

#include "mindcluster/job.grpc.pb.h"
#include "scheduler-plugin/server/clusterd/calls.hpp"
#include "scheduler-plugin/server/clusterd/jobs/job_feed.hpp"

namespace chipweave::sched::clusterd {

// Signals are written as the bytes that the feed has.
using JobServiceBase =
    job::Job::WithCallbackMethod_Register<job::Job::WithRawCallbackMethod_SubscribeJobSummarySignal<
        job::Job::WithCallbackMethod_SubscribeJobSummarySignalList<job::Job::Service>>>;

class JobService final : public JobServiceBase {
 public:
  JobService(CallContext context, JobFeed& feed) : context_(std::move(context)), feed_(feed) {}

  grpc::ServerUnaryReactor* Register(grpc::CallbackServerContext* context,
                                     const job::ClientInfo* request,
                                     job::Status* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* SubscribeJobSummarySignal(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) override;
  grpc::ServerWriteReactor<job::JobSummarySignalList>* SubscribeJobSummarySignalList(
      grpc::CallbackServerContext* context, const job::ClientInfo* request) override;

 private:
  CallContext context_;
  JobFeed& feed_;
};

}  // namespace chipweave::sched::clusterd
