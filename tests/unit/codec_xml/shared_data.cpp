#include "tests/unit/codec_xml/shared_data.hpp"
#include "tests/support/paths.hpp"

#include <zlib.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace chipweave::codec {
namespace {

std::string read_all(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

constexpr std::size_t kTarBlock = 512;

std::string tar_name(const std::string& tar, std::size_t header) {
  const std::string text = tar.substr(header, 100);
  return text.substr(0, text.find('\0'));
}

std::string gunzip(const std::string& path) {
  std::string out;
  gzFile in = gzopen(path.c_str(), "rb");
  EXPECT_NE(in, nullptr) << path;
  if (in == nullptr) return out;
  std::array<char, 65536> buffer{};
  for (int got = 1; got > 0;) {
    got = gzread(in, buffer.data(), static_cast<unsigned>(buffer.size()));
    EXPECT_GE(got, 0) << path;
    if (got > 0) out.append(buffer.data(), static_cast<std::size_t>(got));
  }
  gzclose(in);
  return out;
}

}  // namespace

std::string shared_data() {
  const std::string folder = test::shared_data_path("");
  return std::filesystem::is_directory(folder + "topologies") ? folder : "";
}

std::string topology_file(const std::string& name) {
  return read_all(shared_data() + "/topologies/" + name);
}

FileTree kfd_archive(const std::string& name) {
  const std::string tar = gunzip(shared_data() + "/topologies/kfd/" + name);
  FileTree out;
  std::size_t at = 0;
  while (at + kTarBlock <= tar.size() && tar[at] != '\0') {
    const auto field = [&](std::size_t offset, std::size_t size) {
      const std::string text = tar.substr(at + offset, size);
      return text.substr(0, text.find('\0'));
    };
    const std::size_t size = std::stoul(field(124, 12), nullptr, 8);
    const std::string prefix = field(345, 155);
    const char type = tar[at + 156];
    at += kTarBlock;
    if (type == '0' || type == '\0') {
      out[(prefix.empty() ? "" : prefix + "/") + tar_name(tar, at - kTarBlock)] =
          tar.substr(at, size);
    } else {
      EXPECT_EQ(type, '5') << "a tar entry that is neither file nor folder";
    }
    at += (size + kTarBlock - 1) / kTarBlock * kTarBlock;
  }
  EXPECT_FALSE(out.empty());
  return out;
}

std::vector<std::string> link_list(const domain::NodeTopology& topology) {
  std::vector<std::string> out;
  for (const domain::DirectLink& link : topology.links()) {
    std::ostringstream text;
    text << topology.chip(link.a).index.value << '-' << topology.chip(link.b).index.value << ' '
         << domain::to_string(link.kind) << " x" << link.lanes << ' ' << link.gbps_per_lane;
    out.push_back(text.str());
  }
  return out;
}

int pairs_of(const domain::NodeTopology& topology, domain::LinkKind kind) {
  int out = 0;
  for (int a = 0; a < topology.chip_count(); ++a) {
    for (int b = a + 1; b < topology.chip_count(); ++b)
      out += topology.host_path(a, b) == kind ? 1 : 0;
  }
  return out;
}

std::string all_warnings(const ImportedTopology& imported) {
  std::string out;
  for (const std::string& warning : imported.warnings) out += warning + "\n";
  return out;
}

}  // namespace chipweave::codec
