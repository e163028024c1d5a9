// The settings network-…, and the file of network-file.
#include <gtest/gtest.h>

#include "scheduler-plugin/config.hpp"
#include "scheduler-plugin/network_file.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::sched::test {
namespace {

Result<Config> read(const std::string& text) {
  Config config;
  if (auto ok = apply_config_text(text, config); !ok) return std::move(ok).error();
  if (auto ok = check_config(config); !ok) return std::move(ok).error();
  return config;
}

std::string refusal(const std::string& text) {
  const auto config = read(text);
  return config ? "accepted" : config.error().text();
}

TEST(NetworkSettings, AreReadAndPrinted) {
  const auto config = read(
      "network-sources: [labels, hypernodes]\nnetwork-levels: [example.com/block, "
      "kubernetes.io/hostname]\nnetwork-config-map: team/network\nnetwork-file: /etc/n.csv\n");
  ASSERT_TRUE(config.ok()) << config.error().text();
  EXPECT_EQ(config->network().sources,
            (std::vector<NetworkSource>{NetworkSource::labels, NetworkSource::hypernodes,
                                        NetworkSource::configmap, NetworkSource::file}));
  EXPECT_EQ(config->network().levels.size(), 2U);
  Config again;
  ASSERT_TRUE(apply_config_text(print_config(*config), again).ok());
  EXPECT_EQ(print_config(again), print_config(*config));
  EXPECT_EQ(Config().network().sources,
            (std::vector<NetworkSource>{NetworkSource::labels, NetworkSource::inventories}));
  EXPECT_TRUE(read("network-sources: []\n")->network().sources.empty());
}

TEST(NetworkSettings, ThatMakeNoSenseAreRefused) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"network-sources: [hypernode]", "hypernodes"},
      {"network-sources: [configmap]", "unknown source"},
      {"network-sources: [labels, labels]", "twice"},
      {"network-levels: [a/b, a/b]", "twice"},
      {"network-levels: [kubernetes.io/hostname, a/b]", "must come last"},
      {"network-levels: [\"\"]", "expected a node label"},
      {"network-levels: [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q]", "at most 16"},
      {"network-config-map: network", "NAMESPACE/NAME"},
      {"network-config-map: team/", "NAMESPACE/NAME"},
      {"network-config-map: team/a/b", "NAMESPACE/NAME"},
      {"network-sources: [inventories]\nnetwork-levels: [a/b]", "requires labels"},
      {"standalone: true\nnetwork-sources: [kueue]", "cannot be combined with --standalone"},
      {"standalone: true\nnetwork-config-map: team/n", "use --network-file"},
  };
  for (const auto& [text, expected] : bad) {
    const std::string got = refusal(text + "\n");
    EXPECT_NE(got.find(expected), std::string::npos) << text << ": " << got;
  }
}

class NetworkFiles : public ::testing::Test {
 protected:
  NetworkFiles() { network.configure({{NetworkSource::file}, {}}); }
  std::string problem() { return network.sources().front().problem; }

  io::TempFolder folder;
  NodeTable nodes;
  Network network{nodes};
};

TEST_F(NetworkFiles, AreReadAgainWhenTheyChange) {
  const std::string path = folder.put("network.csv", "name,row\nn1,row1\n");
  auto file = NetworkFile::open(path, network);
  ASSERT_TRUE(file.ok()) << file.error().text();
  EXPECT_EQ(network.levels(), (std::vector<std::string>{"row", "kubernetes.io/hostname"}));
  folder.put("network.csv", "name,hall,row\nn1,hall1,row1\n");
  (*file)->check();
  EXPECT_EQ(network.levels().size(), 3U);
  folder.put("network.csv", "no network at all");
  (*file)->check();
  EXPECT_NE(problem().find("network.csv"), std::string::npos) << problem();
  EXPECT_EQ(network.levels().size(), 3U) << "the last good one";
  folder.put("network.csv", "name,row\nn1,row1\n");
  (*file)->check();
  EXPECT_EQ(problem(), "");
  EXPECT_EQ(network.levels().size(), 2U);
}

TEST_F(NetworkFiles, ThatCannotBeReadAtTheStartAreErrors) {
  EXPECT_EQ(NetworkFile::open(folder.at("none"), network).error().code, Errc::not_found);
  EXPECT_FALSE(NetworkFile::open(folder.put("bad", "nothing"), network).ok());
}

}  // namespace
}  // namespace chipweave::sched::test
