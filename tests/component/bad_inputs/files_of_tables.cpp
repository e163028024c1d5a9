// Rank tables, pods of a job, and manifests.
#include "tests/component/bad_inputs/bad_input.hpp"

namespace chipweave {
namespace {

BadInput manifest(const std::string& name, const std::string& text,
                  std::vector<std::string> words) {
  words.insert(words.begin(), "file y.yaml: ");
  return {name, "submit y.yaml --print", 3, std::move(words), {{"y.yaml", text}}};
}

std::string job(const std::string& parallelism) {
  return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {parallelism: " +
         parallelism + ", template: {spec: {containers: [{name: c}]}}}\n";
}

// Each level has nine aliases of the one before.
std::string billion_laughs() {
  std::string text = "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c <= 'i'; ++c) {
    const std::string before = std::string("*") + static_cast<char>(c - 1);
    text += std::string(1, c) + ": &" + c + " [" + before;
    for (int i = 0; i < 8; ++i) text += "," + before;
    text += "]\n";
  }
  return text;
}

}  // namespace

std::vector<BadInput> bad_table_files() {
  return {
      {"MissingTable", "ranktable lint missing.json", 3, {"file missing.json", "No such file"}},
      {"UnknownTableProfile",
       "ranktable lint table.json --profile hccl-a9",
       2,
       {"--profile: unknown profile \"hccl-a9\" (did you mean \"hccl-a2\""}},
      {"UnknownDialect",
       "ranktable lint table.json --dialect hccl",
       2,
       {"--dialect: unknown dialect \"hccl\""}},
      {"PointerWithoutSlash",
       "ranktable lint table.json --pointer data",
       2,
       {"--pointer: expected a JSON pointer"}},
      {"DryRunWithoutFix", "ranktable lint table.json --dry-run", 2, {"--dry-run requires --fix"}},
      {"UnknownTableForm",
       "ranktable convert table.json --to hccl-9",
       2,
       {"--to: unknown form \"hccl-9\""}},
      {"EmptyTable",
       "ranktable convert empty --to hostfile",
       1,
       {"empty:1:1: RT001: the file is empty"}},
      {"BinaryTable", "ranktable convert binary --to hostfile", 1, {"binary:1:1: RT001"}},
      {"DeepTable",
       "ranktable convert deep.json --to hostfile",
       1,
       {"deep.json:1:65: RT001: nested deeper"}},
      {"ListAsTable",
       "ranktable convert list.json --to hostfile",
       1,
       {"list.json:1:1: RT002", "a JSON object"}},
      {"DiffWithMissing",
       "ranktable diff table.json missing.json",
       3,
       {"file missing.json", "No such file"}},
      {"HashOfMissing", "ranktable hash missing.json", 3, {"file missing.json", "No such file"}},
      {"TableOfOtherHosts",
       "ranktable order table.json --network net.csv",
       3,
       {"file table.json: expected nodes of the network", "\"a\""}},
      {"RouteWithoutPods", "route plan", 2, {"one of --pods or --hosts is required"}},
      {"WordsAsPods", "route plan --pods words.txt", 3, {"file words.txt: expected pods"}},
      {"IndexBeyondThePods",
       "route init --index 9 --hosts hosts --network net.csv --dir .",
       2,
       {"--index: must be 0 to 1"}},
      {"MissingManifest",
       "submit missing.yaml --scheduler 127.0.0.1:1",
       3,
       {"file missing.yaml", "No such file"}},
      {"EmptyManifest", "submit empty --scheduler 127.0.0.1:1", 3, {"no pods in file empty"}},
      {"BinaryManifest",
       "submit binary --scheduler 127.0.0.1:1",
       3,
       {"file binary: not UTF-8 text"}},
      {"DeepManifest",
       "submit deep.json --print",
       3,
       {"file deep.json: line 1, column 65: nested deeper than 64 levels"}},
      manifest("BrokenYaml", "a: [\n", {"line 2: not valid YAML"}),
      manifest("WordsAsManifest", "just text\n",
               {"line 1: not a Kubernetes object: expected a map, got a string"}),
      manifest("ManifestWithoutKind", "apiVersion: v1\nmetadata: {name: a}\n",
               {"line 1: kind is missing"}),
      manifest("BillionLaughs", billion_laughs(), {"unfolds to more than"}),
      manifest("NegativeParallelism", job("-2"),
               {"spec.parallelism must be a whole number from 0"}),
      manifest("HugeParallelism", job("2000000000"), {"spec.parallelism makes more than"}),
      manifest("ParallelismOfText", job("two"), {"spec.parallelism must be a whole number"}),
      {"NamespaceOfUpperCase",
       "submit pod.yaml --print -n A.B",
       2,
       {"-n: expected a namespace", "\"A.B\""}},
      {"SubmitWithoutScheduler", "submit pod.yaml", 2, {"--scheduler is required"}},
      {"OverlayWithoutCompare",
       "submit pod.yaml --overlay x --scheduler 127.0.0.1:1",
       2,
       {"--overlay requires --compare"}},
  };
}

}  // namespace chipweave
