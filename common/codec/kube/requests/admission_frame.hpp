// The frame that reviews of all kinds share: an AdmissionReview of admission.k8s.io/v1 with a
// request, and the beginning of its answer. Internal to common/codec/kube/requests.
#pragma once

#include <string>
#include <string_view>

#include "common/base/json_writer.hpp"
#include "common/base/result.hpp"
#include "common/codec/json/stream_reader.hpp"

namespace chipweave::codec {

// request: reads the value of the key `request`; if the key is repeated, it is called again and the
// last one counts. Errors: invalid_argument (invalid JSON, not an AdmissionReview of v1, no
// request).
template <class Request>
Result<void> read_admission_frame(std::string& body, const Request& request) {
  std::string api_version;
  bool asked = false;
  auto done = json_stream::read_document(body, [&](std::string_view key, auto value) {
    if (json_stream::is_key(key, "apiversion"))
      return json_stream::read_string("apiVersion", value, api_version);
    if (!json_stream::is_key(key, "request")) return json_stream::check(value, 1);
    asked = true;
    request(value);
  });
  if (!done) return std::move(done).error();
  if (api_version != "admission.k8s.io/v1")
    return make_error(Errc::invalid_argument, "not an AdmissionReview of admission.k8s.io/v1");
  if (!asked) return make_error(Errc::invalid_argument, "request is missing");
  return {};
}

// Two objects stay open: the answer and its `response`.
inline void begin_admission_answer(JsonWriter& w, std::string_view uid, bool allowed) {
  w.begin_object().field("apiVersion", "admission.k8s.io/v1").field("kind", "AdmissionReview");
  w.key("response").begin_object().field("uid", uid).key("allowed").boolean(allowed);
}

}  // namespace chipweave::codec
