// write_file_set — writes files that belong together: readers see each one complete, and none is
// written if one of them cannot be.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/named_text.hpp"
#include "common/base/result.hpp"

namespace chipweave::io {

enum class FileMode {
  owner_only,  // 0600
  by_umask,
};

// Names are without a folder. Makes the folder with its parents, writes all to temporary files in
// it, flushes them, and only then renames them one by one, calling `saved` with each path. Existing
// files and symbolic links are replaced. Errors name the file or folder.
Result<void> write_file_set(const std::string& folder, const std::vector<NamedText>& files,
                            FileMode mode, const std::function<void(const std::string&)>& saved);

// "DIR/NAME", as Python's os.path.join.
std::string joined_path(const std::string& folder, const std::string& name);

}  // namespace chipweave::io
