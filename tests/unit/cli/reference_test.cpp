#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "cli/reference/command_page.hpp"
#include "cli/reference/completion.hpp"
#include "cli/reference/help_topics.hpp"
#include "cli/reference/man_page.hpp"
#include "cli/reference/markdown_page.hpp"

namespace chipweave::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// tool [--verbose], tool cut FILE [MORE…] [--to|--size|--levels|--input], tool box move FOLDER
struct Reference : ::testing::Test {
  CLI::App app{"Cuts and moves.", "tool"};
  std::string file, to, folder, machine, levels, state;
  std::vector<std::string> more;
  std::optional<int> size;
  bool verbose = false;

  Reference() {
    app.add_flag("--verbose", verbose, "more lines");
    CLI::App* cut = app.add_subcommand("cut", "make pieces");
    add_value(*cut, "FILE", " ", file, "what to cut")->required();
    add_value(*cut, "MORE", "FILE", more, "further files");
    add_value(*cut, "--to", "FORM", to, "form of the pieces")
        ->check(CLI::IsMember({"long", "short"}))
        ->required();
    cut->add_option("--size", size, "how large")->envname("TOOL_SIZE");
    offer(add_value(*cut, "--levels", "A,B", levels, "levels"),
          std::vector<std::string>{"rack", "row"})
        ->delimiter(',');
    add_value(*cut, "--input", "[NAME=]FILE", state, "an input");
    add_value(*cut, "--map", "MODEL=PROFILE", state, "a map");
    add_value(*cut, "--machine", "PROFILE|FILE", machine, "a machine");
    cut->footer("Examples:\n  tool cut a.txt --to long\nLosses … -are listed.");
    CLI::App* box = app.add_subcommand("box", "boxes");
    CLI::App* move = box->add_subcommand("move", "move a box");
    add_value(*move, "FOLDER", " ", folder, "where to");
  }

  std::vector<std::string> texts(const std::vector<std::string>& words) const {
    std::vector<std::string> out;
    for (const Candidate& one : complete(app, words).candidates) out.push_back(one.text);
    return out;
  }
};

TEST_F(Reference, CompletesCommandsAndFlags) {
  EXPECT_THAT(texts({""}), ElementsAre("cut", "box"));
  EXPECT_THAT(texts({"b"}), ElementsAre("box"));
  EXPECT_THAT(texts({"box", ""}), ElementsAre("move"));
  EXPECT_THAT(texts({"cut", "--"}),
              ElementsAre("--help", "--to", "--size", "--levels", "--input", "--map", "--machine"));
  EXPECT_THAT(texts({"cut", "--to", "long", "--t"}), IsEmpty()) << "given already";
  EXPECT_THAT(texts({"cut", "--", "--t"}), IsEmpty()) << "an argument";
  EXPECT_THAT(texts({"nothing", ""}), ElementsAre("cut", "box"));
}

TEST_F(Reference, CompletesValues) {
  EXPECT_THAT(texts({"cut", "x", "--to", ""}), ElementsAre("long", "short"));
  EXPECT_THAT(texts({"cut", "x", "--to", "s"}), ElementsAre("short"));
  EXPECT_THAT(texts({"cut", "x", "--to=l"}), ElementsAre("--to=long"));
  EXPECT_THAT(texts({"cut", "x", "--to", "=", "l"}), ElementsAre("long")) << "as bash splits it";
  EXPECT_THAT(texts({"cut", "x", "--to", "="}), ElementsAre("long", "short"));
  EXPECT_THAT(texts({"cut", "x", "--levels", "row,r"}), ElementsAre("row,rack", "row,row"));
  EXPECT_THAT(texts({"cut", "x", "--machine", "hgx-v"}), ElementsAre("hgx-v100-8"));
  EXPECT_THAT(texts({"cut", "x", "--size", ""}), IsEmpty());
  EXPECT_THAT(texts({"cut", "x", "--map", "hgx"}), IsEmpty());
}

TEST_F(Reference, CompletesFilesAndFolders) {
  const auto lines = [&](const std::vector<std::string>& words) {
    return completion_lines(complete(app, words));
  };
  EXPECT_EQ(lines({"cut", ""}), ":0\n");
  EXPECT_EQ(lines({"cut", "a", ""}), ":0\n");
  EXPECT_EQ(lines({"cut", "a", "b", "c", ""}), ":0\n");
  EXPECT_EQ(lines({"cut", "a", "--input", ""}), ":0\n");
  EXPECT_EQ(lines({"box", "move", ""}), ":16\n");
  EXPECT_EQ(lines({"box", "move", "a", ""}), ":4\n");
  EXPECT_EQ(lines({"cut", "a", "--size", ""}), ":4\n");
  EXPECT_EQ(lines({"cut", "a", "--machine", "hgx-v"}), "hgx-v100-8\t\n:0\n");
  EXPECT_EQ(lines({"--v"}), "--verbose\tmore lines\n:4\n");
}

TEST_F(Reference, PagesHaveWhatTheTreeHas) {
  const std::vector<CommandPage> pages = all_pages(app);
  std::vector<std::string> words;
  words.reserve(pages.size());
  for (const CommandPage& page : pages) words.push_back(page.words);
  EXPECT_THAT(words, ElementsAre("tool", "tool cut", "tool box", "tool box move"));
  EXPECT_EQ(pages[1].usage, "tool cut [OPTIONS] FILE [MORE...]");
  EXPECT_EQ(pages[1].examples, "  tool cut a.txt --to long\n");
  EXPECT_EQ(pages[1].notes, "Losses … -are listed.\n");
  EXPECT_EQ(pages[2].usage, "tool box [OPTIONS] COMMAND");
  const OptionEntry& flag = pages[1].flags[2];
  EXPECT_THAT(flag.names, ElementsAre("--size"));
  EXPECT_EQ(flag.value, "N");
  EXPECT_EQ(flag.environment, "TOOL_SIZE");
}

TEST_F(Reference, CommandsAreFoundByTheirWords) {
  EXPECT_EQ(find_command(app, {"box", "move"}).words, "tool box move");
  const FoundCommand wrong = find_command(app, {"box", "mvoe", "x"});
  EXPECT_EQ(wrong.unknown, "mvoe");
  EXPECT_EQ(wrong.words, "tool box");
}

TEST_F(Reference, ManualPagesAreRoff) {
  const std::vector<CommandPage> pages = all_pages(app);
  const std::string page = man_page(pages[1], pages, "1.2");
  EXPECT_THAT(page, ::testing::StartsWith(".TH TOOL-CUT 1 \"\" \"chipweave 1.2\""));
  EXPECT_THAT(page, HasSubstr("\ntool\\-cut \\- make pieces\n"));
  EXPECT_THAT(
      page,
      HasSubstr("\n\\fB\\-\\-size\\fR \\fIN\\fR\nhow large\nEnvironment: \\fBTOOL_SIZE\\fR.\n"));
  EXPECT_THAT(page, HasSubstr("\nLosses \\[u2026] \\-are listed.\n"));
  EXPECT_THAT(page, HasSubstr("\n.SH SEE ALSO\n\\fBtool\\fR(1)\n"));
  EXPECT_THAT(man_page(pages[0], pages, "1.2"), HasSubstr("\\fBtool\\-box\\-move\\fR(1)"));
}

TEST_F(Reference, MarkdownHasAPageForEachCommandAndAnIndex) {
  const std::vector<MarkdownFile> files = markdown_pages(all_pages(app));
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[0].name, "README.md");
  EXPECT_THAT(files[0].text, HasSubstr("\n| [cut](cut.md) | make pieces |\n"));
  EXPECT_THAT(files[0].text, HasSubstr("| `TOOL_SIZE` | --size: how large |"));
  EXPECT_EQ(files[1].name, "cut.md");
  EXPECT_THAT(
      files[1].text,
      HasSubstr("\n| `--to` | `FORM` | form of the pieces (required); one of `long`, `short` |\n"));
  EXPECT_THAT(files[1].text, HasSubstr("\n| `--machine` | `PROFILE\\|FILE` | a machine |\n"));
  EXPECT_THAT(files[1].text,
              HasSubstr("\n```sh\ntool cut a.txt --to long\n```\n\nLosses … -are listed.\n"));
  EXPECT_THAT(files[2].text, HasSubstr("\n## tool box move\n"));
}

}  // namespace
}  // namespace chipweave::cli
