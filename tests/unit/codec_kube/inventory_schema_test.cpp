// The CRD's schema against what the agent writes. The API server drops keys that the schema does
// not know, and refuses values that it does not allow: so every machine must pass, and the schema
// may not contain keys that are never written.
#include <gtest/gtest.h>

#include <set>

#include "common/codec/yaml/yaml_tree.hpp"
#include "tests/support/paths.hpp"
#include "tests/unit/codec_kube/machines.hpp"

namespace chipweave::codec {
namespace {

using Json = nlohmann::json;

const Json& crd() {
  static const Json document = [] {
    const auto text = test::file_content(
        test::source_path("charts/chipweave/crds/chipweave.dev_nodeinventories.yaml"));
    const auto documents = parse_yaml(text.value());
    EXPECT_TRUE(documents) << documents.error().text();
    return Json::parse(documents->at(0).tree.document());
  }();
  return document;
}
const Json& version() { return crd()["spec"]["versions"].at(0); }
const Json& schema() { return version()["schema"]["openAPIV3Schema"]; }

// The part of OpenAPI v3 that the schema uses; any other keyword is a problem, so that none is
// ignored silently.
class Checker {
 public:
  void check(const Json& schema, const Json& value, const std::string& path) {
    used_.insert(path);
    const std::string type = schema.value("type", "");
    if (!of_type(type, value)) return problem(path, "is no " + type + ": " + value.dump());
    for (const auto& [word, rule] : schema.items()) hold(word, rule, schema, value, path);
    if (type == "object") check_members(schema, value, path);
    if (type == "array") {
      for (const Json& item : value) check(schema.at("items"), item, path + "[]");
    }
  }
  // Properties of the schema that no value had.
  void list_unused(const Json& schema, const std::string& path, std::set<std::string>& out) const {
    if (used_.count(path) == 0) out.insert(path);
    if (schema.contains("items")) list_unused(schema["items"], path + "[]", out);
    if (!schema.contains("properties")) return;
    for (const auto& [key, inner] : schema["properties"].items())
      list_unused(inner, path + "." + key, out);
  }
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  void problem(const std::string& path, const std::string& what) {
    problems_.push_back(path + " " + what);
  }
  static bool of_type(const std::string& type, const Json& value) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer();
    return type == "number" && value.is_number();
  }
  void hold(const std::string& word, const Json& rule, const Json& schema, const Json& value,
            const std::string& path) {
    static const std::set<std::string> structure = {"type",
                                                    "description",
                                                    "properties",
                                                    "items",
                                                    "format",
                                                    "additionalProperties",
                                                    "exclusiveMinimum",
                                                    "x-kubernetes-list-type",
                                                    "x-kubernetes-list-map-keys"};
    if (structure.count(word) == 1) return;
    bool holds = false;
    if (word == "minimum") {
      holds = schema.value("exclusiveMinimum", false) ? value > rule : value >= rule;
    } else if (word == "maximum") {
      holds = value <= rule;
    } else if (word == "enum") {
      holds = std::find(rule.begin(), rule.end(), value) != rule.end();
    } else if (word == "minItems" || word == "maxItems" || word == "maxProperties") {
      holds = word == "minItems" ? value.size() >= rule : value.size() <= rule;
    } else if (word == "minLength" || word == "maxLength") {
      const std::size_t size = value.get_ref<const std::string&>().size();
      holds = word == "minLength" ? size >= rule : size <= rule;
    } else if (word == "required") {
      holds = std::all_of(rule.begin(), rule.end(),
                          [&](const Json& key) { return value.contains(key.get<std::string>()); });
    }
    if (!holds) problem(path, "breaks " + word + " " + rule.dump() + ": " + value.dump());
  }
  void check_members(const Json& schema, const Json& value, const std::string& path) {
    for (const auto& [key, member] : value.items()) {
      const std::string inner = path + "." + key;
      if (schema.contains("properties") && schema["properties"].contains(key)) {
        check(schema["properties"][key], member, inner);
      } else if (schema.contains("additionalProperties")) {
        check(schema["additionalProperties"], member, path + ".*");
      } else {
        problem(inner, "is not in the schema: the API server would drop it");
      }
    }
  }

  std::vector<std::string> problems_;
  std::set<std::string> used_;
};

TEST(InventorySchema, KnowsAllThatIsWrittenAndNothingElse) {
  Checker checker;
  for (const auto& [name, inventory] : all_inventories()) {
    const Json object = Json::parse(write_inventory_status(inventory, {"u1", "1"}));
    const std::size_t before = checker.problems().size();
    checker.check(schema()["properties"]["status"], object["status"], "status");
    if (checker.problems().size() > before) ADD_FAILURE() << name;
  }
  for (const std::string& problem : checker.problems()) ADD_FAILURE() << problem;
  std::set<std::string> unused;
  checker.list_unused(schema()["properties"]["status"], "status", unused);
  EXPECT_EQ(unused, std::set<std::string>{});
}

TEST(InventorySchema, TheCheckerSeesWhatTheServerWould) {
  const auto problems = [](const Json& change) {
    Json status =
        Json::parse(write_inventory_status(inventory_of(everything()), {"u1", "1"}))["status"];
    status.merge_patch(change);
    Checker checker;
    checker.check(schema()["properties"]["status"], status, "status");
    return checker.problems().size();
  };
  EXPECT_EQ(problems(Json::object()), 0U);
  EXPECT_EQ(problems({{"surprise", 1}}), 1U);
  EXPECT_EQ(problems({{"sequence", 0}}), 1U);
  EXPECT_EQ(problems({{"bootId", nullptr}}), 1U) << "required";
  EXPECT_EQ(problems({{"topology", {{"rule", {{"kind", "some"}}}}}}), 1U);
  EXPECT_EQ(problems({{"topology", {{"host_gbps", {{"PIX", 0}}}}}}), 1U);
  EXPECT_EQ(problems({{"topology", {{"chips", Json::array()}}}}), 1U);
}

TEST(InventorySchema, IsAClusterScopedResourceWithAStatus) {
  EXPECT_EQ(crd()["metadata"]["name"], "nodeinventories.chipweave.dev");
  EXPECT_EQ(crd()["spec"]["scope"], "Cluster");
  EXPECT_EQ(version()["name"], "v1alpha1");
  EXPECT_TRUE(version()["subresources"].contains("status"));
  EXPECT_EQ(std::string(kInventoryPath), "/apis/" + crd()["spec"]["group"].get<std::string>() +
                                             "/" + version()["name"].get<std::string>() + "/" +
                                             crd()["spec"]["names"]["plural"].get<std::string>());
}

}  // namespace
}  // namespace chipweave::codec
