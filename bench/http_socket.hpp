// HttpSocket — a blocking HTTP client that throws bodies away, so that they take no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace chipweave::bench {

void set_no_delay(int fd);
// False: the other side is gone.
bool write_all(int fd, std::string_view bytes);

class HttpSocket {
 public:
  explicit HttpSocket(std::uint16_t port);
  ~HttpSocket();
  HttpSocket(const HttpSocket&) = delete;
  HttpSocket& operator=(const HttpSocket&) = delete;

  struct Reply {
    int status = 0;
    std::size_t bytes = 0;  // of the body
    std::string begin;      // the first bytes of the body
  };
  Reply ask(std::string_view method, std::string_view target, std::string_view body = {});

 private:
  int fd_;
};

}  // namespace chipweave::bench
