// Expectations are those of Python 3.11's argparse for a parser with the same options.
#include "cli/ranktable/tools/argparse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "cli/ranktable/tools/pd_arguments.hpp"

namespace chipweave::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Words = std::vector<std::string>;

ArgWords parsed(const Words& words) {
  auto out = parse_words(pd_spec("pd", std::nullopt), words);
  EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.error().text());
  return out.ok() ? *std::move(out) : ArgWords{};
}

std::string parse_error(const Words& words) {
  const auto out = parse_words(pd_spec("pd", std::nullopt), words);
  return out.ok() ? "(no error)" : out.error().text();
}

TEST(Argparse, TakesListsUpToTheNextOption) {
  const ArgWords out =
      parsed({"--prefill-server-list", "0,1", "2,3", "--api-server", "--decode-server-list"});
  EXPECT_THAT(out.list("--prefill-server-list"), ElementsAre("0,1", "2,3"));
  EXPECT_TRUE(out.has("--decode-server-list"));
  EXPECT_THAT(out.list("--decode-server-list"), IsEmpty());
  EXPECT_TRUE(out.has("--api-server"));
  EXPECT_FALSE(out.has("--api-server-list"));
}

TEST(Argparse, AttachedValuesAndTheLastOfSeveral) {
  const ArgWords out = parsed({"--ip=1.1.1.1", "--save-dir", "a", "--prefill-server-list=0,1",
                               "--save-dir=b=c", "--ip=", "--prefill-server-list=2"});
  EXPECT_EQ(out.one("--ip", "x"), "");
  EXPECT_EQ(out.one("--save-dir", "x"), "b=c");
  EXPECT_THAT(out.list("--prefill-server-list"), ElementsAre("2"));
  EXPECT_EQ(out.one("--mode", "gen"), "gen");
}

TEST(Argparse, BeginningsOfNames) {
  const ArgWords out =
      parsed({"--pre", "0,1", "--dec=2,3", "--mod", "merge", "--api-server-l", "f"});
  EXPECT_THAT(out.list("--prefill-server-list"), ElementsAre("0,1"));
  EXPECT_THAT(out.list("--decode-server-list"), ElementsAre("2,3"));
  EXPECT_EQ(out.one("--mode", "gen"), "merge");
  EXPECT_THAT(out.list("--api-server-list"), ElementsAre("f"));
  EXPECT_EQ(parse_error({"--de", "0"}),
            "ambiguous option: --de could match --decode-server-list, --device-port-range");
  EXPECT_EQ(parse_error({"--api"}),
            "ambiguous option: --api could match --api-server, --api-server-list");
  // Options of ours do not stand in the way of scripts, and want to be written out.
  EXPECT_TRUE(parsed({"--s", "d"}).has("--save-dir"));
  EXPECT_EQ(parse_error({"--stric"}), "unrecognized arguments: --stric");
}

TEST(Argparse, NegativeNumbersBlanksAndSeparators) {
  EXPECT_THAT(parsed({"--pre", "-1", "-.5", "-a b", "-", ""}).list("--prefill-server-list"),
              ElementsAre("-1", "-.5", "-a b", "-", ""));
  EXPECT_EQ(parse_error({"--pre", "-1x"}), "unrecognized arguments: -1x");
  EXPECT_EQ(parse_error({"--pre", "0", "--", "--ip"}), "unrecognized arguments: -- --ip");
  EXPECT_EQ(parse_error({"--ip", "--"}), "argument --ip: expected one argument");
}

TEST(Argparse, RefusesAsTheReferenceDoes) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"--foo"}, "unrecognized arguments: --foo"},
      {{"-x", "1"}, "unrecognized arguments: -x 1"},
      {{""}, "unrecognized arguments: "},
      {{"0,1"}, "unrecognized arguments: 0,1"},
      {{"--ip"}, "argument --ip: expected one argument"},
      {{"--ip", "--api-server"}, "argument --ip: expected one argument"},
      {{"--ip", "a", "b"}, "unrecognized arguments: b"},
      {{"--api-server", "x"}, "unrecognized arguments: x"},
      {{"--api-server=x"}, "argument --api-server: ignored explicit argument 'x'"},
      {{"--device-port-range", "1"}, "argument --device-port-range: expected 2 arguments"},
      {{"--device-port-range=1"}, "argument --device-port-range: expected 2 arguments"},
      {{"--prefill-server-list=1", "2"}, "unrecognized arguments: 2"},
      {{"--mode", "all"},
       "argument --mode: invalid choice: 'all' (choose from 'gen', 'merge', 'merge-local', "
       "'merge-all')"},
      {{"-hx"}, "argument -h/--help: ignored explicit argument 'x'"},
  };
  for (const auto& [words, says] : cases) EXPECT_EQ(parse_error(words), says) << words.front();
  EXPECT_LT(parse_error({"--" + std::string(1000000, 'x')}).size(), 300U);
}

TEST(Argparse, HelpEndsReading) {
  EXPECT_TRUE(parsed({"-h", "--foo"}).help);
  EXPECT_TRUE(parsed({"--foo", "--he"}).help);
  EXPECT_THAT(parse_error({"--mode", "x", "-h"}), HasSubstr("invalid choice"));
  const std::string help = help_text(pd_spec("chipweave pd-ranktable", std::nullopt));
  EXPECT_THAT(help, HasSubstr("usage: chipweave pd-ranktable [-h]"));
  EXPECT_THAT(help, HasSubstr("  chipweave pd-ranktable --mode gen --prefill-server-list 4,5"));
}

TEST(PdArguments, SourcesOfAddressesMustNotContradictEachOther) {
  const auto error = [](const Words& words) {
    const auto out = pd_request(parsed(words), std::nullopt);
    return out.ok() ? "(no error)" : out.error().text();
  };
  EXPECT_THAT(error({"--from-topology", "a", "--from-inventory", "b"}), HasSubstr("not allowed"));
  EXPECT_THAT(error({"--from-topology", "a", "--hccn-tool", "b"}), HasSubstr("--hccn-tool"));
  EXPECT_THAT(error({"--from-inventory", "a", "--hccn-conf", "b"}), HasSubstr("--hccn-conf"));
  EXPECT_THAT(error({"--address-plan", "10.0.0.1/24"}), HasSubstr("only with --from-topology"));
  EXPECT_THAT(error({"--from-topology="}), HasSubstr("expected a name"));
  EXPECT_EQ(error({"--from-topology", "a", "--address-plan", "10.0.0.1/24"}), "(no error)");
}

TEST(PdArguments, KnowsWhatAModeDoesNotLookAt) {
  const ArgWords words = parsed({"--mode", "merge", "--ip", "x", "--strict", "--save-dir", "d"});
  EXPECT_THAT(options_without_effect(words, PdMode::merge), ElementsAre("--ip"));
  EXPECT_THAT(options_without_effect(words, PdMode::gen), IsEmpty());
}

}  // namespace
}  // namespace chipweave::cli
