#include "bench/echo_floor.hpp"

#include <cstddef>
#include <string_view>
#include <thread>
#include <utility>

#include <simdjson.h>

#include "common/http/loop.hpp"
#include "common/http/server.hpp"

namespace chipweave::bench {
namespace {

namespace ondemand = simdjson::ondemand;

// Reads what a scheduler needs of the request, in document order, views only. A number that depends
// on every part, so that nothing can be left out; throws simdjson_error for anything else.
std::size_t walk(ondemand::parser& parser, std::string& body) {
  std::size_t sum = 0;
  ondemand::document document =
      parser.iterate(simdjson::padded_string_view(body.data(), body.size(), body.capacity()));
  ondemand::object root = document.get_object();
  ondemand::object pod = root["Pod"].get_object();
  ondemand::object metadata = pod["metadata"].get_object();
  for (const char* key : {"name", "namespace", "uid"})
    sum += std::string_view(metadata[key]).size();
  for (const char* key : {"labels", "annotations"}) {
    for (auto field : metadata[key].get_object()) {
      sum += std::string_view(field.unescaped_key()).size();
      sum += std::string_view(field.value()).size();
    }
  }
  ondemand::array containers = pod["spec"]["containers"].get_array();
  for (ondemand::object container : containers) {
    for (auto limit : container["resources"]["limits"].get_object()) {
      sum += std::string_view(limit.unescaped_key()).size();
      sum += std::string_view(limit.value()).size();
    }
  }
  ondemand::array names = root["NodeNames"].get_array();
  for (std::string_view name : names) sum += name.size();
  return sum;
}

}  // namespace

struct EchoFloor::Impl {
  Impl() : server(loop, {}, [this](const http::Request& request) { return answer(request); }) {}

  http::Response answer(const http::Request& request) {
    checksum = checksum + walk(parser, request.body);
    http::Response response;
    response.body = reply;
    return response;
  }

  http::Loop loop;
  ondemand::parser parser;
  std::string reply;
  volatile std::size_t checksum = 0;  // keeps the walk alive
  http::Server server;
  std::uint16_t port = 0;
  std::thread thread;
};

EchoFloor::EchoFloor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EchoFloor::EchoFloor(EchoFloor&&) noexcept = default;

EchoFloor::~EchoFloor() {
  if (!impl_) return;
  impl_->loop.stop();
  impl_->thread.join();
}

Result<EchoFloor> EchoFloor::start() {
  auto impl = std::make_unique<Impl>();
  const auto port = impl->server.start();
  if (!port.ok()) return port.error();
  impl->port = *port;
  impl->thread = std::thread([raw = impl.get()] { raw->loop.run(); });
  return EchoFloor(std::move(impl));
}

std::string EchoFloor::url() const { return "127.0.0.1:" + std::to_string(impl_->port); }

void EchoFloor::set_reply(std::string body) {
  impl_->loop.post_and_wait([&] { impl_->reply = std::move(body); });
}

}  // namespace chipweave::bench
