// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"
#include "subcommand.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/mesh/device_mesh.hpp"
#include "twinkle/mesh/layout.hpp"
#include "twinkle/mesh/transfer_plan.hpp"

namespace twinkle::command {
namespace {

// The two meshes are on different devices: nothing is in place.
struct journey {
  device_mesh source;
  device_mesh target;
  transfer_plan plan;
};

class transfer_command final : public subcommand {
 public:
  explicit transfer_command(CLI::App& to)
      : subcommand(*to.add_subcommand("transfer", "which rank of a mesh gets which rows from which rank of another")) {
    add_mesh(app(), "--from", from_, "the mesh that made the rows, such as dp=4")->required();
    add_mesh(app(), "--to", to_, "the mesh that needs them, such as dp=2,pp=2,tp=2")->required();
    add_number<std::size_t>(app(), "--rows", rows_, "how many rows")->required();
    app().footer("Example:\n  twinkle transfer --from dp=4 --to dp=2,pp=2,tp=2 --rows 7");
  }

 private:
  [[nodiscard]] journey answer() const {
    std::vector<std::string> wrong;
    const auto mesh = [&](const char* flag, const mesh_sizes& sizes) {
      try {
        return device_mesh::from_sizes(sizes);
      } catch (const error& why) {
        wrong.push_back(std::string(flag) + ": " + why.what());
        return device_mesh{};
      }
    };
    journey made{mesh("--from", from_), mesh("--to", to_), {}};
    if (!wrong.empty())
      throw refused(std::move(wrong));
    made.plan = plan_transfers(producer_layout(made.source, rows_), consumer_layout(made.target, rows_));
    return made;
  }

  [[nodiscard]] boost::json::object json(boost::json::storage_ptr memory) const override {
    const transfer_plan plan = answer().plan;
    boost::json::object object(memory);
    boost::json::array& transfers = object["transfers"].emplace_array();
    transfers.reserve(plan.transfers.size());
    for (const transfer& each : plan.transfers)
      transfers.push_back(boost::json::object({{"source", each.source},
                                               {"target", each.target},
                                               {"first", each.rows.first},
                                               {"count", each.rows.size()}},
                                              memory));
    object["rows_moved"] = plan.rows_moved();
    return object;
  }

  [[nodiscard]] std::string text() const override {
    const journey made = answer();
    std::string text = "transfers of " + std::to_string(rows_) + " rows: " + made.source.title() + " -> " +
                       made.target.title() + ", rows moved " + std::to_string(made.plan.rows_moved()) + "\n";
    auto next = made.plan.transfers.begin();
    for (std::size_t rank = 0; rank < made.target.world_size(); ++rank) {
      text += "  rank " + std::to_string(rank) + " <-";
      if (next == made.plan.transfers.end() || next->target != rank)
        text += " nothing";
      for (; next != made.plan.transfers.end() && next->target == rank; ++next)
        text += " " + std::to_string(next->source) + " " + to_string(next->rows);
      text += "\n";
    }
    return text;
  }

  mesh_sizes from_;
  mesh_sizes to_;
  std::size_t rows_ = 0;
};

}  // namespace

std::unique_ptr<subcommand> transfer_subcommand(CLI::App& app) { return std::make_unique<transfer_command>(app); }

}  // namespace twinkle::command
