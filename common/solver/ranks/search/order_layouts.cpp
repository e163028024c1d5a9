#include "common/solver/ranks/search/order_layouts.hpp"

#include <algorithm>
#include <map>

namespace chipweave::solver {
namespace {

constexpr std::size_t kMaxPermuted = 4;  // 24 orders
constexpr std::size_t kMaxTiled = 3;     // with at most six and four widths each: 36 and 64 tiles

struct Digit {
  std::size_t size = 1;
  std::size_t stride = 1;  // in positions
};

// The first digit is the fastest.
Layout layout_of(const std::vector<Digit>& digits) {
  Layout out;
  out.positions = {0};
  for (const Digit& digit : digits) {
    if (digit.size == 1) continue;
    const std::size_t inner = out.positions.size();
    if (inner > 1) out.units.push_back(inner);
    out.positions.reserve(inner * digit.size);
    for (std::size_t value = 1; value < digit.size; ++value) {
      for (std::size_t i = 0; i < inner; ++i)
        out.positions.push_back(out.positions[i] +
                                static_cast<std::uint32_t>(value * digit.stride));
    }
  }
  return out;
}

std::vector<Digit> digits_of(const std::vector<std::size_t>& axes) {
  std::vector<Digit> out;
  std::size_t stride = 1;
  for (const std::size_t size : axes) {
    out.push_back({size, stride});
    stride *= size;
  }
  return out;
}

// Every order of at most four digits; of more, each digit in front and each at the end.
void add_permuted(const std::vector<Digit>& digits, std::vector<Layout>& out) {
  std::vector<std::size_t> order = as_given(digits.size());
  const auto add = [&](const std::vector<std::size_t>& by) {
    std::vector<Digit> permuted;
    permuted.reserve(by.size());
    for (const std::size_t i : by) permuted.push_back(digits[i]);
    out.push_back(layout_of(permuted));
  };
  if (digits.size() <= kMaxPermuted) {
    do {
      add(order);
    } while (std::next_permutation(order.begin(), order.end()));
    return;
  }
  add(order);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    std::vector<std::size_t> moved = order;
    const auto here = moved.begin() + static_cast<std::ptrdiff_t>(i);
    std::rotate(moved.begin(), here, here + 1);
    add(moved);
    moved = order;
    const auto there = moved.begin() + static_cast<std::ptrdiff_t>(i);
    std::rotate(there, there + 1, moved.end());
    add(moved);
  }
}

// Divisors, the first and the last and some between them, `most` at most.
std::vector<std::size_t> widths_of(std::size_t size, std::size_t most) {
  std::vector<std::size_t> all;
  for (std::size_t d = 1; d <= size; ++d) {
    if (size % d == 0) all.push_back(d);
  }
  if (all.size() <= most) return all;
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < most; ++i) out.push_back(all[i * (all.size() - 1) / (most - 1)]);
  return out;
}

// Tiles: a part of each digit first, then what is left of each, so that a domain holds neighbours
// of every communicator. Those that cut no digit are permutations.
void add_tiled(const std::vector<Digit>& digits, std::vector<Layout>& out) {
  if (digits.size() < 2 || digits.size() > kMaxTiled) return;
  std::vector<std::vector<Digit>> tiles = {{}};
  for (const Digit& digit : digits) {
    std::vector<std::vector<Digit>> wider;
    for (const auto& tile : tiles) {
      for (const std::size_t width : widths_of(digit.size, digits.size() == 2 ? 6 : 4)) {
        wider.push_back(tile);
        wider.back().push_back({width, digit.stride});
      }
    }
    tiles = std::move(wider);
  }
  for (std::vector<Digit>& tile : tiles) {
    bool cut = false;
    for (std::size_t i = 0; i < digits.size(); ++i) {
      const std::size_t width = tile[i].size;
      cut = cut || (width > 1 && width < digits[i].size);
      tile.push_back({digits[i].size / width, digits[i].stride * width});
    }
    if (cut) out.push_back(layout_of(tile));
  }
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

  // Emits full units of a domain and returns the rest, less than one unit. Recursion: as deep as
  // there are levels.
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

  // Emits sets of leftovers that make up a unit, found by always taking the largest that fits;
  // returns the others.
  Leftover combine(std::vector<Leftover> left) {
    std::map<std::size_t, std::vector<std::size_t>, std::greater<>> by_size;  // largest first
    for (std::size_t i = left.size(); i-- > 0;) by_size[left[i].pods].push_back(i);
    Leftover rest;
    while (!by_size.empty()) {
      Leftover together;
      // The first size that is not larger than the missing number.
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

  // Emits as many units as a row has.
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
  const std::vector<Digit> digits = digits_of(axes);
  std::vector<Layout> out;
  add_permuted(digits, out);
  add_tiled(digits, out);
  return out;
}

std::vector<PodClass> laid_in_blocks(const PodPlaces& places, std::size_t unit) {
  return Laying(places, unit).run();
}

Arrangement arranged(const Layout& layout, const std::vector<PodClass>& classes) {
  Arrangement out(classes.size());
  for (std::size_t i = 0; i < classes.size(); ++i) out[layout.positions[i]] = classes[i];
  return out;
}

}  // namespace chipweave::solver
