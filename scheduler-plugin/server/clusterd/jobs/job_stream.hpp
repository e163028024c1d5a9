// Streams of job.Job. Internal to scheduler-plugin/server/clusterd.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <grpcpp/support/byte_buffer.h>

#include "common/rpc/status.hpp"
#include "mindcluster/job.pb.h"
#include "scheduler-plugin/server/clusterd/calls.hpp"
#include "scheduler-plugin/server/clusterd/jobs/job_feed.hpp"

namespace chipweave::sched::clusterd {

// A call that reads the feed's log. Stream: the class that derives from it.
template <class Message, class Stream>
class JobStream : public StreamCall<Message>, public Subscriptions::Subscriber, public JobReader {
 public:
  JobStream(CallContext context, JobFeed& feed)
      : StreamCall<Message>(std::move(context),
                            [&feed](StreamCall<Message>* call) {
                              auto* const stream = static_cast<JobStream*>(call);
                              feed.readers().remove(stream);
                              feed.remove(stream);
                            }),
        feed_(feed) {}

  // client: the id that it registered with.
  static Stream* begin(const CallContext& context, JobFeed& feed, std::string client,
                       std::string host) {
    auto stream = std::make_shared<Stream>(context, feed);
    Stream* const out = stream.get();
    out->StreamCall<Message>::begin(
        stream, [&feed, stream, client = std::move(client), host = std::move(host)] {
          auto subscribed = feed.subscribe(client, host, stream);
          if (!subscribed) return stream->finish(rpc::to_status(subscribed.error()));
          feed.readers().add(stream);
          JobStream& reader = *stream;
          reader.change([&] { reader.start(); });
        });
    return out;
  }

  void end(bool failed) override {
    this->finish(failed ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "another replica leads now")
                        : grpc::Status::OK);
  }
  void wake() override {
    this->change([] {});
  }

 protected:
  // Under the call's mutex.
  virtual void start() {
    place_ = feed_.log().begin();
    started_ = true;
  }
  // Whether there is something; ends the call of a lost reader.
  bool take_in(JobLog::Found found) {
    if (found == JobLog::Found::lost) {
      this->finish_now(
          {grpc::StatusCode::ABORTED, "the client reads too slowly: register and subscribe again"});
    }
    return found == JobLog::Found::some;
  }

  JobFeed& feed_;
  JobLog::Place place_;
  bool started_ = false;
};

// All clients share the bytes of a signal.
class SignalStream final : public JobStream<grpc::ByteBuffer, SignalStream> {
 public:
  using JobStream::JobStream;

 private:
  std::unique_ptr<grpc::ByteBuffer> take() override {
    grpc::Slice signal;
    if (!started_ || !take_in(feed_.log().next(place_, signal))) return nullptr;
    return std::make_unique<grpc::ByteBuffer>(&signal, 1);
  }
};

class ListStream final : public JobStream<job::JobSummarySignalList, ListStream> {
 public:
  using JobStream::JobStream;

 private:
  void start() override;
  std::unique_ptr<job::JobSummarySignalList> take() override;

  std::string time_;      // of the first lists
  std::size_t jobs_ = 0;  // in the first lists
};

}  // namespace chipweave::sched::clusterd
