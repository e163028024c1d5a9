#include "common/codec/kube/dra/claim_stream.hpp"

#include <algorithm>
#include <utility>

#include "common/codec/kube/pod/nodes/node_wishes.hpp"
#include "common/codec/kube/pod/pod_stream.hpp"

namespace chipweave::codec::json_stream {
namespace {

void read_texts(const char* name, od::value value, std::vector<std::string>& to) {
  to.clear();
  each_element(name, value, [&](od::value one) { read_string(name, one, to.emplace_back()); });
}

// Whether a list or map has anything in it.
bool has_members(od::value& value) {
  if (is_null(value)) return false;
  bool any = false;
  if (value.type() == od::json_type::array) {
    for (auto one : value.get_array()) {
      check(one.value(), 6);
      any = true;
    }
  } else {
    check(value, 6);
    any = true;
  }
  return any;
}

void note_problem(std::string& problem, const std::string& what) {
  if (problem.empty()) problem = what;
}

// exactly: names what it wants besides a number of devices, for refusals.
void read_exactly(od::value value, DeviceRequest& to) {
  each_member("exactly", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "deviceclassname")) return read_string("deviceClassName", v, to.device_class);
    if (is_key(key, "count")) {
      if (!is_null(v)) to.count = v.get_int64();
      return;
    }
    if (is_key(key, "allocationmode")) {
      std::string mode;
      read_string("allocationMode", v, mode);
      if (!mode.empty() && mode != "ExactCount") note_problem(to.problem, "allocationMode " + mode);
      return;
    }
    if (is_key(key, "adminaccess")) {
      if (token_of(v) == "true") note_problem(to.problem, "adminAccess");
      return;
    }
    if (is_key(key, "selectors")) {
      if (has_members(v)) note_problem(to.problem, "selectors");
      return;
    }
    if (is_key(key, "capacity")) {
      if (has_members(v)) note_problem(to.problem, "capacity");
      return;
    }
    check(v, 6);
  });
}

void read_requests(od::value value, std::vector<DeviceRequest>& to) {
  to.clear();
  each_element("spec.devices.requests", value, [&](od::value one) {
    DeviceRequest& request = to.emplace_back();
    bool exact = false;
    each_member("requests", one, [&](std::string_view key, od::value v) {
      if (is_key(key, "name")) return read_string("name", v, request.name);
      if (is_key(key, "exactly")) {
        exact = true;
        return read_exactly(v, request);
      }
      if (is_key(key, "firstavailable")) {
        // the classes of all alternatives say whose the claim is; the first one is enough
        each_element("firstAvailable", v, [&](od::value alternative) {
          DeviceRequest other;
          read_exactly(alternative, other);
          if (request.device_class.empty()) request.device_class = other.device_class;
        });
        return note_problem(request.problem, "firstAvailable");
      }
      check(v, 5);
    });
    if (!exact) note_problem(request.problem, "neither exactly nor firstAvailable");
  });
}

void read_constraints(od::value value, KubeClaim& to) {
  to.match.clear();
  each_element("spec.devices.constraints", value, [&](od::value one) {
    MatchAttribute match;
    each_member("constraints", one, [&](std::string_view key, od::value v) {
      if (is_key(key, "requests")) return read_texts("requests", v, match.requests);
      if (is_key(key, "matchattribute")) return read_string("matchAttribute", v, match.attribute);
      if (!is_null(v)) note_problem(to.problem, "the constraint " + std::string(key));
      check(v, 6);
    });
    if (!match.attribute.empty()) to.match.push_back(std::move(match));
  });
}

void read_configs(od::value value, std::vector<OpaqueConfig>& to) {
  to.clear();
  each_element("config", value, [&](od::value one) {
    OpaqueConfig config;
    each_member("config", one, [&](std::string_view key, od::value v) {
      if (is_key(key, "requests")) return read_texts("requests", v, config.requests);
      if (!is_key(key, "opaque") || is_null(v)) return check(v, 6);
      if (!begin_object("opaque", v)) return;
      od::object opaque = v.get_object();
      config.opaque = std::string_view(opaque.raw_json());
    });
    if (!config.opaque.empty()) to.push_back(std::move(config));
  });
}

void read_claim_spec(od::value value, int depth, KubeClaim& to) {
  each_member("spec", value, [&](std::string_view key, od::value v) {
    if (!is_key(key, "devices")) return check(v, depth + 1);
    each_member("spec.devices", v, [&](std::string_view inner, od::value w) {
      if (is_key(inner, "requests")) return read_requests(w, to.requests);
      if (is_key(inner, "constraints")) return read_constraints(w, to);
      if (is_key(inner, "config")) return read_configs(w, to.configs);
      check(w, depth + 2);
    });
  });
}

void read_results(od::value value, std::vector<ClaimedDevice>& to) {
  to.clear();
  each_element("status.allocation.devices.results", value, [&](od::value one) {
    ClaimedDevice device;
    const bool given = each_member("results", one, [&](std::string_view key, od::value v) {
      if (is_key(key, "driver")) return read_string("driver", v, device.driver);
      if (is_key(key, "pool")) return read_string("pool", v, device.pool);
      if (is_key(key, "device")) return read_string("device", v, device.device);
      check(v, 6);
    });
    if (given) to.push_back(std::move(device));
  });
}

void read_consumers(od::value value, KubeClaim& to) {
  to.consumers.clear();
  to.pods.clear();
  each_element("status.reservedFor", value, [&](od::value one) {
    ClaimConsumer consumer;
    each_member("reservedFor", one, [&](std::string_view key, od::value v) {
      if (is_key(key, "apigroup")) return read_string("apiGroup", v, consumer.api_group);
      if (is_key(key, "resource")) return read_string("resource", v, consumer.resource);
      if (is_key(key, "name")) return read_string("name", v, consumer.name);
      if (is_key(key, "uid")) return read_string("uid", v, consumer.uid);
      check(v, 5);
    });
    if (consumer.resource == "pods") to.pods.push_back(consumer.uid);
    to.consumers.push_back(std::move(consumer));
  });
}

void read_claim_allocation(od::value value, int depth, KubeClaim& to) {
  to.allocated = each_member("allocation", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "nodeselector")) {
      each_member("nodeSelector", v, [&](std::string_view inner, od::value w) {
        if (is_key(inner, "nodeselectorterms")) return read_node_terms(w, depth + 2, to.node_terms);
        check(w, depth + 2);
      });
      return;
    }
    if (!is_key(key, "devices")) return check(v, depth + 1);
    each_member("devices", v, [&](std::string_view inner, od::value w) {
      if (is_key(inner, "results")) return read_results(w, to.devices);
      check(w, depth + 2);
    });
  });
}

}  // namespace

bool read_kube_claim(od::value value, int depth, KubeClaim& to) {
  to = KubeClaim{};
  return each_member("ResourceClaim", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "metadata")) return read_metadata(v, depth + 1, to);
    if (is_key(key, "spec")) return read_claim_spec(v, depth + 1, to);
    if (!is_key(key, "status")) return check(v, depth + 1);
    each_member("status", v, [&](std::string_view inner, od::value w) {
      if (is_key(inner, "reservedfor")) return read_consumers(w, to);
      if (is_key(inner, "allocation")) return read_claim_allocation(w, depth + 2, to);
      check(w, depth + 2);
    });
  });
}

bool read_device_class(od::value value, int depth, KubeDeviceClass& to) {
  to = KubeDeviceClass{};
  return each_member("DeviceClass", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "metadata")) return read_metadata(v, depth + 1, to);
    if (!is_key(key, "spec")) return check(v, depth + 1);
    each_member("spec", v, [&](std::string_view inner, od::value w) {
      if (is_key(inner, "config")) return read_configs(w, to.configs);
      if (!is_key(inner, "selectors")) return check(w, depth + 2);
      to.selectors.clear();
      each_element("spec.selectors", w, [&](od::value one) {
        std::string& selector = to.selectors.emplace_back();
        each_member("selectors", one, [&](std::string_view kind, od::value x) {
          if (!is_key(kind, "cel")) return check(x, depth + 4);
          each_member("cel", x, [&](std::string_view in_cel, od::value y) {
            if (is_key(in_cel, "expression")) return read_string("expression", y, selector);
            check(y, depth + 5);
          });
        });
      });
    });
  });
}

}  // namespace chipweave::codec::json_stream
