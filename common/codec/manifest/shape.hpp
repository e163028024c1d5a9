// Shape — reads the keys of one manifest document and collects everything that is wrong with it,
// each with its path.
//
// Used inside this folder only. Getters return an empty value if a key is absent or wrong; the
// caller checks done() at the end, so one run reports all mistakes of a document.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/json/json_object.hpp"

namespace chipweave::codec {

class Shape {
 public:
  // line: where the document begins, for messages.
  explicit Shape(int line) : line_(line) {}

  // null means absent.
  JsonValue object(JsonValue parent, std::string_view key, const std::string& where);
  JsonValue array(JsonValue parent, std::string_view key, const std::string& where);
  std::string text(JsonValue parent, std::string_view key, const std::string& where);
  // A whole number from 0; `fallback` if absent.
  int count(JsonValue parent, std::string_view key, const std::string& where, int fallback);
  bool flag(JsonValue parent, std::string_view key, const std::string& where);
  // metadata.name of Kubernetes: a DNS subdomain of at most 253 bytes.
  void check_name(const std::string& name, const std::string& where);
  void check_namespace(const std::string& name, const std::string& where);

  void problem(const std::string& where, const std::string& what);
  bool sound() const { return problems_.empty(); }
  // All problems in one error: "document at line 4: spec.tasks: …; metadata.name: …".
  Result<void> done() const;

 private:
  int line_;
  std::vector<std::string> problems_;
};

}  // namespace chipweave::codec
