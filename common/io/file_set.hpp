// write_file_set — files that belong together, written so that nobody sees half of one, and none if
// one cannot be written.
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
// it, flushes them, and only then renames them one after the other; `saved` gets the path of each.
// What was there is replaced, a symbolic link too. Errors name the file or folder.
Result<void> write_file_set(const std::string& folder, const std::vector<NamedText>& files,
                            FileMode mode, const std::function<void(const std::string&)>& saved);

// "DIR/NAME", as Python's os.path.join.
std::string joined_path(const std::string& folder, const std::string& name);

}  // namespace chipweave::io
