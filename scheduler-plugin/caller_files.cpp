#include "scheduler-plugin/caller_files.hpp"

#include <utility>
#include <vector>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/io/file_stamp.hpp"
#include "common/io/files.hpp"
#include "common/obs/log.hpp"

namespace chipweave::sched {

Result<std::unique_ptr<CallerFiles>> CallerFiles::open(std::string folder) {
  std::unique_ptr<CallerFiles> out(new CallerFiles(std::move(folder)));
  if (auto taken = out->take(); !taken) return std::move(taken).error();
  out->check();  // refusals are logged when two checks agree
  if (out->secrets_.callers().empty()) {
    obs::log(obs::Level::warn, "caller-secrets holds no secret: no caller can prove itself by one",
             {{"folder", out->folder_}});
  }
  return out;
}

Result<CallerSecrets::Caller> CallerFiles::read(const std::string& name) const {
  const std::string path = folder_ + "/" + name;
  const io::FileStamp stamp = io::FileStamp::of(path);
  if (stamp.exists && !stamp.regular)  // reading a pipe would block
    return make_error(Errc::invalid_argument, "not a regular file");
  auto content = io::read_file(path, CallerSecrets::kMaxSecret + 1);
  if (!content) return std::move(content).error();
  return CallerSecrets::read(name, *content);
}

Result<bool> CallerFiles::take() {
  const auto names = io::folder_names(folder_, CallerSecrets::kMaxCallers);
  if (!names) return Error(names.error());
  std::vector<CallerSecrets::Caller> callers;
  for (const std::string& name : *names) {
    if (auto caller = read(name)) {
      callers.push_back(std::move(*caller));
    } else {
      refuse(name, caller.error().text());
    }
  }
  return secrets_.replace(std::move(callers));
}

void CallerFiles::check() {
  for (auto& [name, refusal] : refused_) refusal.still = false;
  const auto changed = take();
  if (!changed) refuse("", changed.error().text());
  std::erase_if(refused_, [](const auto& each) { return !each.second.still; });
  if (!changed || !*changed) return;
  std::vector<std::string> names;
  for (const CallerSecrets::Caller& caller : secrets_.callers()) names.push_back(caller.name);
  obs::log(obs::Level::info, "callers' secrets changed", {{"callers", joined(names, ", ")}});
}

// Files may change one after another, so a refusal is logged when two checks agree.
void CallerFiles::refuse(const std::string& name, const std::string& why) {
  Refusal& refusal = refused_[name];
  refusal.still = true;
  if (refusal.why != why) {
    refusal.why = why;
    refusal.logged = false;
  } else if (!std::exchange(refusal.logged, true)) {
    if (name.empty()) {
      obs::log(obs::Level::error, "caller-secrets cannot be read, the secrets in use stay valid",
               {{"reason", why}});
    } else {
      obs::log(obs::Level::error, "a caller's secret is not usable",
               {{"caller", printable(name)}, {"reason", why}});
    }
  }
}

}  // namespace chipweave::sched
