// Ticket — owns an asynchronous operation: destroying it cancels the operation. AsyncOperation —
// base class of such operations. Loop thread only.
#pragma once

#include <memory>
#include <utility>

namespace chipweave::http {

// Its destructor cancels the operation: no callback comes afterwards. It may be destroyed inside
// one of the callbacks.
class Ticket {
 public:
  Ticket() = default;
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;
  virtual ~Ticket() = default;
};

// Work: the derived class, held by a shared_ptr; it sets over_ when no callback may come any more.
template <class Work>
class AsyncOperation : public std::enable_shared_from_this<Work> {
 protected:
  // Wraps `act` so that it does nothing once over_ is set; keeps the work alive meanwhile.
  template <class Act>
  auto guarded(Act act) {
    return [self = this->shared_from_this(), act = std::move(act)](auto&&... with) mutable {
      if (!self->over_) act(std::forward<decltype(with)>(with)...);
    };
  }
  bool over_ = false;
};

// Destroying the ticket calls work->cancel().
template <class Work>
std::unique_ptr<Ticket> ticket_of(std::shared_ptr<Work> work) {
  class Holder final : public Ticket {
   public:
    explicit Holder(std::shared_ptr<Work> w) : work_(std::move(w)) {}
    ~Holder() override { work_->cancel(); }

   private:
    std::shared_ptr<Work> work_;
  };
  return std::make_unique<Holder>(std::move(work));
}

}  // namespace chipweave::http
