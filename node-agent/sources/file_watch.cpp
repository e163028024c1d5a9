#include "node-agent/sources/file_watch.hpp"

#include <array>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

namespace chipweave::agent {
namespace {

constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM |
                                  IN_DELETE | IN_ATTRIB | IN_DELETE_SELF;

std::pair<std::string, std::string> folder_and_name(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace

struct FileWatch::Impl {
  int inotify = -1;
  int wake = -1;
  bool complete = true;
  std::map<int, std::set<std::string, std::less<>>>
      names;  // watch descriptor → file names of interest; "": all
  std::function<void()> on_change;
  std::thread thread;

  void add(const std::string& path) {
    const auto [folder, name] = folder_and_name(path);
    const int descriptor = inotify < 0 ? -1 : ::inotify_add_watch(inotify, folder.c_str(), kEvents);
    if (descriptor < 0) {
      complete = false;
      return;
    }
    names[descriptor].insert(name);
  }

  // Reads what is queued; whether anything of interest is among it.
  bool drain() const {
    alignas(inotify_event) std::array<char, 4096> buffer{};
    bool relevant = false;
    for (;;) {
      const ssize_t got = ::read(inotify, buffer.data(), buffer.size());
      if (got <= 0) return relevant;
      for (std::size_t at = 0; at + sizeof(inotify_event) <= static_cast<std::size_t>(got);) {
        inotify_event event{};
        std::memcpy(&event, buffer.data() + at, sizeof(event));
        const char* text = buffer.data() + at + sizeof(event);
        const std::string_view name(text, event.len == 0 ? 0 : ::strnlen(text, event.len));
        at += sizeof(event) + event.len;
        const auto found = names.find(event.wd);
        // ".." begins the names that ConfigMap volumes swap; no name: the folder itself, or a lost
        // event.
        relevant = relevant || name.empty() || name.substr(0, 2) == ".." ||
                   (found != names.end() &&
                    (found->second.count(name) != 0 || found->second.count("") != 0));
      }
    }
  }

  void run() const {
    std::array<pollfd, 2> fds = {{{inotify, POLLIN, 0}, {wake, POLLIN, 0}}};
    for (;;) {
      if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return;
      if (fds[1].revents != 0) return;
      if ((fds[0].revents & POLLIN) != 0 && drain()) on_change();
    }
  }
};

FileWatch::FileWatch(const std::vector<std::string>& files, std::function<void()> on_change)
    : impl_(std::make_unique<Impl>()) {
  impl_->on_change = std::move(on_change);
  impl_->inotify = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  impl_->wake = ::eventfd(0, EFD_CLOEXEC);
  for (const std::string& file : files) impl_->add(file);
  if (impl_->inotify < 0 || impl_->wake < 0) {
    impl_->complete = false;
    return;
  }
  impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
}

FileWatch::~FileWatch() {
  if (impl_->thread.joinable()) {
    const std::uint64_t one = 1;
    // An eventfd with an empty counter always takes one.
    [[maybe_unused]] const ssize_t written = ::write(impl_->wake, &one, sizeof(one));
    impl_->thread.join();
  }
  if (impl_->inotify >= 0) ::close(impl_->inotify);
  if (impl_->wake >= 0) ::close(impl_->wake);
}

bool FileWatch::complete() const { return impl_->complete; }

}  // namespace chipweave::agent
