#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/limits.hpp"
#include "common/codec/topology/import.hpp"
#include "tests/unit/codec_xml/shared_data.hpp"

namespace chipweave::codec {
namespace {

using testing::HasSubstr;

Error nccl_error(const std::string& text) {
  const auto got = import_nccl_xml(text, {});
  return got.ok() ? make_error(Errc::internal, "was imported") : got.error();
}

std::string gpu(const std::string& bus_id, const std::string& attributes,
                const std::string& inside = "") {
  return "<pci busid=\"" + bus_id + "\" class=\"0x030200\"><gpu " + attributes + ">" + inside +
         "</gpu></pci>";
}
std::string system_of(const std::string& inside) {
  return "<system version=\"1\">\n<cpu numaid=\"0\">\n" + inside + "</cpu>\n</system>";
}

TEST(HostileXml, TruncatedTextSaysWhere) {
  const Error error =
      nccl_error("<system version=\"1\">\n  <cpu numaid=\"0\">\n    <pci busid=\"0000");
  EXPECT_EQ(error.code, Errc::invalid_argument);
  EXPECT_THAT(error.text(), HasSubstr("line 3, column "));
  EXPECT_THAT(error.text(), HasSubstr("not well-formed XML"));
}

TEST(HostileXml, EveryPrefixOfARealFileIsRefusedOrImported) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const std::string whole = topology_file("nccl-xml/rccl-4p3l.xml");
  for (std::size_t size = 0; size + 10 < whole.size(); size += 7) {
    EXPECT_FALSE(import_nccl_xml(whole.substr(0, size), {}).ok()) << size;
  }
}

TEST(HostileXml, BinaryAndEmptyInput) {
  std::string binary;
  for (int i = 0; i < 4096; ++i) binary += static_cast<char>((i * 37 + i / 256) & 0xff);
  EXPECT_FALSE(looks_like_nccl_xml(binary));
  EXPECT_EQ(nccl_error(binary).code, Errc::invalid_argument);
  EXPECT_EQ(nccl_error("").code, Errc::invalid_argument);
  EXPECT_FALSE(import_hwloc_xml(binary, {}).ok());
  EXPECT_FALSE(import_nccl_graph(binary, {}).ok());
  EXPECT_FALSE(looks_like_hwloc_xml(""));
}

TEST(HostileXml, EntitiesAreNotExpanded) {
  std::string bomb = "<!DOCTYPE lolz [<!ENTITY lol \"lol\">";
  for (char c = 'b'; c < 'k'; ++c) {
    bomb +=
        std::string("<!ENTITY ") + c + " \"&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;\">";
  }
  EXPECT_THAT(nccl_error(bomb + "]><lolz>&k;</lolz>").text(),
              HasSubstr("root element must be <system>"));
  const Error inside = nccl_error(bomb + "]>" + system_of(gpu("0:1:0.0", "dev=\"&k;\"")));
  EXPECT_THAT(inside.text(), HasSubstr("to 1048576, got \"&k;\""));
  const Error file = nccl_error("<!DOCTYPE s [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>" +
                                system_of(gpu("0:1:0.0", "dev=\"&x;\"")));
  EXPECT_THAT(file.text(), HasSubstr("to 1048576, got \"&x;\""));
}

TEST(HostileXml, NestingIsBounded) {
  const auto nested = [](int levels) {
    std::string open;
    std::string close;
    for (int i = 0; i < levels; ++i) {
      open += "<pci>";
      close += "</pci>";
    }
    return system_of(open + gpu("0:1:0.0", "dev=\"0\"") + close);
  };
  EXPECT_TRUE(import_nccl_xml(nested(limits::kMaxXmlDepth - 4), {})
                  .ok());  // system, cpu, pci, gpu around and below
  const Error error = nccl_error(nested(limits::kMaxXmlDepth - 3));
  EXPECT_EQ(error.code, Errc::limit_exceeded);
  EXPECT_THAT(error.text(), HasSubstr("line 3, column "));
  EXPECT_EQ(nccl_error(nested(30000)).code, Errc::limit_exceeded);
}

TEST(HostileXml, SizeAndNumbersAreBounded) {
  EXPECT_EQ(nccl_error(std::string(std::size_t{100} << 20U, ' ')).code, Errc::limit_exceeded);
  std::string many = "<system version=\"1\">";
  for (std::size_t i = 0; i <= 2 * limits::kMaxXmlNodes; ++i) many += "<a/>";
  EXPECT_EQ(nccl_error(many + "</system>").code, Errc::limit_exceeded);
  EXPECT_FALSE(import_hwloc_xml(std::string(limits::kMaxTopologyFileBytes + 1, ' '), {}).ok());
}

TEST(HostileXml, WrongRootAndVersion) {
  EXPECT_THAT(nccl_error("<topology/>").text(), HasSubstr("must be <system>, got \"topology\""));
  const Error version = nccl_error("<system version=\"7\"/>");
  EXPECT_EQ(version.code, Errc::unsupported);
  EXPECT_THAT(version.text(), HasSubstr("got \"7\""));
  EXPECT_EQ(nccl_error("<system/>").code, Errc::unsupported);
  EXPECT_THAT(import_hwloc_xml("<system version=\"1\"/>", {}).error().text(),
              HasSubstr("must be <topology>"));
  EXPECT_EQ(import_nccl_graph("<graphs version=\"2\"/>", {}).error().code, Errc::unsupported);
  EXPECT_FALSE(import_nccl_graph("<graphs version=\"1\"/>", {}).ok());
}

TEST(HostileXml, ContradictionsNameTheirPlace) {
  EXPECT_THAT(
      nccl_error(system_of(gpu("0:1:0.0", "dev=\"3\"") + gpu("0:2:0.0", "dev=\"3\""))).text(),
      HasSubstr("two GPUs have dev 3 (at \"0:1:0.0\" and \"0:2:0.0\")"));
  EXPECT_THAT(
      nccl_error(system_of(gpu("0:1:0.0", "dev=\"0\"") + gpu("0:1:0.0", "dev=\"1\""))).text(),
      HasSubstr("GPUs 0 and 1 have one bus id"));
  EXPECT_THAT(nccl_error(system_of(gpu("0:1:0.0", "sm=\"80\""))).text(),
              HasSubstr("line 3, column "));
  EXPECT_THAT(nccl_error(system_of(gpu("0:1:0.0", "dev=\"-1\""))).text(),
              HasSubstr("attribute dev must be a number from 0 to 1048576, got \"-1\""));
  EXPECT_THAT(nccl_error(system_of("")).text(), HasSubstr("no GPU"));
  EXPECT_THAT(
      nccl_error("<system version=\"1\"><cpu host_hash=\"a\"/><cpu host_hash=\"b\"/></system>")
          .text(),
      HasSubstr("2 hosts"));
}

TEST(HostileXml, LinkCountsAreChecked) {
  for (const char* count : {"count=\"0\"", "count=\"-5\"", "count=\"99999\"", "count=\"x\"", ""}) {
    const std::string link = std::string("<nvlink target=\"0:2:0.0\" ") + count + "/>";
    EXPECT_THAT(nccl_error(system_of(gpu("0:1:0.0", "dev=\"0\"", link))).text(),
                HasSubstr("(<nvlink>): attribute count"))
        << count;
  }
  std::string lanes;
  for (int i = 0; i < 3; ++i) lanes += "<nvlink target=\"fffffff:ffff:ff\" count=\"1000\"/>";
  EXPECT_FALSE(import_nccl_xml(system_of(gpu("0:1:0.0", "dev=\"0\"", lanes)), {}).ok());
}

TEST(HostileXml, SixtyFiveGpusAreTooMany) {
  std::string gpus;
  for (int i = 0; i < 64; ++i)
    gpus += gpu("0:" + std::to_string(i) + ":0.0", "dev=\"" + std::to_string(i) + "\"");
  EXPECT_TRUE(import_nccl_xml(system_of(gpus), {}).ok());
  gpus += gpu("0:99:0.0", "dev=\"64\"");
  EXPECT_EQ(nccl_error(system_of(gpus)).code, Errc::limit_exceeded);
  std::string graph = "<graphs version=\"1\"><graph><channel>";
  for (int i = 0; i < 65; ++i) graph += "<gpu dev=\"" + std::to_string(i) + "\"/>";
  EXPECT_EQ(import_nccl_graph(graph + "</channel></graph></graphs>", {}).error().code,
            Errc::limit_exceeded);
}

TEST(HostileXml, WarningsAreBounded) {
  std::string gpus;
  for (int i = 0; i < 64; ++i) {
    std::string links;
    for (int k = 0; k < i; ++k)
      links += "<nvlink target=\"0:" + std::to_string(k) + ":0.0\" count=\"1\"/>";
    gpus += gpu("0:" + std::to_string(i) + ":0.0", "dev=\"" + std::to_string(i) + "\"", links);
  }
  const auto got = import_nccl_xml(system_of(gpus), {});
  ASSERT_TRUE(got.ok());
  EXPECT_TRUE(got->topology.links().empty());
  EXPECT_LT(got->warnings.size(), 30U);
  EXPECT_THAT(got->warnings.back(), HasSubstr("more warnings"));
}

TEST(HostileXml, WarningsThatAreNotKeptCostNothing) {
  std::string links;  // locating each one would search from the beginning of the text
  for (int i = 0; i < 150000; ++i) links += "<nvlink target=\"0:1:0.0\" count=\"1\"/>\n";
  const auto got = import_nccl_xml(system_of(gpu("0:1:0.0", "dev=\"0\"", links)), {});
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(got->warnings.size(), 25U);
  EXPECT_THAT(got->warnings.back(), HasSubstr("and 149976 more"));
}

}  // namespace
}  // namespace chipweave::codec
