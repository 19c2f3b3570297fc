// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace twinkle {

/// Named sizes of a device mesh, for designated initialisers: `{.dp_size = 2, .tp_size = 2}`. An axis that is not
/// given counts as 1.
struct mesh_sizes {
  std::int64_t world_size = 1;  ///< number of ranks; 1 means: the product of the sizes
  std::optional<std::int64_t> fsdp_size = std::nullopt;     ///< fully sharded data parallel
  std::int64_t dp_size = 1;                                 ///< data parallel
  std::optional<std::int64_t> pp_size = std::nullopt;       ///< pipeline parallel
  std::optional<std::int64_t> cp_size = std::nullopt;       ///< context parallel
  std::optional<std::int64_t> tp_size = std::nullopt;       ///< tensor parallel
  std::optional<std::int64_t> ulysses_size = std::nullopt;  ///< Ulysses sequence parallel, inside the data ranks
  std::optional<std::int64_t> ep_size = std::nullopt;       ///< expert parallel
  std::optional<std::int64_t> etp_size = std::nullopt;      ///< expert tensor parallel
  std::optional<std::int64_t> ep_fsdp_size = std::nullopt;  ///< FSDP inside an expert group; world / (pp x ep x etp)
  std::optional<std::int64_t> vpp_size = std::nullopt;      ///< virtual pipeline stages
  std::string device_type = {};                             ///< "cuda", "npu", "cpu", …; empty: the group's
  bool sequence_parallel = false;                           ///< Megatron-style sequence parallelism
};

}  // namespace twinkle
