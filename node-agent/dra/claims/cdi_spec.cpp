#include "node-agent/dra/claims/cdi_spec.hpp"

#include "common/base/json_writer.hpp"

namespace chipweave::agent::dra {
namespace {

constexpr const char* kCdiVersion = "0.6.0";
constexpr const char* kClass = "/claim";

std::string file_prefix(const std::string& driver) { return "chipweave-" + driver + "-"; }

std::string name_in_file(const std::string& uid, const std::string& device) {
  return uid + "-" + device;
}

void write_edits(JsonWriter& w, const codec::PreparedDevice& device) {
  w.key("containerEdits").begin_object().key("env").strings(device.env);
  if (!device.nodes.empty()) {
    w.key("deviceNodes").begin_array();
    for (const codec::CdiNode& node : device.nodes) {
      w.begin_object().field("path", node.path);
      if (!node.host_path.empty()) w.field("hostPath", node.host_path);
      w.field("permissions", "rw").end_object();
    }
    w.end_array();
  }
  w.end_object();
}

}  // namespace

std::string cdi_name(const std::string& driver, const std::string& uid, const std::string& device) {
  return driver + kClass + "=" + name_in_file(uid, device);
}

std::string cdi_file_name(const std::string& driver, const std::string& uid) {
  return file_prefix(driver) + uid + ".json";
}

bool is_cdi_file_of(const std::string& driver, const std::string& name) {
  return name.starts_with(file_prefix(driver)) && name.find(".json", 0) != std::string::npos;
}

std::string write_cdi_spec(const std::string& driver, const codec::PreparedClaim& claim) {
  JsonWriter w(2);
  w.begin_object().field("cdiVersion", kCdiVersion).field("kind", driver + kClass);
  w.key("devices").begin_array();
  for (const codec::PreparedDevice& device : claim.devices) {
    w.begin_object().field("name", name_in_file(claim.uid, device.device));
    write_edits(w, device);
    w.end_object();
  }
  w.end_array().end_object();
  return w.take() + "\n";
}

}  // namespace chipweave::agent::dra
