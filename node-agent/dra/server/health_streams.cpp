#include "node-agent/dra/server/health_streams.hpp"

#include <utility>

namespace chipweave::agent::dra {

class HealthStreams::Stream final : public grpc::ServerWriteReactor<List> {
 public:
  explicit Stream(HealthStreams& owner) : owner_(owner) {}

  void offer(std::shared_ptr<const List> list) {
    const std::lock_guard lock(mutex_);
    if (over_) return;
    next_ = std::move(list);
    write_next();
  }
  void end() {
    const std::lock_guard lock(mutex_);
    if (std::exchange(over_, true)) return;
    next_.reset();
    Finish(grpc::Status(grpc::StatusCode::UNAVAILABLE, "the driver stops"));
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writing_.reset();
    if (over_) return;
    if (ok) return write_next();
    over_ = true;
    Finish(grpc::Status::OK);
  }
  void OnCancel() override { end(); }
  void OnDone() override {
    owner_.drop(this);
    delete this;
  }

 private:
  // One at a time, as gRPC requires.
  void write_next() {
    if (writing_ != nullptr || next_ == nullptr) return;
    writing_ = std::exchange(next_, nullptr);
    StartWrite(writing_.get());
  }

  HealthStreams& owner_;
  std::mutex mutex_;
  std::shared_ptr<const List> writing_;
  std::shared_ptr<const List> next_;
  bool over_ = false;
};

grpc::ServerWriteReactor<HealthStreams::List>* HealthStreams::open() {
  auto* stream = new Stream(*this);
  const std::lock_guard lock(mutex_);
  streams_.insert(stream);
  if (closed_) {
    stream->end();
  } else if (newest_ != nullptr) {
    stream->offer(newest_);
  }
  return stream;
}

// Under the lock: a stream cannot go meanwhile, since drop() waits for it.
void HealthStreams::publish(List list) {
  const std::lock_guard lock(mutex_);
  newest_ = std::make_shared<const List>(std::move(list));
  for (Stream* stream : streams_) stream->offer(newest_);
}

void HealthStreams::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (Stream* stream : streams_) stream->end();
}

void HealthStreams::reopen() {
  const std::lock_guard lock(mutex_);
  closed_ = false;
}

void HealthStreams::drop(Stream* stream) {
  const std::lock_guard lock(mutex_);
  streams_.erase(stream);
}

}  // namespace chipweave::agent::dra
