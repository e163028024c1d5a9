#include "node-agent/sources/health_file.hpp"

#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/agent/health_file.hpp"
#include "common/io/files.hpp"

namespace chipweave::agent {

std::optional<Result<domain::DeclaredFaults>> HealthFile::changes() {
  const io::FileStamp now = io::FileStamp::of(path_);
  if (seen_ && *seen_ == now) return std::nullopt;
  const bool first = !seen_;
  seen_ = now;
  if (!now.exists) {
    if (first) return Result<domain::DeclaredFaults>(domain::DeclaredFaults{});
    return Result<domain::DeclaredFaults>(
        make_error(Errc::not_found, "file " + path_ + " is gone; write {} if nothing is broken"));
  }
  if (!now.regular) {
    return Result<domain::DeclaredFaults>(
        make_error(Errc::invalid_argument, "file " + path_ + " must be a regular file"));
  }
  return read();
}

Result<domain::DeclaredFaults> HealthFile::read() const {
  const auto text = io::read_file(path_, limits::kMaxHealthFileBytes);
  if (!text) return Error(text.error());
  auto faults = codec::parse_health_file(*text);
  if (!faults) return std::move(faults).error().in("file " + path_);
  return faults;
}

}  // namespace chipweave::agent
