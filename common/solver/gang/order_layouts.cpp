#include "common/solver/gang/order_layouts.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace chipweave::solver {
namespace {

constexpr std::size_t kMostPermuted = 4;  // 24 orders

Layout layout_of(const std::vector<std::size_t>& axes, const std::vector<std::size_t>& digits) {
  std::vector<std::size_t> stride(axes.size(), 1);
  for (std::size_t i = 1; i < axes.size(); ++i) stride[i] = stride[i - 1] * axes[i - 1];
  Layout out;
  out.positions = {0};
  for (const std::size_t digit : digits) {
    const std::size_t inner = out.positions.size();
    if (inner > 1) out.units.push_back(inner);
    out.positions.reserve(inner * axes[digit]);
    for (std::size_t value = 1; value < axes[digit]; ++value) {
      for (std::size_t i = 0; i < inner; ++i)
        out.positions.push_back(out.positions[i] +
                                static_cast<std::uint32_t>(value * stride[digit]));
    }
  }
  return out;
}

// Pods of one class in a row.
struct Run {
  PodClass of = 0;
  std::size_t pods = 0;
};

struct Leftover {
  std::vector<Run> runs;
  std::size_t pods = 0;

  void add(const Leftover& more) {
    runs.insert(runs.end(), more.runs.begin(), more.runs.end());
    pods += more.pods;
  }
};

class Laying {
 public:
  Laying(const PodPlaces& places, std::size_t unit) : places_(places), unit_(unit) {}

  std::vector<PodClass> run() && {
    put(fill(0));
    return std::move(out_);
  }

 private:
  void put(const Leftover& pods) {
    for (const Run& run : pods.runs) out_.insert(out_.end(), run.pods, run.of);
  }

  // Puts out full units of a domain; what is left is less than one. Recursion: as deep as there are
  // levels.
  Leftover fill(std::uint32_t number) {
    const PlaceDomain& domain = places_.domains()[number];
    if (domain.children.empty()) {
      const std::size_t left = domain.pods % unit_;
      put({{{domain.first, domain.pods - left}}, domain.pods - left});
      return {{{domain.first, left}}, left};
    }
    std::vector<Leftover> left;
    for (const std::uint32_t child : domain.children) {
      Leftover more = fill(child);
      if (more.pods > 0) left.push_back(std::move(more));
    }
    return cut(combine(std::move(left)));
  }

  // Puts out each set of leftovers that makes up a unit, as far as always taking the largest that
  // fits finds them; the others are left, in that order.
  Leftover combine(std::vector<Leftover> left) {
    std::map<std::size_t, std::vector<std::size_t>, std::greater<>> by_size;  // largest first
    for (std::size_t i = left.size(); i-- > 0;) by_size[left[i].pods].push_back(i);
    Leftover rest;
    while (!by_size.empty()) {
      Leftover together;
      // The first size that is not above what is missing.
      for (auto it = by_size.begin(); it != by_size.end();
           it = by_size.lower_bound(unit_ - together.pods)) {
        together.add(left[it->second.back()]);
        it->second.pop_back();
        if (it->second.empty()) by_size.erase(it);
      }
      if (together.pods == unit_) {
        put(together);
      } else {
        rest.add(together);
      }
    }
    return rest;
  }

  // Puts out as many units as there are in a row.
  Leftover cut(const Leftover& row) {
    std::size_t full = row.pods / unit_ * unit_;
    Leftover out;
    Leftover left;
    for (const Run& run : row.runs) {
      const std::size_t now = std::min(full, run.pods);
      full -= now;
      if (now > 0) out.add({{{run.of, now}}, now});
      if (now < run.pods) left.add({{{run.of, run.pods - now}}, run.pods - now});
    }
    put(out);
    return left;
  }

  const PodPlaces& places_;
  std::size_t unit_;
  std::vector<PodClass> out_;
};

}  // namespace

std::vector<Layout> order_layouts(const std::vector<std::size_t>& axes) {
  std::vector<std::size_t> digits(axes.size());
  std::iota(digits.begin(), digits.end(), std::size_t{0});
  std::vector<Layout> out;
  if (axes.size() <= kMostPermuted) {
    do {
      out.push_back(layout_of(axes, digits));
    } while (std::next_permutation(digits.begin(), digits.end()));
    return out;
  }
  out.push_back(layout_of(axes, digits));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::vector<std::size_t> moved = digits;
    const auto here = moved.begin() + static_cast<std::ptrdiff_t>(i);
    std::rotate(moved.begin(), here, here + 1);
    out.push_back(layout_of(axes, moved));
    moved = digits;
    const auto there = moved.begin() + static_cast<std::ptrdiff_t>(i);
    std::rotate(there, there + 1, moved.end());
    out.push_back(layout_of(axes, moved));
  }
  return out;
}

std::vector<PodClass> laid_in_units(const PodPlaces& places, std::size_t unit) {
  return Laying(places, unit).run();
}

Arrangement arranged(const Layout& layout, const std::vector<PodClass>& classes) {
  Arrangement out(classes.size());
  for (std::size_t i = 0; i < classes.size(); ++i) out[layout.positions[i]] = classes[i];
  return out;
}

}  // namespace chipweave::solver
