#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/component/programs/run.hpp"
#include "tests/component/programs/run_on_terminal.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave {
namespace {

using testing::HasSubstr;

const std::string kPlace = "chipweave place --machine hgx-v100-8 ";

TEST(CommandLine, AnAnswerThatCannotBeWrittenIsAnError) {
  const std::string request = R"('{"machine":"hgx-v100-8","size":2}')";
  for (const std::string& line :
       {std::string("%B/chipweave place --machine hgx-v100-8 --size 2"),
        std::string("%B/chipweave place --machine hgx-v100-8 --size 2 -o json"),
        "echo " + request + " | %B/chipweave place --batch -"}) {
    const Outcome full = run("{ " + line + "; } 2>&1 >/dev/full");
    EXPECT_EQ(full.code, kUnreadable) << line;
    EXPECT_THAT(full.text, HasSubstr("chipweave: the output could not be written")) << line;
  }
}

TEST(CommandLine, AnEmptyListOfChipsIsNeitherAllNorChipZero) {
  for (const char* flag : {"--free '' --size 1", "--chips ''"}) {
    const Outcome outcome = complaint(kPlace + flag);
    EXPECT_EQ(outcome.code, kWrongUsage) << flag;
    EXPECT_THAT(outcome.text, HasSubstr(": expected at least one chip, got none;")) << flag;
  }
  EXPECT_EQ(run("%B/" + kPlace + "--unhealthy '' --required '' --beside '' --size 1 --free 0").code,
            0);
}

TEST(CommandLine, ChipsAndLinksOfPlaceAreReadStrictly) {
  EXPECT_EQ(complaint(kPlace + "--chips 0,0").text,
            "chipweave: --chips: expected each chip once, got 0 twice\n");
  EXPECT_EQ(complaint(kPlace + "--size 2 --required 0,0").code, kWrongUsage);
  EXPECT_EQ(complaint(kPlace + "--size 2 --down 0-3:1z").code, kWrongUsage);
  EXPECT_EQ(complaint(kPlace + "--size 2 --down 0-3:1,1-2").text, "");
  EXPECT_THAT(complaint(kPlace + "--size 2 --down 0-5").text, HasSubstr("chipweave: warning: "));
}

TEST(CommandLine, PodsThatAreOnlyPrintedAreAListForKubectl) {
  const Outcome outcome = run(
      "printf 'apiVersion: batch/v1\\nkind: Job\\nmetadata: {name: train}\\nspec: {parallelism: 2, "
      "template: {spec: {containers: [{name: c}]}}}' | %B/chipweave submit - --print -n team");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, testing::StartsWith(R"({"apiVersion":"v1","kind":"List","items":[{)"));
  EXPECT_THAT(outcome.text, testing::EndsWith("}]}\n"));
  for (const char* part :
       {R"("kind":"Pod")", R"("name":"train-0")", R"("name":"train-1")", R"("namespace":"team")"}) {
    EXPECT_THAT(outcome.text, HasSubstr(part));
  }
  // That cluster does not have the Job.
  EXPECT_THAT(outcome.text, testing::Not(HasSubstr("ownerReferences")));
}

// The error, on one line of standard error.
void expect_usage_error(const std::string& arguments, const std::string& says) {
  const Outcome outcome = complaint(arguments);
  EXPECT_EQ(outcome.code, kWrongUsage) << arguments;
  EXPECT_THAT(outcome.text, testing::StartsWith("chipweave: ")) << arguments;
  EXPECT_THAT(outcome.text, HasSubstr(says)) << arguments;
  EXPECT_EQ(outcome.text.find('\n'), outcome.text.size() - 1) << outcome.text;
}

TEST(CommandLine, WrongUsageIsOneSentence) {
  expect_usage_error("chipweave", "a command is required; known: place");
  expect_usage_error("chipweave bogus", "unknown command \"bogus\"; known: ");
  expect_usage_error("chipweave sumbit x",
                     "unknown command \"sumbit\" (did you mean \"submit\"?); known: ");
  expect_usage_error("chipweave topo sho x",
                     "unknown command \"sho\" (did you mean \"show\"?); known: show, convert; see "
                     "'chipweave topo");
  expect_usage_error("chipweave --nonsense", "--nonsense");
  expect_usage_error("chipweave topo show", "see 'chipweave topo show --help'");
  expect_usage_error("chipweave topo show hgx-v100-8 -o xml", "-o: unknown form");
  expect_usage_error("chipweave topo show hgx-v100-8 -o 1", "-o: unknown form");
  expect_usage_error("chipweave topo show hgx-v100-8 --index -1",
                     "--index: expected a whole number from 0, got \"-1\"");
  expect_usage_error("chipweave topo show hgx-v100-8 --index 1",
                     "--index: must be 0: hgx-v100-8 has one");
  expect_usage_error("chipweave submit x --scheduler a:1 -n a.b", "-n: expected a namespace");
}

TEST(CommandLine, SubmitReadsStandardInputAndWantsPods) {
  const std::string submit = "%B/chipweave submit - --scheduler 127.0.0.1:1 2>&1 ";
  Outcome outcome = run("printf 'a: [' | " + submit);
  EXPECT_EQ(outcome.code, kUnreadable);
  EXPECT_THAT(outcome.text, HasSubstr("chipweave: standard input: line 1"));
  outcome = run(submit + "</dev/null");
  EXPECT_EQ(outcome.code, kUnreadable);
  EXPECT_EQ(outcome.text,
            "chipweave: there are no pods in standard input, so nothing was submitted\n");
  outcome = run("printf '\\377\\376\\000' | " + submit);
  EXPECT_EQ(outcome.code, kUnreadable);
  EXPECT_THAT(outcome.text, HasSubstr("not UTF-8 text"));
}

// A matrix of `nvidia-smi topo -m`, which does not say what the GPUs are.
std::string gpu_matrix(const io::TempFolder& folder) {
  return folder.put("box.txt",
                    "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
                    "GPU0\t X \tNV4\t0-15\t0\nGPU1\tNV4\t X \t0-15\t0\n");
}

TEST(CommandLine, OnlyKnownModelsAreTaken) {
  const io::TempFolder folder;
  const std::string box = gpu_matrix(folder);
  for (const std::string& command :
       std::vector<std::string>{"topo show " + box, "topo convert " + box + " --to json",
                                "place --size 2 --machine " + box}) {
    const Outcome wrong = complaint("chipweave " + command + " --model H10O");
    EXPECT_EQ(wrong.code, kWrongUsage) << command;
    EXPECT_THAT(wrong.text, HasSubstr(R"(unknown model "H10O" (did you mean "H100")")) << command;
    EXPECT_EQ(complaint("chipweave " + command + " --model H1000").code, kWrongUsage) << command;
    EXPECT_EQ(complaint("chipweave " + command + " --model H100").text, "") << command;
  }
  const std::string place = "%B/chipweave place --size 2 -o json --machine " + box;
  EXPECT_THAT(run(place + " --model H100").text, HasSubstr(R"("gbps":82.4,)"));
  EXPECT_THAT(run(place + " --model V100").text, HasSubstr(R"("gbps":80.0,)"));
  EXPECT_EQ(complaint("chipweave place --size 2 --model H100").code, kWrongUsage);
}

TEST(CommandLine, AnotherModelThanThatOfTheMachineIsAWarning) {
  for (const char* command : {"topo show mi250x-8", "place --size 2 --machine mi250x-8"}) {
    EXPECT_THAT(complaint(std::string("chipweave ") + command + " --model H100").text,
                HasSubstr(R"(--model H100 replaces the model of mi250x-8, "MI250X")"))
        << command;
    EXPECT_EQ(complaint(std::string("chipweave ") + command + " --model mi250x").text, "");
  }
}

TEST(CommandLine, RangesOfCpusAreNoNumaNodes) {
  const io::TempFolder folder;
  const std::string file = folder.put(
      "npu.txt",
      "\t   NPU0       NPU1       CPU Affinity\n"
      "NPU0       X          HCCS       144-167\nNPU1       HCCS       X          0-23\n");
  const std::string page = run("%B/chipweave topo show " + file + " 2>/dev/null").text;
  EXPECT_THAT(page, HasSubstr("2 chips at 2 ranges of CPUs,"));
  EXPECT_THAT(page, HasSubstr("NPU0  NPU1  CPU Affinity  NUMA Affinity\n"));
  EXPECT_THAT(page, HasSubstr("HCCS  144-167       N/A\n"));
  EXPECT_THAT(page, HasSubstr("X     0-23          N/A\n"));
  EXPECT_THAT(complaint("chipweave topo show -o json " + file).text,
              HasSubstr("\"numa\" only says which chips share one"));
}

// Eight GPUs with adapters; the second pair is on NUMA node 1.
std::string gpus_and_adapters(const io::TempFolder& folder) {
  return folder.put("box.txt",
                    "\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\n"
                    "GPU0\tX\tNV4\tSYS\tSYS\tPIX\tSYS\t0-7\t0\n"
                    "GPU1\tNV4\tX\tSYS\tSYS\tPIX\tSYS\t0-7\t0\n"
                    "GPU2\tSYS\tSYS\tX\tNV4\tSYS\tPXB\t8-15\t1\n"
                    "GPU3\tSYS\tSYS\tNV4\tX\tSYS\tPXB\t8-15\t1\n"
                    "NIC0\tPIX\tPIX\tSYS\tSYS\tX\tSYS\t\t\n"
                    "NIC1\tSYS\tSYS\tPXB\tPXB\tSYS\tX\t\t\n\n"
                    "NIC Legend:\n  NIC0: mlx5_1\n  NIC1: mlx5_10\n");
}

TEST(CommandLine, PlaceGivesAShellWhatAProcessNeeds) {
  const io::TempFolder folder;
  const std::string place = "%B/chipweave place --size 2 --free 1,2,3 --machine " +
                            gpus_and_adapters(folder) + " --model A100 --to ";
  EXPECT_EQ(run("unset CUDA_VISIBLE_DEVICES; eval \"$(" + place +
                "env)\"; env | grep -e ^CUDA -e ^NCCL | sort")
                .text,
            "CUDA_DEVICE_ORDER=PCI_BUS_ID\nCUDA_VISIBLE_DEVICES=2,3\nNCCL_IB_HCA==mlx5_10\n");
  EXPECT_EQ(run("eval \"set -- $(" + place + "docker)\"; printf '%s\\n' \"$@\"").text,
            "--gpus\n\"device=2,3\"\n--cpuset-cpus\n8-15\n--cpuset-mems\n1\n--env\n"
            "NCCL_IB_HCA==mlx5_10\n");
  const Outcome json = run(place + "json");
  EXPECT_THAT(json.text, HasSubstr(R"("ring":[2,3],"environment":{"CUDA_DEVICE_ORDER":)"));
  EXPECT_THAT(json.text, HasSubstr(R"("criteria":["predicted bandwidth )"));
  EXPECT_THAT(json.text, HasSubstr(R"("runner_up":{"chips":[1,2],"gbps":)"));
  EXPECT_THAT(json.text, HasSubstr(R"("nics":[{"name":"mlx5_10","path":"PXB"}])"));
  EXPECT_EQ(run("%B/" + kPlace + "--size 2 --to json").text,
            run("%B/" + kPlace + "--size 2 -o json").text);
}

TEST(CommandLine, PlaceGivesAShellNothingWrong) {
  for (const char* form : {"env", "docker"}) {
    const std::string line = kPlace + "--size 9 --to " + form;
    EXPECT_EQ(run("%B/" + line + " 2>/dev/null").text, "");
    EXPECT_EQ(complaint(line).code, 1);
    EXPECT_THAT(complaint(line).text, HasSubstr("chipweave: does not fit: "));
  }
  const std::string metax = "chipweave place --machine metax-c550-8 --size 2 --to docker";
  EXPECT_EQ(run("%B/" + metax + " 2>/dev/null").text, "");
  EXPECT_EQ(complaint(metax).code, 1);
  EXPECT_THAT(complaint(metax).text, HasSubstr("--to docker: cannot tell how a container gets"));
  EXPECT_EQ(complaint(kPlace + "--size 2 --to shell").code, kWrongUsage);
  EXPECT_EQ(complaint(kPlace + "--size 2 --to env -o json").code, kWrongUsage);
  // The names of adapters in a profile are examples.
  EXPECT_EQ(run("%B/" + kPlace + "--size 2 --to env 2>/dev/null").text,
            "export CUDA_DEVICE_ORDER='PCI_BUS_ID'\nexport CUDA_VISIBLE_DEVICES='0,3'\n");
}

TEST(CommandLine, TablesKeepToTheTerminalAndPipedOnesAreNotCut) {
  const auto widest = [](const std::string& page) {
    std::size_t out = 0;
    for (std::size_t at = 0; at < page.size();) {
      const std::size_t end = std::min(page.find('\n', at), page.size());
      out = std::max(out, end - at);
      at = end + 1;
    }
    return out;
  };
  const std::string topology = "NO_COLOR=1 %B/chipweave topo show dgx2-v100-16";
  EXPECT_THAT(run(topology).text, HasSubstr("  NIC7   CPU Affinity  NUMA Affinity\n"));
  EXPECT_LE(widest(run_on_terminal(topology, 120).text), 120U);
  EXPECT_GT(widest(run_on_terminal(topology, 120).text), 100U);

  const io::TempFolder folder;
  const std::string name(120, 'n');
  const std::string import = "NO_COLOR=1 %B/chipweave network import " +
                             folder.put("net.csv", "name,rack\n" + name + ",r\n");
  EXPECT_THAT(run(import).text, HasSubstr("\n" + name + "  r\n"));
  EXPECT_EQ(widest(run_on_terminal(import, 80).text), 80U);
  EXPECT_THAT(run_on_terminal(import, 200).text, HasSubstr("\n" + name + "  r\n"));
}

TEST(CommandLine, PlaceTakesOneOfSeveralMatrices) {
  const io::TempFolder folder;
  std::string two;
  for (const char* link : {"HCCS", "SYS"}) {
    two += std::string("\t   NPU0       NPU1       CPU Affinity\nNPU0       X          ") + link +
           "       0-23\nNPU1       " + link + "       X          0-23\n\n";
  }
  const std::string place =
      "%B/chipweave place --size 2 -o json --machine " + folder.put("two.txt", two) + " --index ";
  EXPECT_THAT(run(place + "0").text, HasSubstr(R"("gbps":28.0,)"));
  EXPECT_THAT(run(place + "1").text, testing::Not(HasSubstr(R"("gbps":28.0,)")));
  EXPECT_EQ(run(place + "2 2>/dev/null").code, kWrongUsage);
}

TEST(CommandLine, AGivenSetFitsOnlyIfItIsFree) {
  const Outcome taken = run("%B/" + kPlace + "--chips 0,1,2 --free 0,1 -o json");
  EXPECT_EQ(taken.code, 1);
  EXPECT_THAT(taken.text, HasSubstr(R"("fits":false,"chips":[0,1,2],"gbps":40.0)"));
  EXPECT_THAT(taken.text, HasSubstr(R"("reason":"chip 2 not in --free")"));
  EXPECT_THAT(run("%B/" + kPlace + "--chips 0,1,2 --free 0").text,
              HasSubstr("does not fit: chips 1,2 not in --free\n"));
  EXPECT_EQ(run("%B/" + kPlace + "--chips 0,1,2 --free 2,1,0").code, 0);
  // The contract of a batch: whatever `free` says.
  const Outcome batch = run(
      R"(echo '{"machine":"hgx-v100-8","chips":[0,1,2],"free":[0,1]}' | %B/chipweave place --batch -)");
  EXPECT_THAT(batch.text, HasSubstr(R"("fits":true)"));
}

TEST(CommandLine, UnknownAcceleratorResourcesOfAManifestAreWarnings) {
  const io::TempFolder folder;
  const auto pod = [&](const std::string& resources) {
    const std::string file =
        folder.put("pod.yaml",
                   "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n"
                   "  - {name: c, image: i, resources: {limits: {" +
                       resources + "}}}\n");
    return complaint("chipweave submit --print " + file).text;
  };
  EXPECT_THAT(pod("nvidia.com/gpus: 8"),
              HasSubstr("warning: unknown accelerator resource \"nvidia.com/gpus\" (did you mean "
                        "\"nvidia.com/gpu\""));
  EXPECT_THAT(pod("example.com/accel: 8"), HasSubstr("\"example.com/accel\"; known: "));
  EXPECT_EQ(pod("nvidia.com/gpu: 8, rdma/hca: 1"), "");
  EXPECT_EQ(pod("cpu: 8"), "");
}

}  // namespace
}  // namespace chipweave
