#include "bench/echo_floor.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <string_view>
#include <utility>

#include <simdjson.h>

#include "common/http/client.hpp"
#include "common/http/loop.hpp"
#include "common/http/server.hpp"

namespace chipweave::bench {
namespace {

namespace ondemand = simdjson::ondemand;

// Reads the parts of the request that a scheduler needs, in document order, as views. Returns a
// number that depends on every part, so that nothing can be optimised away; throws simdjson_error
// for anything else.
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

constexpr std::string_view kSetReply = "/set-reply";

// The child process: answers until it is killed, or until its parent is gone.
class Responder {
 public:
  Responder()
      : server_(loop_, {}, [this](const http::Request& request) { return answer(request); }) {}

  [[noreturn]] void run(int port_pipe) {
    const auto port = server_.start();
    const std::uint16_t number = port.ok() ? *port : 0;
    const bool told = ::write(port_pipe, &number, sizeof number) == sizeof number;
    ::close(port_pipe);
    if (told && port.ok()) loop_.run();
    ::_exit(0);
  }

 private:
  http::Response answer(const http::Request& request) {
    http::Response response;
    if (request.path == kSetReply) {
      reply_ = request.body;
    } else {
      checksum_ = checksum_ + walk(parser_, request.body);
      response.body = reply_;
    }
    return response;
  }

  http::Loop loop_;
  ondemand::parser parser_;
  std::string reply_;
  volatile std::size_t checksum_ = 0;  // keeps the walk alive
  http::Server server_;
};

}  // namespace

EchoFloor::EchoFloor(EchoFloor&& other) noexcept
    : child_(std::exchange(other.child_, -1)), port_(other.port_) {}

EchoFloor::~EchoFloor() {
  if (child_ < 0) return;
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
}

Result<EchoFloor> EchoFloor::start() {
  int ends[2];
  if (::pipe(ends) != 0) return make_error(Errc::unavailable, "no pipe for the echo floor");
  const pid_t child = ::fork();
  if (child < 0) return make_error(Errc::unavailable, "no process for the echo floor");
  if (child == 0) {
    ::close(ends[0]);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    Responder().run(ends[1]);
  }
  ::close(ends[1]);
  std::uint16_t port = 0;
  const bool read = ::read(ends[0], &port, sizeof port) == sizeof port;
  ::close(ends[0]);
  EchoFloor floor(child, port);
  if (!read || port == 0) return make_error(Errc::unavailable, "the echo floor found no port");
  return floor;
}

std::string EchoFloor::url() const { return "127.0.0.1:" + std::to_string(port_); }

Result<void> EchoFloor::set_reply(const std::string& body) {
  auto client = http::Client::connect_to(url());
  if (!client) return std::move(client).error();
  const auto reply = client->call("POST", kSetReply, body);
  if (!reply) return reply.error();
  return {};
}

}  // namespace chipweave::bench
