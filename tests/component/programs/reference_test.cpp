// chipweave help, completion and man, as shells and readers use them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/component/programs/run.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

bool is_installed(const std::string& program) {
  return run("command -v " + program + " >/dev/null").code == 0;
}

// A folder with files and folders to complete, and the script of a test in it.
struct Completion : ::testing::Test {
  io::TempFolder folder;

  void SetUp() override {
    folder.put("net.csv", "");
    folder.put("a b.txt", "");
    folder.put("sub/file", "");
  }

  // Output of a script with the programs in PATH.
  std::string of(const std::string& shell, const std::string& script) {
    folder.put(".script", script);
    return run("cd " + folder.path() + " && PATH=%B:$PATH timeout 60 " + shell +
               " .script 2>&1 </dev/null")
        .text;
  }
};

TEST_F(Completion, OfBash) {
  const std::string out = of("bash", R"sh(
source <(chipweave completion bash)
complete -p chipweave
# Sets what bash sets before it calls the function.
t() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  _chipweave chipweave "${@: -1}" "${@: -2:1}"
  printf '%s:' "${*: -1}"
  printf ' [%s]' "${COMPREPLY[@]}"
  echo
}
t chipweave topo convert x --to = nccl
t chipweave sub
t chipweave topo show hgx-v
t chipweave topo show net
t chipweave network show a
t chipweave man --out s
t chipweave place --objective lat
t chipweave plan --pod
t chipweave nodes -o js
t chipweave help ranktable conv
t chipweave ranktable merge-a
)sh");
  EXPECT_THAT(out, HasSubstr("complete -F _chipweave chipweave\n"));
  EXPECT_THAT(out, HasSubstr("\nnccl: [nccl-xml]\n"));
  EXPECT_THAT(out, HasSubstr("\nsub: [submit]\n"));
  EXPECT_THAT(out, HasSubstr("\nhgx-v: [hgx-v100-8]\n"));
  EXPECT_THAT(out, HasSubstr("\nnet: [net.csv]\n"));
  EXPECT_THAT(out, HasSubstr("\na: [a b.txt]\n"));
  EXPECT_THAT(out, HasSubstr("\ns: [sub]\n"));
  EXPECT_THAT(out, HasSubstr("\nlat: [latency]\n"));
  EXPECT_THAT(out, HasSubstr("\n--pod: [--pods]\n"));
  EXPECT_THAT(out, HasSubstr("\njs: [json]\n"));
  EXPECT_THAT(out, HasSubstr("\nconv: [convert]\n"));
  EXPECT_THAT(out, HasSubstr("\nmerge-a: [merge-all]\n"));
}

TEST_F(Completion, OfZsh) {
  if (!is_installed("zsh")) GTEST_SKIP() << "zsh is not installed";
  const std::string out = of("zsh -f", R"sh(
autoload -Uz compinit
compinit -u -d .zcompdump
source <(chipweave completion zsh)
print "function: ${_comps[chipweave]}"
# What zsh offers in a menu.
_describe() { print -l -- "${(@P)2}" }
_files() { print "files $*" }
t() {
  words=("$@")
  CURRENT=$#words
  print "== ${(j: :)words}"
  _chipweave
}
t chipweave sub
t chipweave topo show hgx-v
t chipweave topo convert x --to=nccl
t chipweave man --out ''
t chipweave nodes -o js
)sh");
  EXPECT_THAT(out, HasSubstr("function: _chipweave\n"));
  EXPECT_THAT(out, HasSubstr("== chipweave sub\nsubmit:create the pods"));
  EXPECT_THAT(out, HasSubstr("== chipweave topo show hgx-v\nhgx-v100-8:\nfiles \n"));
  EXPECT_THAT(out, HasSubstr("\n--to=nccl-xml:\n"));
  EXPECT_THAT(out, HasSubstr("--out \nfiles -/\n"));
  EXPECT_THAT(out, HasSubstr("== chipweave nodes -o js\njson:\n"));
}

TEST_F(Completion, OfFish) {
  if (!is_installed("fish")) GTEST_SKIP() << "fish is not installed";
  const std::string out = of("fish --no-config", R"sh(
chipweave completion fish | source
for line in 'chipweave sub' 'chipweave topo show hgx-v' 'chipweave topo show net' 'chipweave man --out ' \
    'chipweave topo convert x --to nccl' 'chipweave nodes -o js'
  echo "== $line"
  complete -C $line
end
)sh");
  EXPECT_THAT(out, HasSubstr("== chipweave sub\nsubmit\tcreate the pods"));
  EXPECT_THAT(out, HasSubstr("== chipweave topo show hgx-v\nhgx-v100-8"));
  EXPECT_THAT(out, HasSubstr("== chipweave topo show net\nnet.csv"));
  EXPECT_THAT(out, HasSubstr("== chipweave man --out \nsub/"));
  EXPECT_THAT(out, HasSubstr("--to nccl\nnccl-xml"));
  EXPECT_THAT(out, HasSubstr("-o js\njson"));
}

TEST(Help, OfACommandIsWhatItsFlagPrints) {
  for (const char* words : {"", "topo", "topo show", "plan", "ranktable merge-all", "help"}) {
    const std::string help = run(std::string("%B/chipweave help ") + words).text;
    EXPECT_THAT(help, HasSubstr("Usage: chipweave")) << words;
    // The generators of rank tables have their own parser and layout.
    if (std::string(words) != "ranktable merge-all") {
      EXPECT_EQ(help, run(std::string("%B/chipweave ") + words + " --help").text) << words;
    }
  }
  EXPECT_THAT(run("%B/chipweave help topo").text,
              Not(HasSubstr("chipweave submit")));  // no examples of others
}

TEST(Help, OfExitCodesHasAllOfThem) {
  const std::string text = run("%B/chipweave help exit-codes").text;
  for (const char* line : {"\n  0  ", "\n  1  ", "\n  2  ", "\n  3  ", "\n  4  "})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(Manual, HasAPageForEveryCommand) {
  const io::TempFolder folder;
  const std::string out = folder.path() + "/man1";
  ASSERT_EQ(run("%B/chipweave man --out " + out).code, 0);
  const std::string names = run("ls " + out).text;
  EXPECT_THAT(names, AllOf(HasSubstr("chipweave.1\n"), HasSubstr("chipweave-topo-show.1\n"),
                           HasSubstr("chipweave-ranktable-merge-hccl.1\n"),
                           HasSubstr("chipweave-man.1\n")));
  EXPECT_EQ(run("cat " + out + "/chipweave-plan.1").text, run("%B/chipweave man plan").text);
  const std::string page = run("cat " + out + "/chipweave.1").text;
  EXPECT_THAT(page, AllOf(HasSubstr(".SH EXIT STATUS\n"), HasSubstr("CHIPWEAVE_SCHEDULER"),
                          HasSubstr("\\fBchipweave\\-topo\\-show\\fR(1)")));
  if (!is_installed("groff")) GTEST_SKIP() << "groff is not installed";
  EXPECT_EQ(run("for page in " + out + "/*; do groff -man -ww -z -Tutf8 $page 2>&1; done").text,
            "");
}

TEST(Markdown, ShowsEveryFlagOfEveryCommand) {
  const io::TempFolder folder;
  ASSERT_EQ(run("%B/chipweave man --to markdown --out " + folder.path()).code, 0);
  const std::string page = run("cat " + folder.path() + "/topo.md").text;
  EXPECT_THAT(page, HasSubstr("\n## chipweave topo convert\n"));
  EXPECT_THAT(page, HasSubstr("\n| `--to` | `FORMAT` | json or nccl-xml (required) |\n"));
  EXPECT_THAT(page, HasSubstr("\n| `-o`, `--output` | `FORM` | text (default), wide or json |\n"));
  EXPECT_THAT(run("cat " + folder.path() + "/README.md").text,
              HasSubstr("\n| 4 | the pod, node, gang or job"));
}

}  // namespace
}  // namespace chipweave
