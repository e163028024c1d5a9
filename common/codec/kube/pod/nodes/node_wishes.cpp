#include "common/codec/kube/pod/nodes/node_wishes.hpp"

#include <string>
#include <utility>

namespace chipweave::codec::json_stream {
namespace {

void read_strings(const char* name, od::value value, std::vector<std::string>& to) {
  to.clear();
  each_element(name, value, [&](od::value one) { read_string(name, one, to.emplace_back()); });
}

void read_requirements(const char* name, od::value value, int depth,
                       std::vector<domain::NodeRequirement>& to) {
  to.clear();
  each_element(name, value, [&](od::value one) {
    domain::NodeRequirement& wanted = to.emplace_back();
    each_member(name, one, [&](std::string_view key, od::value v) {
      if (is_key(key, "key")) return read_string("key", v, wanted.key);
      if (is_key(key, "operator")) return read_string("operator", v, wanted.op);
      if (is_key(key, "values")) return read_strings("values", v, wanted.values);
      check(v, depth + 2);
    });
  });
}

void read_affinity(od::value value, int depth, domain::NodeWishes& to) {
  to.required.clear();
  to.has_required = false;
  each_member("spec.affinity", value, [&](std::string_view key, od::value v) {
    if (!is_key(key, "nodeaffinity")) return check(v, depth + 1);
    each_member("nodeAffinity", v, [&](std::string_view inner, od::value w) {
      if (!is_key(inner, "requiredduringschedulingignoredduringexecution"))
        return check(w, depth + 2);
      to.has_required = each_member("required", w, [&](std::string_view in_required, od::value x) {
        if (!is_key(in_required, "nodeselectorterms")) return check(x, depth + 3);
        read_node_terms(x, depth + 3, to.required);
      });
    });
  });
}

void read_tolerations(od::value value, int depth, std::vector<domain::Toleration>& to) {
  to.clear();
  each_element("spec.tolerations", value, [&](od::value one) {
    domain::Toleration& toleration = to.emplace_back();
    each_member("tolerations", one, [&](std::string_view key, od::value v) {
      if (is_key(key, "key")) return read_string("key", v, toleration.key);
      if (is_key(key, "operator")) return read_string("operator", v, toleration.op);
      if (is_key(key, "value")) return read_string("value", v, toleration.value);
      if (is_key(key, "effect")) return read_string("effect", v, toleration.effect);
      check(v, depth + 2);
    });
  });
}

}  // namespace

void read_node_terms(od::value value, int depth, std::vector<domain::NodeTerm>& to) {
  to.clear();
  each_element("nodeSelectorTerms", value, [&](od::value one) {
    domain::NodeTerm& term = to.emplace_back();
    each_member("nodeSelectorTerms", one, [&](std::string_view key, od::value v) {
      if (is_key(key, "matchexpressions"))
        return read_requirements("matchExpressions", v, depth + 2, term.labels);
      if (is_key(key, "matchfields"))
        return read_requirements("matchFields", v, depth + 2, term.fields);
      check(v, depth + 2);
    });
  });
}

bool NodeWishesReader::take_spec(std::string_view key, od::value value, int depth) {
  if (is_key(key, "nodeselector")) {
    read_map("spec.nodeSelector", value, false, found_.selector);
  } else if (is_key(key, "affinity")) {
    read_affinity(value, depth, found_);
  } else if (is_key(key, "tolerations")) {
    read_tolerations(value, depth, found_.tolerations);
  } else {
    return false;
  }
  return true;
}

std::shared_ptr<const domain::NodeWishes> NodeWishesReader::finish() {
  if (found_ == domain::NodeWishes{}) return nullptr;
  return std::make_shared<const domain::NodeWishes>(std::move(found_));
}

}  // namespace chipweave::codec::json_stream
