#include "common/kube/api_client.hpp"

#include <utility>

#include "common/base/limits.hpp"
#include "common/io/files.hpp"
#include "common/obs/log.hpp"

namespace chipweave::kube {
namespace {

constexpr std::chrono::seconds kTokenAge{60};  // client-go's period
constexpr int kStatusUnauthorized = 401;

struct Timer {
  bool over = false;
  void cancel() { over = true; }
};

}  // namespace

ApiClient::ApiClient(http::Loop& loop, ApiAccess access, std::string agent)
    : loop_(loop),
      access_(std::move(access)),
      agent_(std::move(agent)),
      token_(access_.token),
      credentials_(access_.files, access_.origin.pem, "API server"),
      files_read_(now()) {}

Result<std::unique_ptr<ApiClient>> ApiClient::make(http::Loop& loop, ApiAccess access,
                                                   std::string agent) {
  std::unique_ptr<ApiClient> out(new ApiClient(loop, std::move(access), std::move(agent)));
  http::AsyncClient::Limits limits;
  limits.max_reply_bytes = limits::kMaxKubeReplyBytes;
  auto client = http::AsyncClient::make(loop, out->access_.origin, limits);
  if (!client) return std::move(client).error();
  out->client_ = std::move(*client);
  if (!out->access_.token_file.empty()) {
    if (auto read = out->read_token(); !read) return std::move(read).error();
  }
  return out;
}

Result<void> ApiClient::read_token() {
  auto text = io::read_file(access_.token_file, limits::kMaxCredentialBytes);
  if (!text) return std::move(text).error();
  text->erase(text->find_last_not_of("\r\n ") + 1);
  token_ = std::move(*text);
  token_read_ = now();
  return {};
}

void ApiClient::check_files() {
  if (!access_.origin.tls || now() - files_read_ < tls::kLookEvery) return;
  files_read_ = now();
  credentials_.check([this](const ClientPem& pem) { return client_->use_credentials(pem); });
}

http::AsyncRequest ApiClient::request(std::string method, const std::string& target,
                                      std::string accept) {
  check_files();
  if (!access_.token_file.empty() && now() - token_read_ > kTokenAge) {
    // The old one may still do; the server says when it no longer does.
    if (const auto read = read_token(); !read) {
      obs::log(obs::Level::warn, "token not read", {{"error", read.error().text()}});
      token_read_ = now();
    }
  }
  http::AsyncRequest out;
  out.method = std::move(method);
  out.target = access_.prefix + target;
  out.headers = {{"Accept", std::move(accept)}, {"User-Agent", agent_}};
  if (!token_.empty()) out.headers.emplace_back("Authorization", "Bearer " + token_);
  return out;
}

std::unique_ptr<Ticket> ApiClient::call(Call call, std::function<void(Result<Reply>)> done) {
  http::AsyncRequest out = request(call.method, call.target, std::move(call.accept));
  if (!call.body.empty()) out.headers.emplace_back("Content-Type", call.content_type);
  out.body = std::move(call.body);
  out.may_send = std::move(call.may_send);
  return client_->call(out, call.deadline, [this, done = std::move(done)](Result<Reply> reply) {
    if (reply && reply->status == kStatusUnauthorized) token_read_ = {};
    // The server may have another certificate now.
    if (!reply && reply.error().code == Errc::unavailable) files_read_ = {};
    done(std::move(reply));
  });
}

std::unique_ptr<Ticket> ApiClient::stream(StreamRequest wanted, StreamSink sink) {
  sink.refused = [this, refused = std::move(sink.refused)](Reply reply) {
    if (reply.status == kStatusUnauthorized) token_read_ = {};
    refused(std::move(reply));
  };
  sink.ended = [this, ended = std::move(sink.ended)](Result<void> result) {
    if (!result && result.error().code == Errc::unavailable) files_read_ = {};
    ended(std::move(result));
  };
  return client_->stream(request("GET", wanted.target, std::move(wanted.accept)), wanted.max_idle,
                         std::move(sink));
}

std::unique_ptr<Ticket> ApiClient::after(std::chrono::milliseconds delay,
                                         std::function<void()> task) {
  const auto timer = std::make_shared<Timer>();
  loop_.after(delay, [timer, task = std::move(task)] {
    if (!timer->over) task();
  });
  return http::ticket_of(timer);
}

}  // namespace chipweave::kube
