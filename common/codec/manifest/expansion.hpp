// Expansion — the pods collected so far, and the only place that makes a pod from a template, with
// nlohmann/json: the template is edited and written back. Used inside this folder only.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "common/codec/kube/pod/pod.hpp"
#include "common/codec/manifest/manifest.hpp"
#include "common/codec/manifest/shape.hpp"

namespace chipweave::codec {

// The object that a document describes: the fields common to all kinds.
struct ManifestObject {
  std::string api_version;
  std::string kind;
  std::string ns;
  std::string name;
  JsonValue body;  // the document; lives as long as the expansion of it
};

// What a controller adds to one pod of a template.
struct PodIdentity {
  std::string name;
  StringMap labels;
  StringMap annotations;
  nlohmann::json spec_defaults =
      nlohmann::json::object();  // set where the template leaves them open
};

class Expansion {
 public:
  explicit Expansion(ManifestOptions options) : options_(std::move(options)) {}

  const ManifestOptions& options() const { return options_; }
  // Whether `more` pods of the template fit the limits on pods and bytes; counts their bytes. False
  // if they do not fit or if the document already has a problem. Call it once before the pods of a
  // template are added.
  bool room_for(int more, JsonValue pod_template, const std::string& where, Shape& shape);
  // `where`: path of the template in its document, for messages.
  void add_pod(const ManifestObject& owner, JsonValue pod_template, const PodIdentity& identity,
               const std::string& where, Shape& shape);
  void note(std::string text);
  Manifest take() && { return std::move(manifest_); }

 private:
  ManifestOptions options_;
  Manifest manifest_;
  std::set<std::string> names_;
  std::size_t bytes_ = 0;
};

// Adds the pods of one kind; problems go to `shape`. False if pods of this kind are not supported.
bool expand_object(const ManifestObject& object, Expansion& out, Shape& shape);

}  // namespace chipweave::codec
