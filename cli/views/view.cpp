#include "cli/views/view.hpp"

#include <string_view>
#include <thread>

#include "cli/terminal.hpp"

namespace chipweave::cli {
namespace {

constexpr std::string_view kPodCharacters = "abcdefghijklmnopqrstuvwxyz0123456789-.";
constexpr std::string_view kNodeCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";

bool is_name_of(std::string_view characters, const std::string& name) {
  return !name.empty() && name.find_first_not_of(characters) == std::string::npos;
}

}  // namespace

std::string pod_path(const std::string& typed, const std::string& ns) {
  const std::size_t slash = typed.find('/');
  const std::string in = slash == std::string::npos ? ns : typed.substr(0, slash);
  const std::string name = slash == std::string::npos ? typed : typed.substr(slash + 1);
  if (is_name_of(kPodCharacters, in) && is_name_of(kPodCharacters, name)) return in + "/" + name;
  complain("POD: expected NAME or NAMESPACE/NAME, got " + in_quotes(typed));
  return {};
}

bool is_node_name(const std::string& name) { return is_name_of(kNodeCharacters, name); }

Exit watch(SchedulerClient& scheduler, const std::string& target,
           const std::function<Result<std::string>(const std::string& body)>& changes) {
  for (;;) {
    const Result<std::string> body = scheduler.list(target);
    if (!body) return complain(body.error(), exit_for(body.error()));
    const Result<std::string> text = changes(*body);
    if (!text) return complain(text.error(), Exit::unreadable);
    if (!text->empty() && !print(*text)) return Exit::unreadable;
    std::this_thread::sleep_for(kWatchEvery);
  }
}

}  // namespace chipweave::cli
