#include "tests/architecture/include_rules.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

namespace chipweave::architecture {
namespace {

using Strings = std::vector<std::string>;

// Shared by the programs; any of their outer layers may use it.
const Strings kValues = {"common/base", "common/domain"};

Strings operator+(Strings a, const Strings& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Values in, values out: no clock, thread or stream in the domain and the solver.
const Strings kImpure = {"chrono",    "condition_variable",
                         "ctime",     "filesystem",
                         "fstream",   "future",
                         "iostream",  "istream",
                         "mutex",     "ostream",
                         "random",    "shared_mutex",
                         "semaphore", "stop_token",
                         "thread",    "time.h",
                         "cstdio"};

const std::vector<Layer> kLayers = {
    // folder, may include (its own files aside), foreign libraries, banned standard headers
    {"common/base", {}, {}},
    {"common/domain", {"common/base"}, {}, kImpure},
    {"common/solver", kValues, {}, kImpure},
    {"common/codec", kValues, {"nlohmann", "simdjson", "pugixml", "yaml-cpp", "re2", "fmt"}},
    {"common/profiles", {"common/base"}, {}},
    {"common/flags", {"common/base"}, {"CLI11"}},
    {"common/io", kValues + Strings{"common/codec", "common/profiles"}, {"zlib", "posix"}},
    {"common/obs", {"common/base"}, {"spdlog", "prometheus", "fmt"}},
    {"common/http", {"common/base", "common/obs"}, {"boost", "openssl", "posix"}},
    {"common/kube",
     kValues + Strings{"common/codec", "common/http", "common/io", "common/tls", "common/obs"},
     {}},
    {"common/tls", {"common/base", "common/http", "common/io", "common/obs"}, {}},
    {"common/rpc", kValues + Strings{"proto", "common/obs"}, {"grpc", "posix"}},

    {"scheduler-plugin/model", kValues + Strings{"common/solver"}, {}},
    {"scheduler-plugin/state",
     kValues + Strings{"common/solver", "common/obs", "scheduler-plugin/model"},
     {}},
    {"scheduler-plugin/app",
     kValues +
         Strings{"common/solver", "common/obs", "scheduler-plugin/model", "scheduler-plugin/state"},
     {}},
    {"scheduler-plugin/ranktables",
     kValues + Strings{"common/solver", "common/codec", "scheduler-plugin/model",
                       "scheduler-plugin/state", "scheduler-plugin/app"},
     {}},
    {"scheduler-plugin/kube",
     kValues + Strings{"common/codec", "common/io", "common/http", "common/kube", "common/obs",
                       "scheduler-plugin/model", "scheduler-plugin/state", "scheduler-plugin/app",
                       "scheduler-plugin/ranktables"},
     {}},
    {"scheduler-plugin/cluster_info",
     kValues + Strings{"common/codec", "common/http", "common/kube", "common/obs",
                       "scheduler-plugin/model", "scheduler-plugin/state"},
     {}},
    {"scheduler-plugin/server",
     kValues + Strings{"common/codec", "common/http", "common/rpc", "common/obs", "proto",
                       "scheduler-plugin/model", "scheduler-plugin/state", "scheduler-plugin/app",
                       "scheduler-plugin/ranktables", "scheduler-plugin/kube"},
     {"grpc"}},
    {"scheduler-plugin", {"common", "proto", "scheduler-plugin"}, {"CLI11", "posix"}},

    {"node-agent/app", kValues + Strings{"common/obs"}, {}},
    {"node-agent/sources",
     kValues + Strings{"common/codec", "common/profiles", "common/io", "node-agent/app"},
     {"posix"}},
    {"node-agent/supervisor",
     kValues + Strings{"common/codec", "common/io", "node-agent/app"},
     {"posix"}},
    {"node-agent/publish",
     kValues + Strings{"common/codec", "common/http", "common/kube", "common/rpc", "common/obs",
                       "proto", "node-agent/app"},
     {"grpc"}},
    {"node-agent/kubelet",
     kValues + Strings{"common/codec", "common/http", "common/rpc", "common/obs", "proto"},
     {"grpc"}},
    {"node-agent/dra",
     kValues + Strings{"common/codec", "common/http", "common/io", "common/kube", "common/rpc",
                       "common/obs", "proto", "node-agent/app", "node-agent/sources"},
     {"grpc", "posix"}},
    {"node-agent/server",
     kValues + Strings{"common/http", "common/rpc", "common/obs", "proto", "node-agent/app"},
     {"grpc"}},
    {"node-agent/ranktables",
     kValues + Strings{"common/codec", "common/io", "common/kube", "common/obs"},
     {"posix"}},
    {"node-agent/reporting",
     kValues + Strings{"common/codec", "common/http", "common/io", "common/kube", "common/tls",
                       "common/obs", "node-agent/app", "node-agent/sources", "node-agent/publish",
                       "node-agent/kubelet", "node-agent/dra", "node-agent/ranktables"},
     {}},
    // chipweave-device-plugin: a program of its own, which lives longer than the agent.
    {"node-agent/device_plugin",
     {"common", "proto", "node-agent/sources"},
     {"grpc", "CLI11", "posix"}},
    {"node-agent",
     {"common", "proto", "node-agent/app", "node-agent/sources", "node-agent/supervisor",
      "node-agent/reporting", "node-agent/server"},
     {"CLI11", "posix"}},
    // The probe process: a program of its own, which shares nothing with the agent but common/.
    {"node-agent/probes", kValues + Strings{"common/codec", "common/io"}, {"posix"}},
    {"node-agent/probe_process",
     kValues + Strings{"common/codec", "common/io", "node-agent/probes"},
     {"posix"}},

    {"cli",
     kValues + Strings{"common/solver", "common/codec", "common/profiles", "common/flags",
                       "common/io", "common/http", "common/kube", "common/tls"},
     {"CLI11", "fmt", "posix"}},
};

struct ForeignLibrary {
  std::string_view name;
  std::string_view prefix;  // of the include
};
constexpr std::array<ForeignLibrary, 29> kForeignLibraries = {{
    {"nlohmann", "nlohmann/"}, {"simdjson", "simdjson"},
    {"pugixml", "pugixml"},    {"yaml-cpp", "yaml-cpp/"},
    {"zlib", "zlib.h"},        {"boost", "boost/"},
    {"openssl", "openssl/"},   {"spdlog", "spdlog/"},
    {"fmt", "fmt/"},           {"prometheus", "prometheus/"},
    {"grpc", "grpc"},          {"grpc", "google/protobuf/"},
    {"grpc", "absl/"},         {"CLI11", "CLI/"},
    {"posix", "sys/"},         {"posix", "netinet/"},
    {"posix", "arpa/"},        {"posix", "unistd.h"},
    {"posix", "fcntl.h"},      {"posix", "signal.h"},
    {"posix", "netdb.h"},      {"posix", "poll.h"},
    {"posix", "dirent.h"},     {"posix", "termios.h"},
    {"posix", "pthread.h"},    {"posix", "malloc.h"},
    {"posix", "spawn.h"},      {"posix", "dlfcn.h"},
    {"re2", "re2/"},
}};

// <vector>, <cstdint>: standard headers are single words without suffix; every other angle include
// is a library's.
bool is_standard(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::optional<std::string> library_of(std::string_view name) {
  for (const ForeignLibrary& library : kForeignLibraries) {
    if (name.starts_with(library.prefix)) return std::string(library.name);
  }
  return std::nullopt;
}

bool contains(const Strings& list, std::string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool below(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

const Layer* layer_of(std::string_view path) {
  const Layer* best = nullptr;
  for (const Layer& layer : kLayers) {
    if (below(path, layer.folder) && (!best || layer.folder.size() > best->folder.size()))
      best = &layer;
  }
  // Files right in a program's folder (main.cpp, wiring) are that program's; a folder below it
  // needs its own line.
  if (best && best->folder.find('/') == std::string::npos && best->folder != "cli" &&
      path.find('/', best->folder.size() + 1) != std::string_view::npos) {
    return nullptr;
  }
  return best;
}

struct Include {
  int line = 0;
  bool angle = false;
  std::string name;
};

std::string_view trimmed_left(std::string_view text) {
  const auto start = text.find_first_not_of(" \t");
  return start == std::string_view::npos ? std::string_view{} : text.substr(start);
}

std::optional<Include> parse_include(std::string_view line, int number) {
  line = trimmed_left(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = trimmed_left(line.substr(1));
  if (!line.starts_with("include")) return std::nullopt;
  line = trimmed_left(line.substr(std::string_view("include").size()));
  if (line.empty() || (line[0] != '<' && line[0] != '"'))
    return Include{number, false, std::string(line)};
  const char closing = line[0] == '<' ? '>' : '"';
  const auto end = line.find(closing, 1);
  return Include{number, closing == '>',
                 std::string(line.substr(1, end == std::string_view::npos ? end : end - 1))};
}

std::vector<Include> includes_of(std::string_view content) {
  std::vector<Include> found;
  int number = 0;
  while (!content.empty()) {
    ++number;
    const auto end = content.find('\n');
    if (auto include = parse_include(content.substr(0, end), number)) found.push_back(*include);
    content = end == std::string_view::npos ? std::string_view{} : content.substr(end + 1);
  }
  return found;
}

bool is_generated(std::string_view name) { return name.ends_with(".pb.h"); }

class Scan {
 public:
  explicit Scan(const Tree& tree) : tree_(tree) {}

  std::vector<Breach> run() {
    for (const auto& [path, content] : tree_) {
      const Layer* layer = layer_of(path);
      if (!layer) {
        breaches_.push_back(
            {path, 1, "this folder is not in the table of tests/architecture/include_rules.cpp"});
        continue;
      }
      for (const Include& include : includes_of(content)) check(path, *layer, include);
    }
    return std::move(breaches_);
  }

 private:
  void check(const std::string& path, const Layer& layer, const Include& include) {
    const auto breach = [&](const std::string& what) {
      breaches_.push_back({path, include.line, what});
    };
    if (include.angle) {
      if (is_standard(include.name) || include.name == "time.h") {
        if (contains(layer.banned, include.name))
          breach(layer.folder + " may not use <" + include.name + ">");
        return;
      }
      const auto library = library_of(include.name);
      if (!library)
        return breach("<" + include.name + "> is of a library that the table does not know");
      if (!contains(layer.foreign, *library)) breach(layer.folder + " may not use " + *library);
      return;
    }
    if (is_generated(include.name)) {
      if (!may_include(layer, "proto/")) breach(layer.folder + " may not use generated gRPC code");
      return;
    }
    if (!tree_.contains(include.name)) {
      return breach("\"" + include.name + "\" is no path from the repository root");
    }
    if (layer_of(include.name) != &layer && !may_include(layer, include.name)) {
      return breach(layer.folder + " may not include " + include.name);
    }
    for (const std::string& library : libraries_behind(include.name)) {
      if (!contains(layer.foreign, library)) {
        breach(include.name + " brings " + library + " along, which " + layer.folder +
               " may not use");
      }
    }
  }

  static bool may_include(const Layer& layer, std::string_view name) {
    return std::any_of(layer.folders.begin(), layer.folders.end(),
                       [&](const std::string& folder) { return below(name, folder); });
  }

  // Foreign libraries that a file of ours includes, itself or through others of ours. System
  // headers do not count.
  const std::set<std::string>& libraries_behind(const std::string& path) {
    const auto [place, is_new] = behind_.try_emplace(path);
    if (!is_new) return place->second;  // known, or being computed further up (a cycle of includes)
    std::set<std::string> libraries;
    for (const Include& include : includes_of(tree_.at(path))) {
      if (include.angle) {
        const auto library = library_of(include.name);
        if (library && *library != "posix") libraries.insert(*library);
      } else if (is_generated(include.name)) {
        libraries.insert("grpc");
      } else if (tree_.contains(include.name)) {
        const auto& more = libraries_behind(include.name);
        libraries.insert(more.begin(), more.end());
      }
    }
    return behind_[path] = std::move(libraries);
  }

  const Tree& tree_;
  std::vector<Breach> breaches_;
  std::map<std::string, std::set<std::string>> behind_;
};

}  // namespace

const std::vector<Layer>& layers() { return kLayers; }

std::string table_row(const Layer& layer) {
  const auto joined = [](const Strings& list) {
    std::string text;
    for (const std::string& item : list) text += (text.empty() ? "" : ", ") + item;
    return text.empty() ? std::string("-") : text;
  };
  return "| " + layer.folder + " | " + joined(layer.folders) + " | " + joined(layer.foreign) + " |";
}

std::vector<Breach> check_includes(const Tree& tree) { return Scan(tree).run(); }

}  // namespace chipweave::architecture
