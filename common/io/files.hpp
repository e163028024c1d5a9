// Files — reading from disk with limits; errors name the file. The only place besides main() and
// probes that opens files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/topology/import.hpp"
#include "common/domain/rate_overlay.hpp"

namespace chipweave::io {

// The whole file; errors: not_found, limit_exceeded, unavailable. Pipes and character devices are
// read up to the limit.
Result<std::string> read_file(const std::string& path, std::size_t max_bytes);
// Standard input to its end.
Result<std::string> read_standard_input(std::size_t max_bytes);
// Writes a temporary file next to `name`, flushes it and renames it over `name`. For a symbolic
// link the target is replaced; devices and pipes are written to directly.
Result<void> write_file_atomically(const std::string& name, const std::string& content);
// Names of what is in a folder, sorted, without those that begin with a dot. Errors: not_found,
// unavailable; limit_exceeded for more than max_names.
Result<std::vector<std::string>> folder_names(const std::string& folder, std::size_t max_names);
// A folder as a FileTree (regular files only, symlinks inside the folder followed once, bounded).
Result<codec::FileTree> read_tree(const std::string& folder);
// The same with empty contents: lists the folder without reading files.
Result<codec::FileTree> list_tree(const std::string& folder);
// A .tar or .tar.gz (gzip detected by content) as a FileTree.
Result<codec::FileTree> read_tar(const std::string& content);

// The topology of a command-line argument: a built-in profile, a topology file, a folder or a tar
// archive of one, or where there is no such file another name of a profile (profiles/aliases.hpp).
Result<codec::ImportedTopology> load_machine(const std::string& name_or_path,
                                             const codec::ImportOptions& options = {});
// Whether load_machine() takes it for a profile, by its name or another one, not for a file.
bool is_profile(const std::string& name_or_path);

// Profile overlays: a file, or all files *.json of a folder, sorted by name. Errors name file and
// field, or two files that contradict each other; not_found also for a folder without such files.
Result<std::vector<domain::RateOverlay>> load_overlays(const std::string& file_or_folder);

}  // namespace chipweave::io
