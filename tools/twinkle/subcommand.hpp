// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace twinkle::command {

/// Why an answer is refused: every reason at once. Where there is one, a twinkle::error says as much.
class refused : public std::runtime_error {
 public:
  explicit refused(std::vector<std::string> reasons)
      : std::runtime_error("refused"), reasons_(std::move(reasons)) {}

  [[nodiscard]] const std::vector<std::string>& reasons() const { return reasons_; }

 private:
  std::vector<std::string> reasons_;
};

/// A question that the command answers, to programs or to people. The parser keeps references to its members.
class subcommand {
 public:
  explicit subcommand(CLI::App& app);
  subcommand(const subcommand&) = delete;
  subcommand& operator=(const subcommand&) = delete;
  virtual ~subcommand() = default;

  /// Prints the answer and acts on it, or prints why it is refused, and returns the exit code.
  [[nodiscard]] int run() const;

  [[nodiscard]] bool asked() const { return app_.parsed(); }

 protected:
  [[nodiscard]] CLI::App& app() { return app_; }

 private:
  /// Both throw `error` or `refused`. All of the JSON is kept in `memory`: a world may have a million ranks.
  [[nodiscard]] virtual boost::json::object json(boost::json::storage_ptr memory) const = 0;
  [[nodiscard]] virtual std::string text() const = 0;

  /// What is done once the answer is printed; returns the exit code.
  [[nodiscard]] virtual int act() const { return 0; }

  CLI::App& app_;
  bool for_programs_ = false;
};

// Each adds itself to `app`.
[[nodiscard]] std::unique_ptr<subcommand> mesh_subcommand(CLI::App& app);
[[nodiscard]] std::unique_ptr<subcommand> split_subcommand(CLI::App& app);
[[nodiscard]] std::unique_ptr<subcommand> transfer_subcommand(CLI::App& app);
[[nodiscard]] std::unique_ptr<subcommand> place_subcommand(CLI::App& app);

/// `behind`: the arguments from "--" on; none, if it is not there.
[[nodiscard]] std::unique_ptr<subcommand> launch_subcommand(CLI::App& app, std::vector<std::string> behind);

}  // namespace twinkle::command
