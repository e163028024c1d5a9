#include "bench/gang_replay/peer_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

namespace chipweave::bench {
namespace {

Error system_failure(const char* what, int number) {
  return make_error(Errc::unavailable, std::string(what) + ": " + std::strerror(number));
}

// Both ends, closed in children.
Result<std::array<int, 2>> new_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_failure("pipe", errno);
  return ends;
}

void set_non_blocking(int descriptor) {
  (void)::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

}  // namespace

PeerProgram::~PeerProgram() {
  input_.reset();
  if (process_ < 0) return;
  (void)::kill(process_, SIGKILL);
  (void)::waitpid(process_, nullptr, 0);
}

Result<void> PeerProgram::start() {
  const auto to = new_pipe();
  if (!to) return to.error();
  const io::Descriptor its_input((*to)[0]);
  input_.adopt((*to)[1]);
  const auto from = new_pipe();
  if (!from) return from.error();
  output_.adopt((*from)[0]);
  const io::Descriptor its_output((*from)[1]);
  set_non_blocking(input_.get());
  set_non_blocking(output_.get());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, its_input.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, its_output.get(), STDOUT_FILENO);
  std::vector<char*> arguments;
  for (std::string& word : words_) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int failed =
      ::posix_spawnp(&process_, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) return {};
  process_ = -1;
  return make_error(Errc::not_found, words_.front() + ": " + std::strerror(failed));
}

Result<void> PeerProgram::send() {
  const std::string_view rest = std::string_view(line_).substr(sent_);
  const ssize_t sent = ::write(input_.get(), rest.data(), rest.size());
  if (sent >= 0) {
    sent_ += static_cast<std::size_t>(sent);
  } else if (errno != EAGAIN && errno != EINTR) {
    return system_failure(words_.front().c_str(), errno);
  }
  return {};
}

Result<void> PeerProgram::receive() {
  std::array<char, 65536> buffer{};
  const ssize_t got = ::read(output_.get(), buffer.data(), buffer.size());
  if (got > 0) {
    received_.append(buffer.data(), static_cast<std::size_t>(got));
  } else if (got == 0) {
    return make_error(Errc::unavailable, words_.front() + " has ended");
  } else if (errno != EAGAIN && errno != EINTR) {
    return system_failure(words_.front().c_str(), errno);
  }
  if (received_.size() <= kMaxAnswerBytes) return {};
  return make_error(Errc::limit_exceeded, words_.front() + " answers with a line of more than " +
                                              std::to_string(kMaxAnswerBytes) + " bytes");
}

// Waits until one of both pipes is ready, and uses those that are.
Result<void> PeerProgram::transfer(short events, Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  std::array<pollfd, 2> pipes = {pollfd{output_.get(), POLLIN, 0}, pollfd{input_.get(), events, 0}};
  const nfds_t count = events == 0 ? 1 : 2;
  const int ready = ::poll(pipes.data(), count, static_cast<int>(std::max<long>(left.count(), 0)));
  if (ready == 0)
    return make_error(Errc::deadline, words_.front() + " has not answered within " +
                                          std::to_string(deadline_.count()) + " ms");
  if (ready < 0 && errno != EINTR) return system_failure("poll", errno);
  if (ready > 0 && count == 2 && pipes[1].revents != 0) {
    if (auto sent = send(); !sent) return sent;
  }
  if (ready > 0 && pipes[0].revents != 0) return receive();
  return {};
}

Result<std::string> PeerProgram::ask(std::string line) {
  if (process_ < 0) {
    if (auto started = start(); !started) return std::move(started).error();
  }
  line_ = std::move(line) + "\n";
  sent_ = 0;
  const Clock::time_point until = Clock::now() + deadline_;
  for (std::size_t searched = 0;;) {
    const std::size_t end = received_.find('\n', searched);
    searched = std::min(end, received_.size());
    const bool all_sent = sent_ == line_.size();
    if (end != std::string::npos && all_sent) {
      std::string answer = received_.substr(0, end);
      received_.erase(0, end + 1);
      return answer;
    }
    if (auto done = transfer(all_sent ? 0 : POLLOUT, until); !done) return std::move(done).error();
  }
}

}  // namespace chipweave::bench
