// SPDX-License-Identifier: Apache-2.0
#include "twinkle/runtime/node.hpp"

#include <utility>

#include "node_process.hpp"

namespace twinkle {

node::node(const graph& pipeline, node_options how)
    : process_(std::make_unique<net::node_process>(pipeline, std::move(how))) {}

node::~node() = default;

bool node::leads() const { return process_->leads(); }

bool node::join() { return process_->join(); }

int node::serve() { return process_->serve(); }

void node::conclude(int code) { process_->conclude(code); }

void node::interrupt() { process_->interrupt(); }

void node::on_interrupt(std::function<void()> then) { process_->on_interrupt(std::move(then)); }

std::size_t node::bytes_kept() const { return process_->bytes_kept(); }

}  // namespace twinkle
