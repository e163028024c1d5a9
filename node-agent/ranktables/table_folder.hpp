// TableFolder — the folder of this node in which containers find the rank tables of their jobs, as
// files NAMESPACE.JOB/hccl.json and NAMESPACE.JOB/version.
//
// A container may write to the folder of its job, and may have put anything there. So all work is
// relative to open folders, follows no link, opens nothing but regular files, lists no folder that
// containers can write to, and never blocks. New contents are written where no container has access
// (.chipweave) and renamed from there: whenever the agent ends, a file is the old or the new one.
//
// .chipweave also has a record of each folder: for which pods it was written, and with what.
// Loop thread only.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/io/descriptor.hpp"

namespace chipweave::agent {

// NAMESPACE.JOB. Errors: one of them is not a DNS name, or the name is too long for a folder.
Result<std::string> table_folder_name(const std::string& ns, const std::string& job);
// The reverse; nullopt: not such a name.
std::optional<std::pair<std::string, std::string>> parts_of_folder_name(const std::string& name);

class TableFolder {
 public:
  static constexpr std::size_t kMaxTableBytes = std::size_t{1} << 20U;  // as a ConfigMap

  // What the files of a job contain; nullopt: there is no such file.
  struct Contents {
    std::optional<std::string> table;
    std::optional<std::string> version;
  };
  struct Record {
    std::set<std::string> pods;       // uids
    std::vector<std::string> tables;  // hashes of what hccl.json may contain
  };

  // An absolute path, checked before.
  explicit TableFolder(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string path_of(const std::string& name) const { return path_ + "/" + name; }

  // Makes the folder, and removes what an agent that was killed has left. Errors: it cannot be
  // used.
  Result<void> prepare() const;
  // Names of the folders of which there is a record.
  Result<std::vector<std::string>> recorded() const;

  // Of one job; `name` is one of table_folder_name(). Errors: conflict: something that is not a
  // regular file, or a folder, is in the way; limit_exceeded; unavailable.
  Result<Contents> read(const std::string& name) const;
  // A file of kJobTableKey or kTableVersionKey; its folder is made if it is missing.
  Result<void> write(const std::string& name, const char* file, const std::string& text) const;
  // Both files, and the folder if nothing else is in it.
  Result<void> remove(const std::string& name) const;

  // An empty one if there is none, or none that can be read.
  Record record(const std::string& name) const;
  Result<void> keep(const std::string& name, const Record& record) const;
  Result<void> forget(const std::string& name) const;

 private:
  enum class Missing { fail, make };
  Result<void> open_folder(const std::string& name, Missing missing, io::Descriptor& to) const;
  Result<void> open_records(io::Descriptor& to) const;
  // Of text that is renamed to `file` in `folder`; `path` is what errors name.
  Result<void> replace(const io::Descriptor& folder, const std::string& file,
                       const std::string& text, const std::string& path) const;

  std::string path_;
};

}  // namespace chipweave::agent
