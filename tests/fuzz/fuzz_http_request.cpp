// Any bytes, split anywhere, into the server's request parser: no crash, all limits hold, and the
// splits change nothing. The first byte of the input selects the splits.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "common/http/body_decoder.hpp"
#include "common/http/request_reader.hpp"

namespace {

using chipweave::http::Request;
using chipweave::http::RequestReader;

constexpr RequestReader::Limits kLimits{512, 2048};

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

// The result of parsing a stream: the requests, and how it ends.
std::vector<std::string> meaning(std::string_view bytes, std::size_t step) {
  std::vector<std::string> all;
  RequestReader reader(kLimits);
  for (std::size_t at = 0; at < bytes.size() && reader.state() != RequestReader::State::failed;
       at += step) {
    RequestReader::State state = reader.feed(bytes.substr(at, step));
    while (state == RequestReader::State::ready) {
      const Request request = reader.request();
      require(!request.method.empty(), "a method");
      require(!request.path.empty(), "a path");
      require(request.path.size() + request.query.size() < kLimits.header_bytes, "header limit");
      require(request.body.size() <= kLimits.body_bytes, "body limit");
      require(request.body.capacity() >= request.body.size() + chipweave::http::kBodyPadding,
              "padding behind the body");
      all.push_back(std::string(request.method) + " " + std::string(request.path) + "?" +
                    std::string(request.query) + " " + request.body +
                    (reader.keep_alive() ? " keep" : " close"));
      state = reader.next();
    }
  }
  switch (reader.state()) {
    case RequestReader::State::failed:
      all.emplace_back("failed");
      break;
    case RequestReader::State::header:
      all.emplace_back("header");
      break;
    default:
      all.emplace_back("open");
      break;
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::size_t step = 1U + data[0];
  // libFuzzer hands over bytes as unsigned char
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = meaning(bytes, bytes.size() + 1);
  const auto cut = meaning(bytes, step);
  require(whole.size() == cut.size(), "cuts do not change how many requests there are");
  for (std::size_t i = 0; i + 1 < whole.size(); ++i) {
    require(whole[i] == cut[i], "cuts do not change a request");
  }
  // an incomplete header may be rejected earlier in one piece than in many
  const bool undecided = (whole.back() == "failed" && cut.back() == "header") ||
                         (whole.back() == "header" && cut.back() == "failed");
  require(undecided || whole.back() == cut.back(), "cuts do not change how it ends");
  return 0;
}
