#include "common/kube/reflector.hpp"

#include <utility>

#include "common/base/limits.hpp"

namespace chipweave::kube {
namespace {

// As client-go's metadata client requests them. kube-apiserver takes the first type that it knows
// and does not try the next one if it does not fit the request: a list as PartialObjectMetadata is
// refused with 406, a watch as PartialObjectMetadataList gets whole objects.
constexpr const char* kMetadataOfList =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
constexpr int kNotAcceptable = 406;

}  // namespace

template <class Object>
Reflector<Object>::Reflector(Transport& transport, Options options, Events events,
                             std::function<double()> jitter)
    : transport_(transport),
      options_(std::move(options)),
      events_(std::move(events)),
      machine_(options_.list_watch, std::move(jitter)),
      mirror_(events_.changed) {}

template <class Object>
void Reflector<Object>::start() {
  act(machine_.start());
}

template <class Object>
void Reflector<Object>::act(const WatchRequest& request) {
  ticket_.reset();
  switch (request.kind) {
    case WatchRequest::Kind::list:
      return list(request);
    case WatchRequest::Kind::watch:
      return watch(request);
    case WatchRequest::Kind::wait:
      ticket_ = transport_.after(request.delay, [this] { act(machine_.waited()); });
  }
}

template <class Object>
void Reflector<Object>::list(const WatchRequest& request) {
  Call call;
  call.target = options_.path + "?limit=" + std::to_string(options_.page);
  if (!options_.selector.empty()) call.target += "&" + options_.selector;
  if (!request.next.empty()) call.target += "&continue=" + request.next;
  if (options_.metadata_only) call.accept = kMetadataOfList;
  begun_ = transport_.now();
  ticket_ = transport_.call(std::move(call), [this](Result<Reply> r) { take_page(std::move(r)); });
}

template <class Object>
void Reflector<Object>::take_page(Result<Reply> reply) {
  if (!reply) return fail({0, reply.error().text(), std::nullopt});
  if (reply->status != 200) {
    return fail({reply->status, codec::read_status(reply->body).message, reply->retry_after});
  }
  auto page = reader_.read_page(reply->body);
  if (!page) return fail({0, options_.path + ": " + page.error().text(), std::nullopt});
  for (Object& object : page->objects) mirror_.put(std::move(object), machine_.round());
  const std::uint64_t before = machine_.complete();
  const WatchRequest next = machine_.page(page->resource_version, page->next);
  note_complete(before);
  act(next);
}

template <class Object>
void Reflector<Object>::watch(const WatchRequest& request) {
  StreamRequest stream;
  stream.target = options_.path + "?watch=1&allowWatchBookmarks=true&timeoutSeconds=" +
                  std::to_string(options_.watch_for.count());
  if (!options_.selector.empty()) stream.target += "&" + options_.selector;
  if (request.initial_events) {
    stream.target += "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
  } else {
    stream.target += "&resourceVersion=" + request.resource_version;
  }
  stream.accept = options_.metadata_only ? kMetadata : kJson;
  stream.max_idle = options_.dead_after;
  lines_.emplace(limits::kMaxKubeObjectBytes);
  begun_ = transport_.now();
  StreamSink sink;
  sink.refused = [this](Reply reply) {
    fail({reply.status, codec::read_status(reply.body).message, reply.retry_after});
  };
  sink.bytes = [this](std::string_view bytes) { take_bytes(bytes); };
  sink.ended = [this](const Result<void>& result) {
    if (!result) return fail({0, result.error().text(), std::nullopt});
    act(machine_.ended(lasted()));
  };
  ticket_ = transport_.stream(std::move(stream), std::move(sink));
}

template <class Object>
void Reflector<Object>::take_bytes(std::string_view bytes) {
  if (!lines_->feed(bytes)) {
    return fail({0, options_.path + ": an event of the watch is too large", std::nullopt});
  }
  while (std::string* line = lines_->next()) {
    if (const auto next = take_line(*line)) return act(*next);
  }
}

template <class Object>
std::optional<WatchRequest> Reflector<Object>::take_line(std::string& line) {
  auto event = reader_.read_event(line);
  if (!event) {
    const WatchFailure failure{0, options_.path + ": " + event.error().text(), std::nullopt};
    events_.failed(failure);
    return machine_.failed(failure, lasted());
  }
  switch (event->kind) {
    case codec::WatchKind::added:
    case codec::WatchKind::modified:
      mirror_.put(std::move(event->object), machine_.round());
      break;
    case codec::WatchKind::deleted:
      mirror_.remove(event->object);
      break;
    case codec::WatchKind::bookmark:
      break;
    case codec::WatchKind::error:
      events_.failed(
          {event->status.code, options_.path + ": " + event->status.message, std::nullopt});
      break;
  }
  const std::uint64_t before = machine_.complete();
  auto next =
      machine_.event(event->kind, event->resource_version, event->initial_end, event->status);
  note_complete(before);
  return next;
}

template <class Object>
void Reflector<Object>::note_complete(std::uint64_t before) {
  if (machine_.complete() == before) return;
  mirror_.sweep(machine_.round(), machine_.version());
  events_.synced();
}

template <class Object>
void Reflector<Object>::fail(const WatchFailure& failure) {
  WatchFailure reported = failure;
  reported.what = options_.path + ": " +
                  (failure.status != 0 ? "HTTP " + std::to_string(failure.status) + " " : "") +
                  failure.what;
  events_.failed(reported);
  // A proxy may know the plain type only; the next attempt requests that.
  if (failure.status == kNotAcceptable) options_.metadata_only = false;
  act(machine_.failed(failure, lasted()));
}

template <class Object>
std::chrono::milliseconds Reflector<Object>::lasted() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(transport_.now() - begun_);
}

template class Reflector<codec::KubePod>;
template class Reflector<codec::KubeRankTablePod>;
template class Reflector<codec::KubeNode>;
template class Reflector<codec::KubeNodeMetadata>;
template class Reflector<codec::KubeInventory>;
template class Reflector<codec::KubeLease>;
template class Reflector<codec::KubeConfigMap>;
template class Reflector<codec::KubeClaim>;
template class Reflector<codec::KubeSlice>;
template class Reflector<codec::KubeDeviceClass>;
template class Reflector<codec::KubeGangObject>;
template class Reflector<codec::KubeDocument>;

}  // namespace chipweave::kube
