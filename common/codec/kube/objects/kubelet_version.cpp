#include "common/codec/kube/objects/kubelet_version.hpp"

#include <charconv>

#include "common/codec/json/stream_reader.hpp"

namespace chipweave::codec {
namespace {

using namespace json_stream;

// Takes a number from the front.
std::optional<int> take_number(std::string_view& text) {
  int out = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (problem != std::errc() || out < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return out;
}

void read_info(od::value value, std::string& to) {
  each_member("status.nodeInfo", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "kubeletversion")) return read_string("status.nodeInfo.kubeletVersion", v, to);
    check(v, 3);
  });
}

}  // namespace

std::optional<KubeletVersion> parse_kubelet_version(std::string_view text) {
  if (!text.starts_with('v')) return std::nullopt;
  text.remove_prefix(1);
  const auto major = take_number(text);
  if (!major || !text.starts_with('.')) return std::nullopt;
  text.remove_prefix(1);
  const auto minor = take_number(text);
  if (!minor || (!text.empty() && text.front() != '.')) return std::nullopt;
  return KubeletVersion{*major, *minor};
}

Result<std::string> read_kubelet_version(std::string& node) {
  std::string out;
  auto read = read_document(node, [&](std::string_view key, od::value value) {
    if (!is_key(key, "status")) return check(value, 1);
    each_member("status", value, [&](std::string_view inner, od::value v) {
      is_key(inner, "nodeinfo") ? read_info(v, out) : check(v, 2);
    });
  });
  if (!read) return std::move(read).error();
  return out;
}

}  // namespace chipweave::codec
