#include "common/codec/kube/dra/dra_claim.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "common/codec/json/stream_reader.hpp"

namespace chipweave::codec {
namespace {

using namespace json_stream;

void read_flag(od::value value, bool& to) {
  const std::string_view token = token_of(value);
  if (token != "true" && token != "false" && token != "null")
    wrong_type("adminAccess", "a boolean");
  to = token == "true";
}

void read_result(od::value value, AllocatedResult& to) {
  each_member("results", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "request")) return read_string("request", v, to.request);
    if (is_key(key, "driver")) return read_name("driver", v, to.driver);
    if (is_key(key, "pool")) return read_name("pool", v, to.pool);
    if (is_key(key, "device")) return read_name("device", v, to.device);
    if (is_key(key, "adminaccess")) return read_flag(v, to.admin);
    if (!is_key(key, "shareid")) return check(v, 6);
    std::string share;
    read_name("shareID", v, share);
    to.shared = !share.empty();
  });
  // "request/subrequest": the kubelet knows the request.
  to.request.resize(std::min(to.request.find('/'), to.request.size()));
}

void read_metadata(od::value value, DraClaim& to) {
  each_member("metadata", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "uid")) return read_name("metadata.uid", v, to.uid);
    if (is_key(key, "name")) return read_name("metadata.name", v, to.name);
    if (is_key(key, "namespace")) return read_name("metadata.namespace", v, to.ns);
    if (!is_key(key, "annotations")) return check(v, 2);
    std::map<std::string, std::string, std::less<>> annotations;
    read_map("metadata.annotations", v, false, annotations);
    const auto found = annotations.find(kOneContainerAnnotation);
    to.one_container = found != annotations.end() && found->second == "true";
  });
}

void read_allocation(od::value value, std::vector<AllocatedResult>& to, bool& too_many) {
  each_member("status.allocation", value, [&](std::string_view key, od::value v) {
    if (!is_key(key, "devices")) return check(v, 3);
    each_member("devices", v, [&](std::string_view inner, od::value w) {
      if (!is_key(inner, "results")) return check(w, 4);
      each_element("results", w, [&](od::value one) {
        if (to.size() == kMaxClaimDevices) {
          too_many = true;
          return check(one, 5);
        }
        AllocatedResult result;
        read_result(one, result);
        to.push_back(std::move(result));
      });
    });
  });
}

}  // namespace

Result<DraClaim> read_dra_claim(std::string& body) {
  DraClaim out;
  bool too_many = false;
  auto read = read_document(body, [&](std::string_view key, od::value v) {
    if (is_key(key, "metadata")) return read_metadata(v, out);
    if (!is_key(key, "status")) return check(v, 1);
    each_member("status", v, [&](std::string_view inner, od::value w) {
      if (!is_key(inner, "allocation")) return check(w, 2);
      read_allocation(w, out.results, too_many);
    });
  });
  if (!read) return std::move(read).error();
  if (too_many) {
    return make_error(Errc::limit_exceeded, "more than " + std::to_string(kMaxClaimDevices) +
                                                " devices are allocated for the claim");
  }
  if (out.uid.empty()) return make_error(Errc::invalid_argument, "the claim has no metadata.uid");
  return out;
}

}  // namespace chipweave::codec
