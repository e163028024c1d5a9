// The image contains every library that the programs are linked with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <sstream>

#include "tests/component/programs/run.hpp"
#include "tests/support/paths.hpp"

namespace chipweave {
namespace {

std::set<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

TEST(Image, InstallsThePackagesOfAllLibraries) {
  if (run("command -v dpkg && command -v readelf").code != 0)
    GTEST_SKIP() << "no dpkg or no readelf here";
  const auto text = test::file_content(test::source_path("dependencies/run.txt"));
  ASSERT_TRUE(text);
  const std::set<std::string> installed = words_of(*text);
  const std::string programs =
      "%B/chipweave %B/chipweave-agent %B/chipweave-agent-probe %B/chipweave-scheduler";
  const std::set<std::string> needed = words_of(
      run("readelf -d " + programs + " | sed -n 's/.*(NEEDED).*\\[\\(.*\\)\\]/\\1/p'").text);
  const std::set<std::string> paths =
      words_of(run("ldd " + programs + " | awk '$2 == \"=>\" { print $3 }'").text);
  std::string question = "dpkg -S";  // a package may know its files under /lib or /usr/lib
  for (const std::string& path : paths) {
    if (path.find("san.so") != std::string::npos) continue;  // of a sanitizer build
    if (!needed.contains(path.substr(path.rfind('/') + 1))) continue;
    for (const char* root : {" ", " /usr"}) question += root + path;
  }
  // part of every Debian 12
  const std::set<std::string> base{"libc6", "libgcc-s1", "libstdc++6", "zlib1g"};
  const auto owners = words_of(run(question + " 2>/dev/null | cut -d: -f1").text);
  for (const std::string& package : owners) {
    EXPECT_TRUE(base.contains(package) || installed.contains(package))
        << package << " is missing from dependencies/run.txt";
  }
  EXPECT_GT(owners.size(), 10U) << question;
}

}  // namespace
}  // namespace chipweave
