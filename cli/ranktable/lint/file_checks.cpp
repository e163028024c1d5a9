#include "cli/ranktable/lint/file_checks.hpp"

#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <string_view>

namespace chipweave::cli {

using domain::ranktable::Findings;
using domain::ranktable::Profile;
using domain::ranktable::Severity;

namespace {

constexpr mode_t kPermissions = 07777;
constexpr mode_t kMindie = 0640;
constexpr mode_t kSharedMount = 0644;

std::string octal(mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode));
  return text.data();
}

bool is_mindie(Profile profile) {
  return profile == Profile::mindie_llm || profile == Profile::mindie_motor;
}

}  // namespace

Findings check_file(const std::string& file, Profile profile) {
  Findings out;
  struct stat link {};
  if (file == "-" || ::lstat(file.c_str(), &link) != 0) return out;
  const auto add = [&](Severity severity, std::string message) {
    out.push_back({"RT080", severity, {}, std::nullopt, std::move(message)});
  };
  if (S_ISLNK(link.st_mode)) {
    add(profile == Profile::torch_npu ? Severity::error : Severity::warning,
        "the file is a symbolic link");
  }
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return out;
  const mode_t mode = status.st_mode & kPermissions;
  if (is_mindie(profile)) {
    if (mode != kMindie) {
      add(Severity::warning, "the file has mode " + octal(mode) + ", MindIE takes 0640 only");
    }
  } else {
    const mode_t most = profile == Profile::structural ? kSharedMount : kMindie;
    if ((mode & ~most & ~mode_t{0100}) != 0) {
      add(Severity::warning, "the file has mode " + octal(mode) + ", more than " + octal(most));
    }
  }
  return out;
}

}  // namespace chipweave::cli
