// Registration — when to serve and to register with the kubelet. No I/O, no clock.
//
// Once for each start of the kubelet, which its socket shows; it then connects and keeps a
// stream open. A second registration beside a living one makes the kubelet drop both
// (kubernetes#121994), so there is another one only when that stream has ended or never came.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

namespace chipweave::device_plugin {

// A socket file; another one has another identity.
struct SocketId {
  std::uint64_t inode = 0;
  std::int64_t changed_ns = 0;
  friend bool operator==(const SocketId&, const SocketId&) = default;
};

class Registration {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Ms = std::chrono::milliseconds;
  enum class Step { none, serve, enrol };
  struct Waits {
    Ms again{100};      // after a failure
    Ms stream{10'000};  // for the kubelet's stream, after it has accepted the registration
  };

  explicit Registration(Waits waits) : waits_(waits) {}

  // What is in the folder. True: the kubelet that knew us is gone.
  bool look(std::optional<SocketId> kubelet, bool own_socket) {
    const bool lost = kubelet != kubelet_;
    if (lost) {
      kubelet_ = kubelet;
      serving_ = enrolled_ = false;
      stale_ = sending_;
      soonest_ = Time::min();
    } else if (!own_socket) {
      serving_ = false;  // another program has removed it: the kubelet could not connect
    }
    return lost;
  }

  // serve: make a new socket, then served(). enrol: send a registration, then answered(), which
  // must come before anything else is due.
  Step due(Time now) const {
    if (!kubelet_ || sending_ || now < soonest_) return Step::none;
    if (!serving_) return streams_ == 0 || !enrolled_ ? Step::serve : Step::none;
    if (!enrolled_ || (streams_ == 0 && now >= stream_by_)) return Step::enrol;
    return Step::none;
  }

  // The streams of a former socket have ended; stream_ended() is not called for them.
  void served(bool yes, Time now) {
    serving_ = yes;
    streams_ = 0;
    if (!yes) soonest_ = now + waits_.again;
  }
  void sent() { sending_ = true; }
  void answered(bool yes, Time now) {
    sending_ = false;
    // An answer of the kubelet before this one says nothing.
    const bool stale = std::exchange(stale_, false);
    enrolled_ = yes && !stale;
    soonest_ = now + waits_.again;
    stream_by_ = now + waits_.stream;
  }
  void stream_opened() { ++streams_; }
  // True: the kubelet has dropped us.
  bool stream_ended(Time now) {
    if (streams_ > 0) --streams_;
    if (streams_ > 0) return false;
    soonest_ = stream_by_ = now + waits_.again;
    return true;
  }

  bool registered() const { return enrolled_ && streams_ > 0; }

 private:
  Waits waits_;
  std::optional<SocketId> kubelet_;
  bool serving_ = false;
  bool sending_ = false;
  bool stale_ = false;     // the registration in flight is for a former kubelet
  bool enrolled_ = false;  // with this kubelet
  int streams_ = 0;
  Time soonest_ = Time::min();
  Time stream_by_ = Time::min();
};

}  // namespace chipweave::device_plugin
