#include "common/kube/api_chain.hpp"

#include <algorithm>
#include <utility>

#include "common/codec/kube/watch.hpp"
#include "common/obs/log.hpp"

namespace chipweave::kube {
namespace {

constexpr int kUnauthorized = 401;  // the token is read again for the next request
constexpr int kRequestTimeout = 408;
constexpr int kInternal = 500;
// A server whose messages all differ may fill the log, but not the memory.
constexpr std::size_t kMaxLines = 16;

}  // namespace

bool is_transient(int status) {
  return status == kUnauthorized || status == kRequestTimeout || status == kTooManyRequests ||
         status >= kInternal;
}

std::string problem_of(const Result<Reply>& reply) {
  if (!reply) return reply.error().text();
  constexpr std::size_t kMaxText = 1000;  // a refusal of the schema lists every wrong value
  std::string body = reply->body;
  return "HTTP " + std::to_string(reply->status) + ": " +
         codec::read_status(body).message.substr(0, kMaxText);
}

ApiChain::ApiChain(Transport& transport, Options options, Owner owner)
    : transport_(transport),
      options_(std::move(options)),
      owner_(std::move(owner)),
      backoff_({options_.backoff_least, options_.backoff_most}, Backoff::seeded(options_.seed)) {}

void ApiChain::send(Call call, Then then) {
  call.deadline = options_.one_try;
  ticket_ = transport_.call(std::move(call), std::move(then));
}

void ApiChain::wait(Ms delay, std::function<void()> then) {
  ticket_ = transport_.after(delay, std::move(then));
}

bool ApiChain::failed(const char* doing, const Result<Reply>& reply,
                      std::initializer_list<int> expected) {
  if (reply && (reply->status / 100 == 2 ||
                std::find(expected.begin(), expected.end(), reply->status) != expected.end()))
    return false;
  const std::string problem = std::string(doing) + ": " + problem_of(reply);
  if (reply && !is_transient(reply->status)) {
    refused(problem);
    return true;
  }
  log_once(complaints_, problem);
  owner_.works(false);
  Ms delay = backoff_.next();
  if (reply && reply->retry_after)
    delay = std::max(delay, std::min<Ms>(*reply->retry_after, options_.longest_retry_after));
  wait(delay, owner_.resume);
  return true;
}

void ApiChain::refused(const std::string& problem) {
  if (log_once(complaints_, problem) && owner_.refused) owner_.refused(problem);
  owner_.works(false);
  wait(options_.refused_wait, owner_.resume);
}

void ApiChain::look_again() {
  if (std::exchange(looked_again_, true)) return wait(backoff_.next(), owner_.resume);
  owner_.resume();
}

void ApiChain::succeeded() {
  looked_again_ = false;
  complaints_.clear();
  backoff_.reset();
  owner_.works(true);
}

bool ApiChain::log_once(std::set<std::string>& logged, const std::string& problem) {
  if (logged.size() >= kMaxLines) logged.clear();
  if (!logged.insert(problem).second) return false;
  obs::log(obs::Level::warn, options_.what, {{"problem", problem}});
  return true;
}

}  // namespace chipweave::kube
