#include "common/codec/kube/pod/pod.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"

namespace chipweave::codec {
namespace {

constexpr std::size_t kMaxContainerName = 63;  // a DNS label
// Sums over a thousand containers or pods do not overflow.
constexpr std::int64_t kMaxAmount = std::int64_t{1} << 53U;

Error bad_quantity(std::string_view text, std::string_view what) {
  return make_error(Errc::invalid_argument,
                    "quantity '" + std::string(text) + "' " + std::string(what));
}

struct Suffix {
  std::string_view text;
  int decimal_exponent;
  int binary_exponent;
};
constexpr std::array<Suffix, 16> kSuffixes{{{"", 0, 0},
                                            {"n", -9, 0},
                                            {"u", -6, 0},
                                            {"m", -3, 0},
                                            {"k", 3, 0},
                                            {"M", 6, 0},
                                            {"G", 9, 0},
                                            {"T", 12, 0},
                                            {"P", 15, 0},
                                            {"E", 18, 0},
                                            {"Ki", 0, 10},
                                            {"Mi", 0, 20},
                                            {"Gi", 0, 30},
                                            {"Ti", 0, 40},
                                            {"Pi", 0, 50},
                                            {"Ei", 0, 60}}};

// The exponent that a suffix or an e-notation adds; false if it is neither.
bool read_suffix(std::string_view text, int& decimal, int& binary) {
  for (const Suffix& s : kSuffixes) {
    if (s.text == text) {
      decimal = s.decimal_exponent;
      binary = s.binary_exponent;
      return true;
    }
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return false;
  text.remove_prefix(1);
  const bool negative = text[0] == '-';
  if (text[0] == '-' || text[0] == '+') text.remove_prefix(1);
  if (text.empty() || text.size() > 3 || !std::all_of(text.begin(), text.end(), is_digit))
    return false;
  int value = 0;
  for (const char c : text) value = value * 10 + (c - '0');
  decimal = negative ? -value : value;
  return true;
}

// digits * 10^exponent * 2^binary; no digits: 0. No leading or trailing zeros.
struct Decimal {
  std::string digits;
  int exponent = 0;
  int binary = 0;
};

Result<Decimal> read_decimal(std::string_view text) {
  std::string_view rest = text;
  if (rest.size() > 64) return bad_quantity(text.substr(0, 64), "is too long");
  if (!rest.empty() && rest[0] == '-') return bad_quantity(text, "is negative");
  if (!rest.empty() && rest[0] == '+') rest.remove_prefix(1);
  Decimal q;
  bool point = false;
  std::size_t at = 0;
  for (; at < rest.size() && (is_digit(rest[at]) || (rest[at] == '.' && !point)); ++at) {
    if (rest[at] == '.') {
      point = true;
      continue;
    }
    q.digits += rest[at];
    if (point) --q.exponent;
  }
  int suffix_exponent = 0;
  if (q.digits.empty() || !read_suffix(rest.substr(at), suffix_exponent, q.binary)) {
    return bad_quantity(text, "is not a number that Kubernetes understands");
  }
  q.exponent += suffix_exponent;
  // trailing zeros move into the exponent, so that "8.0" and "2000m" are whole
  while (q.digits.size() > 1 && q.digits.back() == '0') {
    q.digits.pop_back();
    ++q.exponent;
  }
  q.digits.erase(0, std::min(q.digits.find_first_not_of('0'), q.digits.size()));
  return q;
}

// In units of 10^-decimals, rounded up, at most kMaxAmount; 0 if the text is not a quantity.
std::int64_t scaled(std::string_view text, int decimals) {
  const auto q = read_decimal(text);
  if (!q) return 0;
  long double value = 0;
  for (const char c : q->digits) value = value * 10 + (c - '0');
  value = std::ceil(std::ldexp(value * std::pow(10.0L, q->exponent + decimals), q->binary));
  return value < static_cast<long double>(kMaxAmount) ? static_cast<std::int64_t>(value)
                                                      : kMaxAmount;
}

// What one container requests of a resource; "0" if it does not name it.
std::string_view effective(const KubeContainer& c, std::string_view resource) {
  if (const auto r = c.requests.find(resource); r != c.requests.end()) return r->second;
  if (const auto l = c.limits.find(resource); l != c.limits.end()) return l->second;
  return "0";
}

// What a pod requests, container by container: first all init containers, then the others.
class Demand {
 public:
  void starts(const KubeContainer& c, std::int64_t amount) {
    starting_ = std::max(starting_, amount + sidecars_);
    if (c.sidecar) sidecars_ += amount;
  }
  void runs(std::int64_t amount) { running_ += amount; }
  std::int64_t sum() const { return std::max(sidecars_ + running_, starting_); }

 private:
  std::int64_t sidecars_ = 0;
  std::int64_t starting_ = 0;  // the largest demand while init containers run
  std::int64_t running_ = 0;
};

Result<std::int64_t> count_of(const KubeContainer& c, std::string_view resource) {
  auto count = parse_whole_quantity(effective(c, resource));
  if (!count) {
    // names limited as in Kubernetes, because the message is repeated for every node
    return std::move(count).error().in("container " + c.name.substr(0, kMaxContainerName) + ": " +
                                       std::string(resource.substr(0, limits::kMaxNameBytes)));
  }
  return count;
}

}  // namespace

Result<std::int64_t> parse_whole_quantity(std::string_view text) {
  const auto read = read_decimal(text);
  if (!read) return read.error();
  const Decimal& q = *read;
  if (q.digits.empty()) return std::int64_t{0};
  if (q.exponent < 0) return bad_quantity(text, "is a fraction; ask for whole chips");
  if (q.digits.size() + static_cast<std::size_t>(q.exponent) > 10)
    return bad_quantity(text, "is too large");
  std::int64_t value = 0;
  for (const char c : q.digits) value = value * 10 + (c - '0');
  for (int i = 0; i < q.exponent; ++i) value *= 10;
  for (int i = 0; i < q.binary && value <= limits::kMaxQuantity; ++i) value *= 2;
  if (value > limits::kMaxQuantity) return bad_quantity(text, "is too large");
  return value;
}

bool is_extended_resource(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view domain = name.substr(0, slash);
  return domain != "kubernetes.io" && !domain.ends_with(".kubernetes.io");
}

std::vector<std::string> resource_names(const KubePod& pod) {
  std::set<std::string> names;
  for (const auto* list : {&pod.init_containers, &pod.containers}) {
    for (const KubeContainer& c : *list) {
      for (const auto& [name, quantity] : c.requests) names.insert(name);
      for (const auto& [name, quantity] : c.limits) names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

Result<std::int64_t> count_resource(const KubePod& pod, std::string_view resource) {
  Demand demand;
  for (const KubeContainer& c : pod.init_containers) {
    auto count = count_of(c, resource);
    if (!count) return std::move(count).error();
    demand.starts(c, *count);
  }
  for (const KubeContainer& c : pod.containers) {
    auto count = count_of(c, resource);
    if (!count) return std::move(count).error();
    demand.runs(*count);
  }
  return demand.sum();
}

std::vector<ContainerCount> count_by_container(const KubePod& pod, std::string_view resource) {
  std::vector<ContainerCount> out;
  const auto add = [&](const KubeContainer& c, bool init) {
    const std::int64_t count = count_of(c, resource).value();
    if (count > 0) out.push_back({c.name, count, init});
  };
  for (const KubeContainer& c : pod.init_containers) add(c, !c.sidecar);
  for (const KubeContainer& c : pod.containers) add(c, false);
  return out;
}

std::int64_t amount_of(std::string_view quantity, int decimals) {
  return scaled(quantity, decimals);
}

std::int64_t amount_of_resource(const KubePod& pod, std::string_view resource, int decimals) {
  Demand demand;
  for (const KubeContainer& c : pod.init_containers)
    demand.starts(c, scaled(effective(c, resource), decimals));
  for (const KubeContainer& c : pod.containers)
    demand.runs(scaled(effective(c, resource), decimals));
  const auto whole = pod.requests.find(resource);
  const auto overhead = pod.overhead.find(resource);
  const std::int64_t sum =
      whole == pod.requests.end() ? demand.sum() : scaled(whole->second, decimals);
  const std::int64_t more = overhead == pod.overhead.end() ? 0 : scaled(overhead->second, decimals);
  return std::min(sum + more, kMaxAmount);
}

}  // namespace chipweave::codec
