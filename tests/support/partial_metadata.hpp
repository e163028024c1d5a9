// What a fake API server answers when a request accepts PartialObjectMetadata: as kube-apiserver
// 1.36 does it (apiserver/pkg/endpoints/handlers/response.go).
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "common/kube/transport.hpp"

namespace chipweave::test {

// "PartialObjectMetadata" of "application/json;as=PartialObjectMetadata;g=…"; empty: none.
inline std::string requested_kind(const std::string& accept) {
  const std::size_t at = accept.find(";as=");
  return at == std::string::npos
             ? ""
             : accept.substr(at + 4, accept.find_first_of(";,", at + 4) - at - 4);
}

template <class Json>
Json partial_metadata(const Json& object) {
  return {{"kind", "PartialObjectMetadata"},
          {"apiVersion", "meta.k8s.io/v1"},
          {"metadata", object.at("metadata")}};
}

// One line of a watch.
inline std::string converted_event(const std::string& accept, const std::string& line) {
  if (requested_kind(accept) != "PartialObjectMetadata") return line;
  auto event = nlohmann::ordered_json::parse(line);  // the type stays first
  if (event["type"] == "ERROR") return line;
  event["object"] = partial_metadata(event["object"]);
  return event.dump() + "\n";
}

inline kube::Reply converted_list(const std::string& accept, kube::Reply whole) {
  const std::string kind = requested_kind(accept);
  if (kind.empty()) return whole;
  if (kind != "PartialObjectMetadataList") {
    return {406,
            R"({"kind":"Status","code":406,"reason":"NotAcceptable","message":"you requested )" +
                kind + R"(, but the requested object is a list"})",
            std::nullopt};
  }
  auto list = nlohmann::json::parse(whole.body);
  list["kind"] = kind;
  list["apiVersion"] = "meta.k8s.io/v1";
  for (auto& item : list["items"]) item = partial_metadata(item);
  return {whole.status, list.dump(), std::nullopt};
}

}  // namespace chipweave::test
