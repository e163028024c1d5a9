// TokenReviewer — authenticates bearer tokens with the API server (TokenReview) and checks their
// owners against the configured users.
//
// Answers are cached for a while by the token's digest; the token itself is dropped once it is sent
// and is never logged. Each token is reviewed once at a time and few at once, so that a flood of
// tokens cannot delay bindings, which use the same connection. Owner:
// the loop thread; pending callbacks are dropped by its destructor.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/kube/transport.hpp"

namespace chipweave::sched {

struct CallerVerdict {
  enum class Kind {
    accepted,
    unknown,      // the API server does not accept the token for our audience
    forbidden,    // accepted, but its owner is not among the users
    unavailable,  // the API server could not be asked
    busy,         // too many callers are waiting
  };
  Kind kind = Kind::unavailable;
  std::string why;          // for the caller
  std::string user{};       // the token's owner, if it has one
  bool only_reads = false;  // accepted for calls that change nothing
};

class TokenReviewer {
 public:
  struct Options {
    std::string audience;                     // required audience of tokens
    std::vector<std::string> users;           // allowed users, and groups as "group:NAME"
    std::vector<std::string> reader_users{};  // likewise; they may only read
    std::chrono::seconds accepted_for{60};
    std::chrono::seconds refused_for{5};
    std::size_t max_remembered = 4096;  // accepted tokens, and as many refused ones
    std::size_t at_once = 4;
    std::size_t max_waiting = 1024;  // callers
    std::chrono::milliseconds deadline{5000};
  };
  using Done = std::function<void(const CallerVerdict&)>;

  TokenReviewer(kube::Transport& transport, Options options)
      : transport_(transport), options_(std::move(options)) {}
  TokenReviewer(const TokenReviewer&) = delete;
  TokenReviewer& operator=(const TokenReviewer&) = delete;

  // done: called at once if the answer is cached, else later.
  void check(std::string token, Done done);

  struct Stats {
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;  // unknown and forbidden
    std::uint64_t failed = 0;   // the API server gave no answer
  };
  const Stats& stats() const { return stats_; }  // of the reviews sent to the API server

 private:
  using Steady = std::chrono::steady_clock::time_point;
  // Verdicts by digest, at most max_remembered: the oldest is dropped first.
  class Remembered {
   public:
    const CallerVerdict* find(const std::string& digest, Steady now);
    void add(const std::string& digest, const CallerVerdict& verdict, Steady until,
             std::size_t at_most);

   private:
    struct Known {
      std::string digest;
      CallerVerdict verdict;
      Steady until;
    };
    std::list<Known> known_;  // the oldest first
    std::unordered_map<std::string, std::list<Known>::iterator> by_digest_;
  };
  // A token under review or waiting for it.
  struct Review {
    std::string token;  // until its review is sent
    std::vector<Done> waiting;
    std::unique_ptr<kube::Ticket> call;
  };
  void remember(const std::string& digest, const CallerVerdict& verdict);
  void pump();
  void answered(const std::string& digest, const Result<kube::Reply>& reply);
  CallerVerdict judge(const Result<kube::Reply>& reply);
  CallerVerdict trouble(const std::string& what);

  kube::Transport& transport_;
  Options options_;
  // Apart, so that a flood of worthless tokens does not drop those that were accepted.
  Remembered accepted_;
  Remembered refused_;
  std::unordered_map<std::string, Review> reviews_;  // by digest
  std::deque<std::string> queue_;                    // digests of those that wait
  std::size_t in_flight_ = 0;
  std::size_t waiting_ = 0;   // callers
  std::string last_problem_;  // the last problem in the log
  std::chrono::steady_clock::time_point problem_logged_{};
  Stats stats_;
};

}  // namespace chipweave::sched
