// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "twinkle/flow/checkpoint.hpp"
#include "twinkle/flow/checkpoint_manifest.hpp"
#include "twinkle/flow/graph.hpp"
#include "twinkle/flow/seams.hpp"

namespace twinkle {

/// The newest checkpoint of a run, in a folder of its own: manifest.json, and safetensors files named by step. All of a
/// checkpoint is written beside the one before it, the manifest last; so whenever the process ends, one of them is whole.
class checkpoint_folder {
 public:
  /// Of this graph, as it was built, and this seed of its run. Without files it uses those of the machine.
  checkpoint_folder(std::string folder, const graph& of, std::uint64_t seed, files_seam* files = nullptr);

  /// Replaces the checkpoint that is there. Throws `error` naming the file that cannot be written.
  void write(const checkpoint& made);

  /// Throws `error` where there is none, where it is of another graph, seed or options, naming both values, and where a
  /// file is missing, cut short or changed.
  [[nodiscard]] checkpoint read();

  /// Takes away what an earlier run left.
  void clear();

  [[nodiscard]] const std::string& path() const { return folder_; }
  /// That was written or read last.
  [[nodiscard]] std::optional<std::size_t> step() const { return step_; }

 private:
  [[nodiscard]] checkpoint_manifest::file write_file(const std::string& name, const weights& content);
  [[nodiscard]] weights read_file(const checkpoint_manifest::file& of) const;
  void remove_all_but(const checkpoint_manifest& kept);

  std::string folder_;
  run_description run_;
  std::shared_ptr<files_seam> files_;
  std::optional<std::size_t> step_;
};

}  // namespace twinkle
