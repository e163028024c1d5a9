// Pages and events of the Kubernetes API, split into lines as they arrive, and kubeconfigs.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/codec/kube/kubeconfig.hpp"
#include "common/codec/kube/watch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chipweave::codec;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  WatchReader<KubePod> pods;
  WatchReader<KubeNode> nodes;
  LineSplitter lines(1U << 20U);
  const std::size_t half = size / 2;
  for (const std::string_view part : {text.substr(0, half), text.substr(half)}) {
    if (!lines.feed(part)) break;
    while (std::string* line = lines.next()) {
      std::string copy = *line;
      static_cast<void>(pods.read_event(*line));
      static_cast<void>(nodes.read_event(copy));
    }
  }
  std::string body(text);
  static_cast<void>(pods.read_page(body));
  body = text;
  static_cast<void>(read_status(body));
  if (size < 65536) static_cast<void>(read_kubeconfig(text));
  return 0;
}
