// Runs a generator in this process, in its own folder, with a stand-in for hccn_tool, and keeps its
// output.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/ranktable/tools/entry.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::cli {

using Words = std::vector<std::string>;

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class ToolRunner {
 public:
  ToolRunner() : before_(std::filesystem::current_path()) {
    std::filesystem::create_directory(folder_.at("work"));
    std::filesystem::current_path(folder_.at("work"));
    set_host(1);
    folder_.put("hccn.conf", "");
  }
  ToolRunner(const ToolRunner&) = delete;
  ToolRunner& operator=(const ToolRunner&) = delete;
  ~ToolRunner() { std::filesystem::current_path(before_); }

  // The stand-in answers of device N: 10.0.HOST.(18 + N).
  void set_host(int host) {
    set_tool("echo ipaddr:10.0." + std::to_string(host) +
             ".$((18 + $2))\necho netmask:255.255.255.0\n");
  }
  // The lines of its shell script; $2 is the device.
  void set_tool(const std::string& lines) {
    const std::string path = folder_.put("hccn_tool", "#!/bin/sh\n" + lines);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  std::string tool() const { return folder_.at("hccn_tool"); }
  void set_conf(const std::string& lines) { folder_.put("hccn.conf", lines); }
  std::string put(const std::string& name, const std::string& text) {
    return folder_.put(name, text);
  }

  // Runs the words unchanged; -1 if they name none of the tools.
  int run_words(const Words& words) {
    out.clear();
    err.clear();
    return run_ranktable_tool(
               words, [this](std::string_view text) { out += text; },
               [this](std::string_view text) { err += text; })
        .value_or(-1);
  }
  // `chipweave ranktable …` with the stand-in.
  int run(Words words) {
    words.insert(words.begin(), {"/usr/bin/chipweave", "ranktable"});
    words.insert(words.end(), {"--hccn-tool", folder_.at("hccn_tool")});
    words.insert(words.end(), {"--hccn-conf", folder_.at("hccn.conf")});
    return run_words(words);
  }

  // Name → content of the regular files below a folder, or the current one.
  static std::map<std::string, std::string> files(const std::string& folder = ".") {
    std::map<std::string, std::string> found;
    std::error_code failed;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, failed)) {
      if (!entry.is_regular_file()) continue;
      found[std::filesystem::relative(entry.path(), folder).string()] = content_of(entry.path());
    }
    return found;
  }

  std::string out;
  std::string err;

 private:
  io::TempFolder folder_;
  std::filesystem::path before_;
};

}  // namespace chipweave::cli
