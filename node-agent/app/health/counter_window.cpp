#include "node-agent/app/health/counter_window.hpp"

namespace chipweave::agent {

void CounterWindow::see(double value, Clock::Steady now) {
  const double by = !known_ ? 0 : (value < value_ ? value : value - value_);
  known_ = true;
  value_ = value;
  if (!(by > 0)) return;
  steps_.push_back({now, by});
  if (steps_.size() > kMaxSteps) {
    steps_[1].by += steps_[0].by;
    steps_.pop_front();
  }
}

double CounterWindow::rise(Clock::Steady now, std::chrono::duration<double> window) {
  while (!steps_.empty() && now - steps_.front().at >= window) steps_.pop_front();
  double sum = 0;
  for (const Step& step : steps_) sum += step.by;
  return sum;
}

}  // namespace chipweave::agent
