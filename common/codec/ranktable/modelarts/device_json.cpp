#include "common/codec/ranktable/modelarts/device_json.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/natural_order.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr std::size_t kMaxServerIdBytes = 64;  // what HCCL takes

Result<RouteDevice> device_of(const Json& value) {
  if (!value.is_object()) return network_error("it is no object");
  struct Member {
    const char* key;
    std::string RouteDevice::*field;
  };
  static constexpr std::array<Member, 6> kMembers = {{
      {"device_id", &RouteDevice::id},
      {"device_ip", &RouteDevice::ip},
      {"super_device_id", &RouteDevice::super_device_id},
      {"rank_id", &RouteDevice::rank_id},
      {"tor_ip", &RouteDevice::tor_ip},
      {"tor_port", &RouteDevice::tor_port},
  }};
  RouteDevice out;
  for (const Member& member : kMembers) {
    Result<std::string> text = word_at(value, member.key);
    if (!text) return std::move(text).error();
    out.*member.field = *std::move(text);
  }
  if (!is_plain_number(out.id)) {
    return network_error(out.id.empty() ? "it has no device_id"
                                        : "device_id " + quoted_excerpt(out.id) +
                                              " is no decimal number such as \"0\"");
  }
  // "-1" and the like: it is in no super pod.
  if (!is_plain_number(out.super_device_id)) out.super_device_id.clear();
  return out;
}

}  // namespace

Result<std::string> word_at(const Json& object, const char* key) {
  const Json* value = json_at(object, {key});
  if (value == nullptr || value->is_null()) return std::string();
  const auto word = json_word(value);
  if (!word) return network_error(std::string(key) + " is no text");
  if (word->size() > limits::kMaxNameBytes) {
    return network_error(std::string(key) + " is longer than " +
                         std::to_string(limits::kMaxNameBytes) + " bytes");
  }
  const bool control = std::any_of(word->begin(), word->end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (control) return network_error(std::string(key) + " holds a control character");
  return *word;
}

Result<std::string> server_id_at(const Json& object) {
  Result<std::string> id = word_at(object, "server_id");
  if (!id) return id;
  if (id->empty()) return network_error("it has no server_id, the name of its machine");
  if (id->size() > kMaxServerIdBytes) {
    return network_error("server_id " + quoted_excerpt(*id) + " is longer than " +
                         std::to_string(kMaxServerIdBytes) + " bytes");
  }
  return id;
}

bool is_plain_number(const std::string& text) {
  constexpr std::size_t kMaxDigits = 10;  // ids have 32 bits
  return !text.empty() && text.size() <= kMaxDigits && (text.size() == 1 || text[0] != '0') &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Result<std::vector<RouteDevice>> devices_of(const Json& list) {
  if (list.size() > kMaxReportDevices) {
    return make_error(Errc::limit_exceeded,
                      "more than " + std::to_string(kMaxReportDevices) + " devices on one machine");
  }
  std::vector<RouteDevice> out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Result<RouteDevice> device = device_of(list[i]);
    if (!device) return std::move(device).error().in("device[" + std::to_string(i) + "]");
    out.push_back(*std::move(device));
  }
  std::sort(out.begin(), out.end(),
            [](const RouteDevice& a, const RouteDevice& b) { return natural_less(a.id, b.id); });
  const auto twice =
      std::adjacent_find(out.begin(), out.end(),
                         [](const RouteDevice& a, const RouteDevice& b) { return a.id == b.id; });
  if (twice != out.end()) return network_error("device " + twice->id + " is there twice");
  return out;
}

std::string compact(const OrderedJson& value) {
  return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace chipweave::codec
