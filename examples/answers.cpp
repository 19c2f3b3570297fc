// SPDX-License-Identifier: Apache-2.0
// The answers of a data set: a loader cuts batches, each data rank reads its own slice of them, a judge finds the
// number behind "####", and what came out is counted and printed.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "twinkle/flow/context.hpp"
#include "twinkle/runtime/main.hpp"
#include "twinkle/workers/columns.hpp"
#include "twinkle/workers/final_answer.hpp"
#include "twinkle/workers/jsonl_loader.hpp"
#include "twinkle/workers/jsonl_rows.hpp"

// run:
// run: --readers 4 --rows 7 --seed 3
// run: plan

namespace tk = twinkle;

namespace {

struct tally {
  std::size_t rows = 0;
  std::size_t lost = 0;
  std::size_t answered = 0;
  std::vector<std::string> first = {};
};

// The last stage: it counts the rows, and keeps the first of them.
struct counter {
  counter(std::shared_ptr<tally> into, std::size_t shown_max) : into_(std::move(into)), shown_max_(shown_max) {}

  void count(tk::context&, const tk::batch& judged) {
    const auto questions = judged[tk::text{"question"}];
    const auto answers = judged[tk::columns::final_answer];
    const auto outcomes = judged[tk::columns::outcome];
    into_->rows += judged.rows();
    into_->lost += judged.tombstone_count();
    for (std::size_t row = 0; row < judged.rows(); ++row) {
      const bool answered = outcomes[row] == "right";
      into_->answered += answered ? 1 : 0;
      if (into_->first.size() < shown_max_)
        into_->first.push_back(std::string(answered ? answers[row] : outcomes[row]) + "  <-  " +
                               std::string(questions[row]));
    }
  }

 private:
  std::shared_ptr<tally> into_;
  std::size_t shown_max_;
};

void answers(tk::graph& g, const std::shared_ptr<tally>& into) {
  const auto data = g.option("data", TWINKLE_EXAMPLE_DATA "/answers.jsonl", "lines with a question and an answer");
  const auto rows = g.option<std::size_t>("rows", 32, "rows in a batch");
  const auto shown = g.option<std::size_t>("shown", 10, "questions to print");
  const tk::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
  const tk::device_group disk{.name = "disk", .ranks = g.option("readers", 2, "data ranks that read"),
                              .device_type = "cpu"};

  auto loader = g.spawn<tk::jsonl_loader>("loader", {host}, data, tk::jsonl_loader::options{
      .rows = rows, .holds = tk::jsonl_loader::content::places});
  auto reader = g.spawn<tk::jsonl_rows>("reader", {disk}, data);
  auto judge = g.spawn<tk::final_answer>("judge", {host, {}, tk::bodies::shared}, tk::final_answer::options{
      .text = "answer", .reference = std::nullopt});
  auto count = g.spawn<counter>("count", {host, {}, tk::bodies::shared}, into, shown);

  loader.emits(&tk::jsonl_loader::next, {.name = "next"})
      .to(reader, &tk::jsonl_rows::read, {.name = "read", .small = tk::small::allow_empty})
      .to(judge, &tk::final_answer::score, {.name = "score"})
      .to(count, &counter::count, {.name = "count"});
}

}  // namespace

int main(int argc, char** argv) {
  const auto found = std::make_shared<tally>();
  const int code = tk::main(argc, argv, [&](tk::graph& g) { answers(g, found); });
  if (found->rows == 0)
    return code;
  for (const std::string& each : found->first)
    std::cout << each << "\n";
  std::cout << found->rows << " rows, " << found->answered << " with an answer, " << found->rows - found->answered
            << " without, " << found->lost << " lost\n";
  return code;
}
