#include "scheduler-plugin/kube/gangs/api_evictions.hpp"

#include <chrono>
#include <utility>

#include "common/base/dns_name.hpp"
#include "common/base/limits.hpp"
#include "common/kube/api_chain.hpp"
#include "common/kube/evict_pod.hpp"

namespace chipweave::sched {
namespace {

constexpr std::chrono::milliseconds kListTime{5'000};  // for one page
constexpr const char* kPage = "?limit=500";
constexpr const char* kMetadataList =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

std::string continued(const std::string& next) {
  return next.empty() ? "" : "&continue=" + codec::percent_encoded(next);
}

}  // namespace

void ApiEvictions::budgets(const std::set<std::string>& namespaces,
                           std::function<void(Result<Budgets>)> done) {
  reading_ = std::make_unique<Reading>();
  reading_->namespaces = namespaces;
  reading_->done = std::move(done);
  list_budgets({});
}

void ApiEvictions::list_budgets(const std::string& next) {
  ask(kube::call_of("GET", std::string(codec::kDisruptionBudgetsPath) + kPage + continued(next),
                    ""),
      &ApiEvictions::budgets_listed);
}

void ApiEvictions::budgets_listed(Result<kube::Reply> reply) {
  if (!reply || reply->status != kube::kOk)
    return end(make_error(Errc::unavailable, kube::problem_of(reply)));
  auto page = codec::read_disruption_budgets(reply->body);
  if (!page) return end(std::move(page).error());
  reading_->seen += page->budgets.size();
  if (reading_->seen > kMaxBudgets) {
    return end(
        make_error(Errc::limit_exceeded, "there are more than " + std::to_string(kMaxBudgets)));
  }
  for (codec::KubeDisruptionBudget& budget : page->budgets) {
    if (budget.selector && reading_->namespaces.contains(budget.ns) && is_dns_label(budget.ns))
      reading_->found.push_back(std::move(budget));
  }
  if (!page->next.empty()) return list_budgets(page->next);
  list_pods({});
}

// Of the first budget whose pods are not read.
void ApiEvictions::list_pods(const std::string& next) {
  const std::size_t at = reading_->read.size() - (next.empty() ? 0 : 1);
  if (at == reading_->found.size()) return end(std::move(reading_->read));
  const codec::KubeDisruptionBudget& budget = reading_->found[at];
  if (next.empty()) reading_->read.push_back({budget.ns, budget.name, budget.allowed, {}});
  std::string target = "/api/v1/namespaces/" + budget.ns + "/pods" + kPage;
  if (!budget.selector->empty()) target += "&labelSelector=" + *budget.selector;
  kube::Call call = kube::call_of("GET", target + continued(next), "");
  call.accept = kMetadataList;
  ask(std::move(call), &ApiEvictions::pods_listed);
}

void ApiEvictions::pods_listed(Result<kube::Reply> reply) {
  DisruptionBudget& budget = reading_->read.back();
  const std::string of = "pods of " + budget.ns + "/" + budget.name + ": ";
  if (!reply || reply->status != kube::kOk)
    return end(make_error(Errc::unavailable, of + kube::problem_of(reply)));
  const auto page = reader_.read_page(reply->body);
  if (!page) return end(make_error(page.error().code, of + page.error().text()));
  reading_->pods += page->objects.size();
  if (reading_->pods > limits::kMaxPods)
    return end(make_error(Errc::limit_exceeded, "they cover too many pods"));
  for (const codec::KubeNodeMetadata& pod : page->objects) budget.pods.insert(pod.uid);
  list_pods(page->next);
}

void ApiEvictions::ask(kube::Call call, void (ApiEvictions::*then)(Result<kube::Reply>)) {
  call.deadline = kListTime;
  reading_->ticket = transport_.call(std::move(call), [this, then](Result<kube::Reply> reply) {
    const auto ticket = std::move(reading_->ticket);
    (this->*then)(std::move(reply));
  });
}

void ApiEvictions::end(Result<Budgets> result) {
  const auto done = std::move(reading_->done);
  reading_.reset();
  done(std::move(result));
}

void ApiEvictions::evict(const PodKey& pod, const std::string& uid, Grace grace, Done done) {
  const std::uint64_t number = ++calls_;
  tickets_[number] =
      kube::evict_pod(transport_, {pod.ns, pod.name, uid, grace == Grace::none, fence_()},
                      [this, number, done = std::move(done)](const Result<void>& result) {
                        const auto ticket = tickets_.extract(number);
                        done(result);
                      });
}

}  // namespace chipweave::sched
