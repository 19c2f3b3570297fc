// SPDX-License-Identifier: Apache-2.0
#include "twinkle/sim/shrink.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace twinkle::sim {
namespace {

using mishaps = std::vector<mishap>;

// The roundest time below: 1, 2 or 5 with zeros.
duration rounder(duration time) {
  duration best{0};
  for (duration::rep power = 1; power < time.count(); power *= 10) {
    for (const duration::rep digit : {1, 2, 5})
      if (digit * power < time.count())
        best = duration{digit * power};
    if (power > time.count() / 10)
      break;
  }
  return best;
}

constexpr duration finest = std::chrono::milliseconds(1);

// What to try in place of a time, the boldest first. A time that is no whole millisecond is not simple.
std::vector<duration> simpler(duration time, duration least) {
  std::vector<duration> found;
  for (const duration each : {least, rounder(time / 10), rounder(time)})
    if ((each == least || each >= finest) && each < time && (found.empty() || each > found.back()))
      found.push_back(each);
  return found;
}

std::vector<double> nearer_to_1(double factor) {
  std::vector<double> found;
  for (const double each : {2.0, std::floor(1 + (factor - 1) / 2), std::ceil(factor) - 1})
    if (each > 1 && each < factor && (found.empty() || each > found.back()))
      found.push_back(each);
  return found;
}

class shrinking {
 public:
  shrinking(mishaps failing, const std::function<bool(const mishaps&)>& fails, std::size_t runs_max)
      : fails_(fails), runs_max_(runs_max), found_{std::move(failing)} {}

  shrunk shrink() {
    for (std::size_t chunk = found_.mishaps.size() / 2; chunk > 1; chunk /= 2)
      (void)drop_chunks(chunk);
    // Simpler values may make a mishap needless, and fewer mishaps may allow simpler values.
    do
      while (drop_chunks(1)) {
      }
    while (simplify() && left());
    found_.smallest = left();
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool left() const { return found_.runs < runs_max_; }

  // Takes what still fails; once the runs are used up, nothing does.
  bool take(mishaps instead) {
    if (!left())
      return false;
    ++found_.runs;
    if (!fails_(instead))
      return false;
    found_.mishaps = std::move(instead);
    return true;
  }

  bool drop_chunks(std::size_t size) {
    bool any = false;
    for (std::size_t first = 0; first < found_.mishaps.size();) {
      const std::size_t end = std::min(first + size, found_.mishaps.size());
      mishaps rest(found_.mishaps.begin(), found_.mishaps.begin() + static_cast<std::ptrdiff_t>(first));
      rest.insert(rest.end(), found_.mishaps.begin() + static_cast<std::ptrdiff_t>(end), found_.mishaps.end());
      if (take(std::move(rest)))
        any = true;
      else
        first = end;
    }
    return any;
  }

  // One value of one mishap, as simple as it can be.
  template <class Value, class Simpler>
  void simplify(std::size_t which, Value mishap::* value, Simpler simpler) {
    for (bool better = true; std::exchange(better, false);)
      for (const auto each : simpler(found_.mishaps[which].*value)) {
        mishaps changed = found_.mishaps;
        changed[which].*value = each;
        better = take(std::move(changed));
        if (better)
          break;
      }
  }

  bool simplify() {
    const mishaps before = found_.mishaps;
    for (std::size_t which = 0; which < found_.mishaps.size(); ++which) {
      // What lasts no time did not happen: that is for dropping.
      simplify(which, &mishap::lasts, [](duration lasts) { return simpler(lasts, finest); });
      simplify(which, &mishap::at, [](time_point at) { return simpler(at, time_point{0}); });
      simplify(which, &mishap::factor, nearer_to_1);
    }
    return found_.mishaps != before;
  }

  const std::function<bool(const mishaps&)>& fails_;
  std::size_t runs_max_;
  shrunk found_;
};

}  // namespace

shrunk shrink(std::vector<mishap> failing, const std::function<bool(const std::vector<mishap>&)>& fails,
              std::size_t runs_max) {
  return shrinking{std::move(failing), fails, runs_max}.shrink();
}

}  // namespace twinkle::sim
