// RawCaller — a connection that speaks HTTP/2 and gRPC by hand (RFC 9113), to send what no client
// library sends: calls whose message does not end. It sends as much as the server's windows allow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace chipweave::test {

class RawCaller {
 public:
  // Connects to loopback. Exceptions: std::runtime_error.
  explicit RawCaller(std::uint16_t port);
  RawCaller(const RawCaller&) = delete;
  RawCaller& operator=(const RawCaller&) = delete;
  ~RawCaller();

  // Starts a call: its headers, without a message. Returns the stream.
  std::uint32_t call(std::string_view path, std::string_view authorization = {});
  // Announces a message of that many bytes; what follows is sent by pump().
  void announce(std::uint32_t stream, std::size_t message_bytes);
  // Sends of all announced messages what the windows allow but for their last byte, and takes what
  // has arrived. Does not wait. False: the server has closed the connection.
  bool pump();
  // Streams that the server has ended.
  const std::set<std::uint32_t>& ended() const { return ended_; }
  std::size_t sent() const { return sent_; }  // bytes of messages

 private:
  void frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream, std::string_view payload);
  bool flush();
  bool take_frames();
  void take(std::uint8_t type, std::uint8_t flags, std::uint32_t stream, std::string_view payload);

  struct Call {
    std::int64_t window = 65535;
    std::size_t left = 0;  // of its message, but for the last byte
  };
  int fd_;
  std::uint32_t next_stream_ = 1;
  std::map<std::uint32_t, Call> calls_;
  std::set<std::uint32_t> ended_;
  std::int64_t window_ = 65535;
  std::int64_t first_window_ = 65535;
  std::string out_;
  std::string in_;
  std::size_t sent_ = 0;
};

}  // namespace chipweave::test
