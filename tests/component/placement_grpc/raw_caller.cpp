#include "tests/component/placement_grpc/raw_caller.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>

namespace chipweave::test {
namespace {

constexpr std::uint8_t kData = 0;
constexpr std::uint8_t kHeaders = 1;
constexpr std::uint8_t kReset = 3;
constexpr std::uint8_t kSettings = 4;
constexpr std::uint8_t kPing = 6;
constexpr std::uint8_t kWindowUpdate = 8;
constexpr std::uint8_t kEndStream = 1;
constexpr std::uint8_t kAck = 1;
constexpr std::uint8_t kEndHeaders = 4;
constexpr std::size_t kMaxFrame = 16384;

std::uint32_t number(std::string_view bytes) {
  std::uint32_t n = 0;
  for (const char c : bytes) n = n << 8U | static_cast<unsigned char>(c);
  return n;
}

std::string bytes_of(std::uint32_t n, int count) {
  std::string out;
  for (int i = count - 1; i >= 0; --i) out += static_cast<char>(n >> (8 * i) & 0xffU);
  return out;
}

// HPACK (RFC 7541): a literal of at most 127 bytes, not Huffman coded.
std::string literal(std::string_view text) {
  return static_cast<char>(text.size()) + std::string(text);
}

}  // namespace

RawCaller::RawCaller(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  // sockets' one cast: the C interface takes every family through sockaddr
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    throw std::runtime_error("connect");
  ::fcntl(fd_, F_SETFL, O_NONBLOCK);
  out_ = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  frame(kSettings, 0, 0, {});
}

RawCaller::~RawCaller() { ::close(fd_); }

void RawCaller::frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream,
                      std::string_view payload) {
  out_ += bytes_of(static_cast<std::uint32_t>(payload.size()), 3);
  out_ += static_cast<char>(type);
  out_ += static_cast<char>(flags);
  out_ += bytes_of(stream, 4);
  out_ += payload;
}

std::uint32_t RawCaller::call(std::string_view path, std::string_view authorization) {
  // 0x83, 0x86: POST and http; then the indices of :path, :authority and content-type
  std::string headers = "\x83\x86\x04" + literal(path) + "\x01" + literal("localhost") +
                        "\x0f\x10" + literal("application/grpc");
  const auto named = [&](std::string_view name, std::string_view value) {
    headers += '\0' + literal(name) + literal(value);
  };
  named("te", "trailers");
  if (!authorization.empty()) named("authorization", authorization);
  const std::uint32_t stream = next_stream_;
  next_stream_ += 2;
  calls_[stream].window = first_window_;
  frame(kHeaders, kEndHeaders, stream, headers);
  return stream;
}

void RawCaller::announce(std::uint32_t stream, std::size_t message_bytes) {
  Call& call = calls_.at(stream);
  const std::string prefix =
      std::string(1, '\0') + bytes_of(static_cast<std::uint32_t>(message_bytes), 4);
  frame(kData, 0, stream, prefix);
  call.left = message_bytes - 1;
  call.window -= static_cast<std::int64_t>(prefix.size());
  window_ -= static_cast<std::int64_t>(prefix.size());
}

bool RawCaller::pump() {
  static const std::string kBytes(kMaxFrame, '\x12');
  if (!take_frames()) return false;
  for (auto& [stream, call] : calls_) {
    while (out_.size() < 4 * kMaxFrame) {
      const std::int64_t allowed = std::min({call.window, window_, std::int64_t{kMaxFrame}});
      const std::size_t count =
          std::min(call.left, static_cast<std::size_t>(std::max<std::int64_t>(allowed, 0)));
      if (count == 0) break;
      frame(kData, 0, stream, std::string_view(kBytes).substr(0, count));
      call.left -= count;
      call.window -= static_cast<std::int64_t>(count);
      window_ -= static_cast<std::int64_t>(count);
      sent_ += count;
    }
  }
  return flush();
}

bool RawCaller::flush() {
  while (!out_.empty()) {
    const ssize_t n = ::send(fd_, out_.data(), out_.size(), MSG_NOSIGNAL);
    if (n < 0) return errno == EAGAIN;
    out_.erase(0, static_cast<std::size_t>(n));
  }
  return true;
}

bool RawCaller::take_frames() {
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t n = ::recv(fd_, buffer.data(), buffer.size(), 0);
    if (n == 0 || (n < 0 && errno != EAGAIN)) return false;
    if (n < 0) break;
    in_.append(buffer.data(), static_cast<std::size_t>(n));
  }
  constexpr std::size_t kFrameHeader = 9;
  while (in_.size() >= kFrameHeader) {
    const std::string_view all = in_;
    const std::size_t size = number(all.substr(0, 3));
    if (all.size() < kFrameHeader + size) break;
    take(static_cast<std::uint8_t>(all[3]), static_cast<std::uint8_t>(all[4]),
         number(all.substr(5, 4)), all.substr(kFrameHeader, size));
    in_.erase(0, kFrameHeader + size);
  }
  return true;
}

void RawCaller::take(std::uint8_t type, std::uint8_t flags, std::uint32_t stream,
                     std::string_view payload) {
  if (type == kWindowUpdate) {
    const std::uint32_t more = number(payload);
    if (stream == 0) window_ += more;
    if (const auto call = calls_.find(stream); call != calls_.end()) call->second.window += more;
  } else if (type == kSettings && (flags & kAck) == 0) {
    for (; payload.size() >= 6; payload.remove_prefix(6)) {
      constexpr std::uint32_t kInitialWindow = 4;
      if (number(payload.substr(0, 2)) != kInitialWindow) continue;
      const std::int64_t now = number(payload.substr(2, 4));
      for (auto& [id, call] : calls_) call.window += now - first_window_;
      first_window_ = now;
    }
    frame(kSettings, kAck, 0, {});
  } else if (type == kPing && (flags & kAck) == 0) {
    frame(kPing, kAck, 0, payload);
  } else if (type == kReset || (type == kHeaders && (flags & kEndStream) != 0)) {
    ended_.insert(stream);
    calls_.erase(stream);
  }
}

}  // namespace chipweave::test
