#include "common/codec/ranktable/tools/merge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "common/codec/ranktable/tools/generated_tables.hpp"

namespace chipweave::codec::ranktable {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Host H has address 10.0.0.H and devices 10.0.H.(18 + id).
PdMachine host(int number) {
  PdMachine out;
  out.address = "10.0.0." + std::to_string(number);
  return out;
}

PdInstance instance(int number, std::initializer_list<int> ids) {
  PdInstance out;
  for (const int id : ids) {
    out.push_back({id, "10.0." + std::to_string(number) + "." + std::to_string(18 + id), {}});
  }
  return out;
}

NamedText global_of(const PdMachine& machine) {
  return {"g" + machine.address, write_pd_tables(machine).front().text};
}

NamedText local_of(int number, std::initializer_list<int> ids) {
  PdMachine machine = host(number);
  machine.prefill = {instance(number, ids)};
  return {"l" + machine.address, write_pd_tables(machine).back().text};
}

NamedText api_and_prefill() {
  PdMachine machine = host(1);
  machine.api_server = true;
  machine.prefill = {instance(1, {0, 1})};
  return global_of(machine);
}

NamedText decode(int number = 2) {
  PdMachine machine = host(number);
  machine.decode = {instance(number, {0, 1})};
  return global_of(machine);
}

NamedText edited(NamedText file, const std::string& from, const std::string& to) {
  const std::size_t at = file.text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) file.text.replace(at, from.size(), to);
  return file;
}

std::string pd_merge_error(std::vector<NamedText> files, bool strict = false) {
  const auto out = merge_pd_global(std::move(files), strict);
  return out.ok() ? "(no error)" : out.error().text();
}

// The error of a merge whose second table was edited.
std::string error_of_edit(const std::string& from, const std::string& to) {
  return pd_merge_error({api_and_prefill(), edited(decode(), from, to)});
}

TEST(PdMerge, PutsServersInTheOrderOfTheFiles) {
  const auto out = merge_pd_global({decode(3), api_and_prefill(), decode(2)}, true);
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_EQ(out->file.name, "global_ranktable_merge.json");
  EXPECT_THAT(out->warnings, IsEmpty());
  PdMachine all = host(1);
  all.api_server = true;
  all.prefill = {instance(1, {0, 1})};
  all.decode = {instance(3, {0, 1}), instance(2, {0, 1})};
  std::string expected = write_pd_tables(all).front().text;
  std::size_t at = expected.find("\"group_id\": \"2\"");
  for (const std::string number : {"3", "2"}) {
    for (int twice = 0; twice < 2; ++twice) {
      at = expected.find("10.0.0.1", at);
      expected.replace(at, 8, "10.0.0." + number);
    }
  }
  EXPECT_EQ(out->file.text, expected);
}

TEST(PdMerge, KeepsMembersItDoesNotKnow) {
  const auto out = merge_pd_global(
      {api_and_prefill(),
       edited(decode(), "\"rank_id\": \"1\"", "\"rank_id\": \"1\", \"note\": {\"a\": [1]}")},
      false);
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_THAT(out->file.text, HasSubstr("\"note\""));
}

TEST(PdMerge, WantsTwoFilesAndEachOnce) {
  EXPECT_THAT(pd_merge_error({}),
              HasSubstr("argument --global-ranktable-list: expected two or more"));
  EXPECT_THAT(pd_merge_error({api_and_prefill()}), HasSubstr("expected two or more global tables"));
  EXPECT_THAT(pd_merge_error({api_and_prefill(), decode(), decode()}),
              HasSubstr("file g10.0.0.2: is given twice"));
}

TEST(PdMerge, WantsExactlyOneApiServer) {
  EXPECT_THAT(pd_merge_error({decode(2), decode(3)}), HasSubstr("no file has an API server"));
  PdMachine second = host(2);
  second.api_server = true;
  const std::string error = pd_merge_error({api_and_prefill(), global_of(second)});
  EXPECT_THAT(error, HasSubstr("file g10.0.0.2: line "));
  EXPECT_THAT(error, HasSubstr("second API server (group \"0\"); the first is in file g10.0.0.1"));
}

TEST(PdMerge, NamesFileLineAndColumnOfWhatIsNoTable) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "file bad: line 1, column 1"},
      {"{\n  \"version\": }", "file bad: line 2, column "},
      {"[]", "file bad"},
      {"7", "file bad"},
      {"null", "file bad"},
      {"{}", "has no members of a rank table"},
      {"{\"a\": 1, \"a\": 2}", "file bad"},
      {"{\"server_group_list\": []}", "file bad"},
      {"{\"server_group_list\": 7, \"version\": \"1.0\", \"status\": \"completed\"}", "file bad"},
      {std::string(100000, '['), "file bad"},
      {"{\"server_group_list\": [{\"group_id\": 1}]}", "file bad"},
      {"\xEF\xBB\xBF{}", "file bad"},
      {"{\"server_group_list\": [],}", "file bad: line 1"},
      {"{'server_group_list': []}", "file bad: line 1"},
  };
  for (const auto& [text, says] : cases) {
    EXPECT_THAT(pd_merge_error({api_and_prefill(), {"bad", text}}), HasSubstr(says)) << text;
  }
}

TEST(PdMerge, RefusesOtherDialects) {
  EXPECT_THAT(pd_merge_error({api_and_prefill(), local_of(2, {0, 1})}),
              HasSubstr("is a table of dialect modelarts-local, not modelarts-global"));
  const std::string vllm =
      R"({"version": "1.2", "server_count": "1", "status": "completed",
          "prefill_device_list": [], "decode_device_list": []})";
  EXPECT_THAT(pd_merge_error({api_and_prefill(), {"v", vllm}}), HasSubstr("vllm-ascend"));
  EXPECT_THAT(
      error_of_edit("\"rank_id\": \"0\"", "\"rank_id\": \"0\", \"device_logical_id\": \"0\""),
      HasSubstr("mindie-global"));
  EXPECT_THAT(error_of_edit("\"group_id\": \"2\"", "\"group_id\": \"3\""),
              HasSubstr("mindie-global"));
}

TEST(PdMerge, RefusesWhatIsWrongInATable) {
  const std::vector<std::array<std::string, 3>> cases = {
      {"\"completed\"", "\"initializing\"", "status must be \"completed\", got \"initializing\""},
      {"\"1.0\"", "\"1.2\"", "version must be \"1.0\", got \"1.2\""},
      {"\"1.0\"", "1.0", "line 2, column "},
      {"\"server_count\": \"1\"", "\"server_count\": \"2\"", "server_count is 2, but server_list"},
      {"\"server_count\": \"1\"", "\"server_count\": \"x\"", "file g10.0.0.2: line 7"},
      {"\"server_count\": \"1\"", "\"server_count\": -1", "server_count is -1, but server_list"},
      {"\"server_count\": \"1\"", "\"server_count\": 1e0", "\"1e0\" is not a whole number"},
      {"\"group_id\": \"2\"", "\"group_id\": \"\"", "unknown group_id \"\""},
      {"\"group_id\": \"2\"", "\"group_id\": \"0\"", "result of merge-all"},
      {"\"rank_id\": \"1\"", "\"rank_id\": \"2\"", "rank_id must be \"1\" here"},
      {"\"rank_id\": \"0\"", "\"rank_id\": \"1\"", "rank_id must be \"0\" here"},
      {"\"rank_id\": \"1\"", "\"rank_id\": 1", "file g10.0.0.2: line "},
      {"\"device_id\": \"1\"", "\"device_id\": \"0\"",
       "device_id 0 of server \"10.0.0.2\" is used"},
      {"\"device_id\": \"1\"", "\"device_id\": \"1abc\"", "file g10.0.0.2: line "},
      {"10.0.2.19", "10.0.2.18", "device_ip \"10.0.2.18\" is in file g10.0.0.2, line "},
      {"10.0.2.19", "10.0.2.256", "device_ip: expected an IP address, got \"10.0.2.256\""},
      {"10.0.2.19", "10.0.2.19,", "expected an IP address"},
      {"10.0.2.19", "10.0.1.19", "is in file g10.0.0.1, line "},
      {"\"server_ip\": \"10.0.0.2\"", "\"server_ip\": \"\"", "must not be empty"},
      {"\"server_ip\": \"10.0.0.2\"", "\"server_ip\": \"localhost\"",
       "cannot be reached from the other"},
      {"\"server_ip\": \"10.0.0.2\"", "\"server_ip\": \"127.0.1.1\"",
       "cannot be reached from the other"},
      {"\"server_ip\": \"10.0.0.2\"", "\"server_ip\": \"10.0.0.1\"", "device_id 0 of server"},
      {"\"rank_id\": \"1\"", "\"rank_id\": \"1\", \"device_port\": \"70000\"", "1 to 65535"},
      {"\"rank_id\": \"1\"", "\"rank_id\": \"1\", \"rank_id\": \"1\"", "is repeated"},
  };
  for (const auto& [from, to, says] : cases) {
    EXPECT_THAT(error_of_edit(from, to), HasSubstr(says)) << to;
  }
}

TEST(PdMerge, ComparesSizesOfInstances) {
  PdMachine small = host(3);
  small.decode = {instance(3, {0})};
  EXPECT_THAT(pd_merge_error({api_and_prefill(), decode(2), global_of(small)}),
              HasSubstr("this decode instance has 1 devices, and the one in file g10.0.0.2"));
  const auto out = merge_pd_global({api_and_prefill(), global_of(small)}, true);
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_THAT(out->warnings,
              ElementsAre("prefill instances have 2 devices and decode instances 1"));
  PdMachine none = host(4);
  none.decode = {{}};
  EXPECT_THAT(pd_merge_error({api_and_prefill(), global_of(none)}), HasSubstr("has no devices"));
}

TEST(PdMerge, AnIncompleteTableIsAWarningOrStrictlyAnError) {
  PdMachine more = host(2);
  more.prefill = {instance(2, {0, 1})};
  const auto out = merge_pd_global({api_and_prefill(), global_of(more)}, false);
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_THAT(out->warnings, ElementsAre(HasSubstr("no file has a decode instance")));
  EXPECT_THAT(pd_merge_error({api_and_prefill(), global_of(more)}, true),
              HasSubstr("no file has a decode instance (group \"2\")"));
}

TEST(PdMerge, WarnsOfAnAddressWithTwoNames) {
  NamedText other = edited(decode(), "\"server_id\": \"10.0.0.2\"", "\"server_id\": \"n2\"");
  PdMachine third = host(2);
  third.decode = {{{4, "10.0.9.1", {}}, {5, "10.0.9.2", {}}}};
  NamedText again = global_of(third);
  again.name = "again";
  const auto out = merge_pd_global({api_and_prefill(), other, again}, true);
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_THAT(out->warnings, ElementsAre(HasSubstr("has server_id \"10.0.0.2\" here and \"n2\"")));
}

TEST(PdMerge, ABorrowedNicIsAnotherAddress) {
  PdMachine machine = host(2);
  machine.decode = {{{0, "10.0.2.18", {}}, {1, "10.0.2.18", 16667}}};
  const auto out = merge_pd_global({api_and_prefill(), global_of(machine)}, true);
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_THAT(out->file.text, HasSubstr("\"device_port\": \"16667\""));
}

TEST(PdMerge, MergesManyTables) {
  std::vector<NamedText> files = {api_and_prefill()};
  for (int number = 2; number <= 97; ++number) {
    PdMachine machine = host(number);
    machine.decode = {instance(number, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})};
    files.push_back(global_of(machine));
  }
  const auto out = merge_pd_global(std::move(files), true);
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_THAT(out->file.text, HasSubstr("\"server_count\": \"96\""));
}

TEST(PdMergeLocal, CountsRanksAnewAndServersInNumbers) {
  const auto out = merge_pd_local(
      {edited(local_of(2, {0, 1}), "\"device\"", "\"note\": \"x\", \"device\""), local_of(1, {3})});
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_EQ(out->file.name, "local_ranktable_merge.json");
  EXPECT_EQ(out->file.text, R"({
    "version": "1.0",
    "status": "completed",
    "group_id": "0",
    "server_count": 2,
    "server_list": [
        {
            "server_id": "10.0.0.2",
            "server_ip": "10.0.0.2",
            "device": [
                {
                    "device_id": "0",
                    "device_ip": "10.0.2.18",
                    "rank_id": "0"
                },
                {
                    "device_id": "1",
                    "device_ip": "10.0.2.19",
                    "rank_id": "1"
                }
            ]
        },
        {
            "server_id": "10.0.0.1",
            "server_ip": "10.0.0.1",
            "device": [
                {
                    "device_id": "3",
                    "device_ip": "10.0.1.21",
                    "rank_id": "2"
                }
            ]
        }
    ]
})");
}

TEST(PdMergeLocal, RefusesWhatItCannotMerge) {
  const auto error = [](std::vector<NamedText> files) {
    const auto out = merge_pd_local(std::move(files));
    return out.ok() ? "(no error)" : out.error().text();
  };
  EXPECT_THAT(error({local_of(1, {0})}), HasSubstr("expected two or more local tables"));
  EXPECT_THAT(error({local_of(1, {0}), decode()}), HasSubstr("file g10.0.0.2"));
  EXPECT_THAT(error({local_of(1, {0}), local_of(1, {0})}), HasSubstr("is given twice"));
  PdMachine api = host(2);
  api.api_server = true;
  EXPECT_THAT(error({local_of(1, {0}), {"api", write_pd_tables(api).back().text}}),
              HasSubstr("file api: line 7, column 9: has no devices"));
  NamedText merged{"m", merge_pd_local({local_of(1, {0}), local_of(2, {0})})->file.text};
  EXPECT_THAT(error({local_of(3, {0}), merged}), HasSubstr("has several servers"));
  NamedText copy = local_of(1, {0});
  copy.name = "copy";
  EXPECT_THAT(error({local_of(1, {0}), copy}), HasSubstr("device_id 0 of server \"10.0.0.1\""));
  EXPECT_THAT(error({local_of(1, {0}),
                     edited(local_of(2, {0}), "\"server_count\": \"1\"", "\"server_count\": 3")}),
              HasSubstr("server_count is 3"));
}

TEST(PdMergeAll, MakesAGroupOfEachInstance) {
  NamedText merged{"m", merge_pd_local({local_of(1, {0}), local_of(2, {0})})->file.text};
  const auto out = merge_pd_all({merged}, {local_of(3, {4}), local_of(4, {4})});
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_EQ(out->file.name, "global_ranktable_merge.json");
  EXPECT_THAT(out->file.text, HasSubstr(R"(        {
            "group_id": "0",
            "server_count": 2,
            "server_list": [)"));
  EXPECT_THAT(out->file.text, HasSubstr(R"(        {
            "group_id": "2",
            "server_count": 1,
            "server_list": [)"));
  EXPECT_THAT(out->file.text, HasSubstr(R"("rank_id": "1")"));
}

TEST(PdMergeAll, WantsBothLists) {
  EXPECT_FALSE(merge_pd_all({local_of(1, {0})}, {}).ok());
  EXPECT_FALSE(merge_pd_all({}, {local_of(1, {0})}).ok());
  const auto twice = merge_pd_all({local_of(1, {0})}, {local_of(1, {0})});
  ASSERT_FALSE(twice.ok());
  EXPECT_THAT(twice.error().text(), HasSubstr("is given twice"));
}

}  // namespace
}  // namespace chipweave::codec::ranktable
