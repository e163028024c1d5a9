#include "node-agent/publish/node/kubelet_version_reader.hpp"

#include <chrono>
#include <utility>

#include "common/base/text.hpp"
#include "common/codec/kube/objects/kubelet_version.hpp"

namespace chipweave::agent {
namespace {

constexpr codec::KubeletVersion kOldest{1, 30};
constexpr std::chrono::minutes kReadOldAgain{10};
constexpr std::size_t kMaxText = 64;

}  // namespace

KubeletVersionReader::KubeletVersionReader(kube::Transport& transport, const std::string& node,
                                           kube::ApiChain::Options chain,
                                           std::function<void(bool usable)> usable)
    : chain_(transport, std::move(chain), {[this] { request(); }, [](bool) {}}),
      path_("/api/v1/nodes/" + node),
      usable_(std::move(usable)) {}

void KubeletVersionReader::read() {
  if (!std::exchange(busy_, true)) request();
}

void KubeletVersionReader::request() {
  kube::Call call;
  call.target = path_;
  chain_.send(std::move(call), [this](Result<kube::Reply> reply) { answered(std::move(reply)); });
}

void KubeletVersionReader::answered(Result<kube::Reply> reply) {
  if (chain_.failed("cannot read the kubelet's version", reply, {})) return;
  const auto text = codec::read_kubelet_version(reply->body);
  if (!text) return chain_.refused("cannot read the kubelet's version: " + text.error().text());
  found(*text);
}

void KubeletVersionReader::found(const std::string& text) {
  const auto version = codec::parse_kubelet_version(text);
  if (!version) {
    return chain_.refused("the Node names no version of its kubelet (\"" +
                          with_dots(text, kMaxText) +
                          "\"): until it does, it is not asked which chips pods use");
  }
  chain_.succeeded();
  const bool usable = *version >= kOldest;
  if (usable) {
    busy_ = false;
  } else {
    chain_.note("the kubelet " + with_dots(text, kMaxText) +
                " is not asked which chips pods use, since before 1.30 that can crash it: all are "
                "taken as free");
    chain_.wait(kReadOldAgain, [this] { request(); });
  }
  usable_(usable);
}

}  // namespace chipweave::agent
