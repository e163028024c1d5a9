#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/io/files.hpp"
#include "common/io/machine_content.hpp"
#include "common/profiles/aliases.hpp"
#include "common/profiles/profiles.hpp"

namespace chipweave::io {
namespace {

Result<codec::ImportedTopology> imported_from(const std::string& where,
                                              Result<codec::ImportedTopology> imported) {
  if (imported) return imported;
  return std::move(imported).error().in(where);
}

// gzip magic, or "ustar" where a tar header has it.
bool is_archive(const std::string& content) {
  const std::string_view view(content);
  return view.substr(0, 2) == "\x1f\x8b" || (view.size() >= 512 && view.substr(257, 5) == "ustar");
}

Error unknown_machine(const std::string& name) {
  std::vector<std::string_view> names;
  names.reserve(profiles::all().size() + profiles::aliases().size());
  for (const profiles::Profile& p : profiles::all()) names.push_back(p.name);
  for (const profiles::Alias& a : profiles::aliases()) names.push_back(a.name);
  const std::string shown = name.substr(0, 200);
  return make_error(Errc::not_found, "no built-in profile and no file \"" + shown + "\"" +
                                         did_you_mean(name, names) +
                                         "; `chipweave profiles` lists the built-in machines");
}

// By another name of a profile. Errors: the name is that of several, or of none.
Result<codec::ImportedTopology> aliased_machine(const std::string& name,
                                                const codec::ImportOptions& options) {
  const profiles::Alias* alias = profiles::find_alias(name);
  if (alias == nullptr) return unknown_machine(name);
  if (alias->profiles.size() > 1) {
    return make_error(Errc::not_found, concat(in_quotes(name), " is one of several machines: ",
                                              joined(alias->profiles, ", "), "; name one of them"));
  }
  const profiles::Profile* profile = profiles::find(alias->profiles.front());
  if (profile == nullptr) return unknown_machine(name);
  return imported_from("profile " + std::string(profile->name),
                       codec::import_topology_json(profile->json, options));
}

}  // namespace

bool is_profile(const std::string& name_or_path) {
  if (profiles::find(name_or_path) != nullptr) return true;
  struct stat info {};
  if (name_or_path.find('\0') != std::string::npos || ::stat(name_or_path.c_str(), &info) == 0)
    return false;
  const profiles::Alias* alias = profiles::find_alias(name_or_path);
  return alias != nullptr && alias->profiles.size() == 1;
}

Result<codec::ImportedTopology> load_machine(const std::string& name_or_path,
                                             const codec::ImportOptions& options) {
  if (const profiles::Profile* profile = profiles::find(name_or_path)) {
    return imported_from("profile " + name_or_path,
                         codec::import_topology_json(profile->json, options));
  }
  struct stat info {};
  if (name_or_path.empty() || name_or_path.find('\0') != std::string::npos) {
    return unknown_machine(name_or_path);
  }
  if (::stat(name_or_path.c_str(), &info) != 0) {
    const int number = errno;
    if (number == ENOENT || number == ENOTDIR || number == ENAMETOOLONG) {
      return aliased_machine(name_or_path, options);
    }
    return make_error(Errc::unavailable, std::string("cannot open: ") + std::strerror(number))
        .in("file " + name_or_path);
  }
  if (S_ISDIR(info.st_mode)) {
    // names first: any other folder may hold files without end
    Result<codec::FileTree> tree = list_tree(name_or_path);
    if (!tree && tree.error().code == Errc::limit_exceeded) {
      return std::move(tree).error().in(
          "this folder is not a KFD tree; give the one that contains nodes/, such as "
          "/sys/class/kfd/kfd/topology");
    }
    if (tree && codec::looks_like_kfd_tree(*tree)) tree = read_tree(name_or_path);
    if (!tree) return std::move(tree).error();
    return imported_from("file " + name_or_path, codec::import_topology_tree(*tree, options));
  }
  Result<std::string> content = read_file(name_or_path, limits::kMaxTopologyFileBytes);
  if (!content) return std::move(content).error();
  return machine_in_content(*content, "file " + name_or_path, options);
}

Result<codec::ImportedTopology> machine_in_content(const std::string& content,
                                                   const std::string& where,
                                                   const codec::ImportOptions& options) {
  if (!is_archive(content)) return imported_from(where, codec::import_topology(content, options));
  Result<codec::FileTree> tree = read_tar(content);
  if (!tree) return std::move(tree).error().in(where);
  return imported_from(where, codec::import_topology_tree(*tree, options));
}

}  // namespace chipweave::io
