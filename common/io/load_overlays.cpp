#include <filesystem>
#include <utility>

#include "common/codec/calibration/overlay_file.hpp"
#include "common/io/file_stamp.hpp"
#include "common/io/files.hpp"

namespace chipweave::io {
namespace {

Result<domain::RateOverlay> load_overlay(const std::string& path) {
  const FileStamp stamp = FileStamp::of(path);
  if (stamp.exists && !stamp.regular)  // reading a pipe would block
    return make_error(Errc::invalid_argument, "not a regular file").in("file " + path);
  const auto content = read_file(path, codec::kMaxOverlayBytes);
  if (!content) return Error(content.error());
  Result<domain::RateOverlay> overlay = codec::read_overlay(*content, path);
  if (!overlay) return std::move(overlay).error().in("file " + path);
  return overlay;
}

}  // namespace

Result<std::vector<domain::RateOverlay>> load_overlays(const std::string& file_or_folder) {
  std::vector<std::string> paths;
  std::error_code ignored;
  if (std::filesystem::is_directory(file_or_folder, ignored)) {
    const auto names = folder_names(file_or_folder, codec::kMaxOverlays);
    if (!names) return Error(names.error());
    for (const std::string& name : *names) {
      if (name.ends_with(".json")) paths.push_back(file_or_folder + "/" + name);
    }
    if (paths.empty()) {
      return make_error(Errc::not_found, "the folder has no files *.json")
          .in("folder " + file_or_folder);
    }
  } else {
    paths.push_back(file_or_folder);
  }
  std::vector<domain::RateOverlay> overlays;
  for (const std::string& path : paths) {
    Result<domain::RateOverlay> overlay = load_overlay(path);
    if (!overlay) return std::move(overlay).error();
    overlays.push_back(*std::move(overlay));
  }
  if (Result<void> ok = domain::check_overlays(overlays); !ok) return std::move(ok).error();
  return overlays;
}

}  // namespace chipweave::io
