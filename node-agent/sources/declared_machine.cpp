#include "node-agent/sources/declared_machine.hpp"

#include <utility>

#include "common/io/files.hpp"
#include "common/profiles/profiles.hpp"

namespace chipweave::agent {
namespace {

std::string last_part(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace

MachineUpdate DeclaredMachine::update() {
  const auto stamp =
      source_ == Source::file ? std::optional(io::FileStamp::of(name_)) : std::nullopt;
  if (std::exchange(read_, true) && stamp == seen_) return {};
  seen_ = stamp;
  return {{}, read()};
}

Result<domain::Observation> DeclaredMachine::read() {
  if (source_ == Source::profile && profiles::find(name_) == nullptr) {
    std::string names;
    for (const profiles::Profile& p : profiles::all()) {
      names += (names.empty() ? "" : ", ") + std::string(p.name);
    }
    return make_error(Errc::not_found, "unknown profile \"" + name_ + "\"; known: " + names);
  }
  // "./" keeps a file with the name of a profile from being taken for the profile.
  const bool relative = source_ == Source::file && !name_.empty() && name_.front() != '/';
  auto loaded = io::load_machine(relative ? "./" + name_ : name_);
  if (!loaded) return std::move(loaded).error();
  domain::Observation out{source_ == Source::profile ? name_ : loaded->topology.model(),
                          std::move(loaded->topology), std::move(loaded->warnings)};
  if (out.machine.empty()) out.machine = last_part(name_);
  return out;
}

}  // namespace chipweave::agent
