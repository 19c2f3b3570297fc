// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/split.hpp"

#include <numeric>
#include <optional>

#include "arguments.hpp"
#include "subcommand.hpp"
#include "twinkle/base/list.hpp"

namespace twinkle::command {
namespace {

using boost::json::value_from;

class split_command final : public subcommand {
 public:
  explicit split_command(CLI::App& to)
      : subcommand(*to.add_subcommand("split", "rows of given costs, divided among parts of even cost, or under a cap")) {
    add_text(app(), "--costs", "N,N,...", "the cost of each row, such as its tokens: 5,4,3",
             [this](const std::string& text) { take_costs(text); })
        ->required();
    add_number<std::size_t>(app(), "--parts", parts_, "how many parts; with a cap, at least how many")->required();
    CLI::Option* equal = app().add_flag("--equal-counts", equal_counts_, "each part has as many rows as an even slice");
    add_number<std::uint64_t>(app(), "--cap", cap_, "the most that a part may cost; a row above it is alone")
        ->excludes(equal);
    app().footer("Examples:\n"
                 "  twinkle split --costs 10,1,1,1,1,10 --parts 2 --equal-counts\n"
                 "  twinkle split --costs 600,600,600,100 --parts 2 --cap 1000");
  }

 private:
  void take_costs(const std::string& text) {
    costs_.clear();
    for (const std::string& item : items_of(text))
      costs_.push_back(whole_number<std::uint64_t>("--costs, row " + std::to_string(costs_.size()), item));
  }

  [[nodiscard]] split answer() const {
    return cap_ ? pack(costs_, *cap_, parts_) : balance(costs_, parts_, {.equal_counts = equal_counts_});
  }

  [[nodiscard]] boost::json::object json(boost::json::storage_ptr memory) const override {
    const split made = answer();
    boost::json::object object(memory);
    object["parts"] = value_from(made.parts, memory);
    object["costs"] = value_from(made.costs, memory);
    object["oversize"] = value_from(made.oversize, memory);
    return object;
  }

  [[nodiscard]] std::string text() const override {
    const split made = answer();
    const std::uint64_t total = std::accumulate(costs_.begin(), costs_.end(), std::uint64_t{0});
    std::string text = "split: " + std::to_string(costs_.size()) + " rows, cost " + std::to_string(total) + ", parts " +
                       std::to_string(made.parts.size()) + "\n";
    for (std::size_t part = 0; part < made.parts.size(); ++part) {
      text += "  part " + std::to_string(part) + ": cost " + std::to_string(made.costs[part]) + ", rows " +
              list_of_numbers(made.parts[part]);
      if (cap_ && made.costs[part] > *cap_)
        text += " (above the cap)";
      text += "\n";
    }
    return text;
  }

  std::vector<std::uint64_t> costs_;
  std::size_t parts_ = 0;
  bool equal_counts_ = false;
  std::optional<std::uint64_t> cap_;
};

}  // namespace

std::unique_ptr<subcommand> split_subcommand(CLI::App& app) { return std::make_unique<split_command>(app); }

}  // namespace twinkle::command
