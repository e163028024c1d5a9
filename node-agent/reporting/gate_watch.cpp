#include "node-agent/reporting/gate_watch.hpp"

#include <utility>

#include "node-agent/sources/gate_file.hpp"

namespace chipweave::agent {

GateWatch::GateWatch(http::Loop& loop, std::string path, Paces paces,
                     std::function<void(bool open)> changed)
    : loop_(loop),
      path_(std::move(path)),
      paces_(paces),
      changed_(std::move(changed)),
      box_(std::make_shared<http::Mailbox<GateWatch>>(loop, *this)) {
  watch();
  open_ = gate_is_open(path_);
  loop_.after(paces_.look_every,
              [box = box_] { box->post([](GateWatch& self) { self.look_always(); }); });
}

GateWatch::~GateWatch() {
  file_.reset();
  box_->cut();
}

void GateWatch::watch() {
  file_ = std::make_unique<FileWatch>(std::vector{path_}, [box = box_] {
    box->post([](GateWatch& self) {
      self.look();
      self.loop_.after(self.paces_.look_again,
                       [box = self.box_] { box->post([](GateWatch& again) { again.look(); }); });
    });
  });
}

void GateWatch::look() {
  const bool now = gate_is_open(path_);
  if (std::exchange(open_, now) != now) changed_(now);
}

void GateWatch::look_always() {
  if (!file_->complete()) watch();  // the folder may have come
  look();
  loop_.after(paces_.look_every,
              [box = box_] { box->post([](GateWatch& self) { self.look_always(); }); });
}

}  // namespace chipweave::agent
