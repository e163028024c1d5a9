#include "node-agent/probes/amd/kfd_files.hpp"

#include <string>
#include <utility>

#include "common/base/limits.hpp"

namespace chipweave::agent {
namespace {

constexpr int kTries = 3;

std::string generation(const SysfsTree& tree) {
  return tree.text(std::string(kKfdTopology) + "/generation_id").value_or("");
}

class Reader {
 public:
  explicit Reader(const SysfsTree& tree) : tree_(tree) {}

  Result<codec::FileTree> run() {
    for (const std::string& node : tree_.names(std::string(kKfdTopology) + "/nodes")) {
      const std::string at = "nodes/" + node + "/";
      take(at + "properties");
      for (const char* folder : {"io_links/", "p2p_links/", "mem_banks/"}) {
        for (const std::string& entry : names(at + folder))
          take(at + folder + entry + "/properties");
      }
      if (files_.size() > limits::kMaxArchiveFiles) {
        return make_error(Errc::limit_exceeded, "the KFD topology has more than " +
                                                    std::to_string(limits::kMaxArchiveFiles) +
                                                    " files");
      }
    }
    return std::move(files_);
  }

 private:
  std::vector<std::string> names(const std::string& folder) const {
    return tree_.names(std::string(kKfdTopology) + "/" + folder);
  }
  // A file that cannot be read (a GPU outside of the container's device cgroup) is treated as
  // missing.
  void take(const std::string& file) {
    auto text = tree_.text(std::string(kKfdTopology) + "/" + file);
    if (text) files_.emplace(file, std::move(*text));
  }

  const SysfsTree& tree_;
  codec::FileTree files_;
};

}  // namespace

Result<codec::FileTree> read_kfd_files(const SysfsTree& tree) {
  if (!tree.exists(std::string(kKfdTopology) + "/nodes")) {
    return make_error(Errc::not_found, "no AMD accelerators: " + tree.path(kKfdTopology) +
                                           " has no nodes (is the amdgpu driver loaded?)");
  }
  for (int tries = 0; tries < kTries; ++tries) {
    const std::string before = generation(tree);
    Result<codec::FileTree> files = Reader(tree).run();
    if (!files || generation(tree) == before) return files;
  }
  return make_error(Errc::unavailable, "the KFD topology changes while it is read; try again");
}

}  // namespace chipweave::agent
