// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/message_wire.hpp"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "data/wire_bytes.hpp"
#include "twinkle/base/ensure.hpp"

namespace twinkle {

using data::refuse_wire;
using data::wire_parts;
using data::wire_reader;
using data::wire_writer;
using endpoint_specs = std::span<const blueprint::endpoint_spec>;

namespace {

enum class message_kind : std::uint8_t { task = 1, cancel, abandon, reply, emitted };
enum class payload_kind : std::uint8_t { nothing, rows, metrics, weights, end, value, arguments };
static_assert(std::is_same_v<std::variant<std::monostate, batch, metrics, weights, end_of_source, value, arguments>,
                             payload>,
              "payload_kind counts as payload does");

constexpr std::uint8_t dummy_bit = 1;
constexpr std::uint8_t oversize_bit = 2;

// For a task its own endpoint; a reply does not know it.
using endpoint_of_call = std::optional<std::size_t>;

class message_writer {
 public:
  explicit message_writer(endpoint_specs endpoints) : endpoints_(endpoints) {}

  [[nodiscard]] wire_form written(const message& content) && {
    if (const auto* task = std::get_if<msg::task>(&content))
      write(*task);
    else if (const auto* cancel = std::get_if<msg::cancel>(&content))
      write(*cancel);
    else if (const auto* reply = std::get_if<msg::reply>(&content))
      write(*reply);
    else if (const auto* emitted = std::get_if<msg::emitted>(&content))
      write(*emitted);
    else
      kind(message_kind::abandon);
    wire_writer whole{wire_kind::message, pieces_};
    const buffer body = std::move(out_).written();
    whole.bytes({body.data(), body.bytes()});
    return {std::move(whole).written(), std::move(pieces_)};
  }

 private:
  template <class Kind>
  void kind(Kind what) {
    out_.number(static_cast<std::uint8_t>(what));
  }
  void ordinal(std::size_t which) { out_.number(std::uint64_t{which}); }
  void flag(bool set) { out_.number(static_cast<std::uint8_t>(set)); }

  void write(const msg::task& task) {
    kind(message_kind::task);
    out_.number(task.call);
    kind(task.what);
    ordinal(task.endpoint);
    out_.number(static_cast<std::uint64_t>(task.version));
    flag(task.streams);
    write(task.input, task.endpoint);
    flag(task.micro_batches != nullptr);
    if (task.micro_batches != nullptr)
      write(*task.micro_batches);
    flag(task.gathered.has_value());
    if (task.gathered)
      out_.number(*task.gathered);
  }
  void write(const msg::cancel& cancel) {
    kind(message_kind::cancel);
    flag(cancel.call.has_value());
    if (cancel.call)
      out_.number(*cancel.call);
    write(cancel.why);
  }
  void write(const msg::reply& reply) {
    kind(message_kind::reply);
    ordinal(reply.worker);
    out_.number(reply.call);
    flag(reply.value.has_value());
    if (reply.value)
      write(reply.value.value(), std::nullopt);
    else
      write(reply.value.failure());
    out_.number(static_cast<std::uint64_t>(reply.ran.count()));
  }
  void write(const msg::emitted& emitted) {
    kind(message_kind::emitted);
    ordinal(emitted.worker);
    out_.number(emitted.call);
    nest(emitted.rows);
  }

  void write(const fault& why) {
    out_.raw(why.place);
    out_.raw(why.endpoint);
    flag(why.rows.has_value());
    if (why.rows) {
      ordinal(why.rows->first);
      ordinal(why.rows->end);
    }
    out_.raw(why.cause);
  }

  void write(const std::vector<micro_batch>& plan) {
    out_.count(plan.size());
    for (const micro_batch& each : plan) {
      out_.number(static_cast<std::uint8_t>((each.dummy ? dummy_bit : 0) | (each.oversize ? oversize_bit : 0)));
      out_.count(each.rows.size());
      for (const std::size_t row : each.rows)
        ordinal(row);
    }
  }

  void write(const payload& content, endpoint_of_call endpoint) {
    kind(static_cast<payload_kind>(content.index()));
    if (const auto* rows = std::get_if<batch>(&content))
      nest(*rows);
    else if (const auto* numbers = std::get_if<metrics>(&content))
      nest(*numbers);
    else if (const auto* tensors = std::get_if<weights>(&content))
      nest(*tensors);
    else if (const auto* returned = std::get_if<value>(&content))
      write(*returned);
    else if (const auto* several = std::get_if<arguments>(&content))
      write(*several, endpoint);
  }

  // Endpoints that return one type write it alike, so that the first of them will do.
  void write(const value& returned) {
    const auto by = std::find_if(endpoints_.begin(), endpoints_.end(), [&](const blueprint::endpoint_spec& each) {
      return each.target.returns != nullptr && *each.target.returns->type == returned.content.type();
    });
    if (by == endpoints_.end())
      refuse_wire("a value is of a type that no endpoint of the stage returns, and cannot be sent");
    ordinal(static_cast<std::size_t>(by - endpoints_.begin()));
    value_writer values{out_, pieces_};
    by->target.returns->write(values, returned.content);
  }

  void write(const arguments& given, endpoint_of_call endpoint) {
    const value_form* form = endpoint && *endpoint < endpoints_.size() ? endpoints_[*endpoint].target.takes : nullptr;
    if (form == nullptr || *form->type != given.others.type() || form->batches != given.batches.size())
      refuse_wire("a call carries other arguments than its endpoint takes, and cannot be sent");
    out_.count(given.batches.size());
    for (const batch& each : given.batches)
      nest(each);
    value_writer values{out_, pieces_};
    form->write(values, given.others);
  }

  template <class T>
  void nest(const T& inner) {
    data::nest(out_, pieces_, to_wire(inner));
  }

  endpoint_specs endpoints_;
  wire_writer out_;
  std::vector<buffer> pieces_;
};

class message_reader {
 public:
  message_reader(const wire_form& received, endpoint_specs endpoints, const wire_limits& limits)
      : from_(received, wire_kind::message, limits), in_(from_.header()), endpoints_(endpoints), limits_(limits) {}

  [[nodiscard]] message read() {
    message content = read_content();
    from_.done();
    return content;
  }

 private:
  [[nodiscard]] message read_content() {
    const auto what = in_.number<std::uint8_t>();
    switch (static_cast<message_kind>(what)) {
      case message_kind::task: return read_task();
      case message_kind::cancel: return read_cancel();
      case message_kind::abandon: return msg::abandon{};
      case message_kind::reply: return read_reply();
      case message_kind::emitted: return read_emitted();
    }
    refuse_wire("there is no message of kind " + std::to_string(what));
  }

  [[nodiscard]] msg::task read_task() {
    msg::task task;
    task.call = in_.number<std::uint64_t>();
    const auto what = in_.number<std::uint8_t>();
    if (what > static_cast<std::uint8_t>(msg::task::kind::gather))
      refuse_wire("there is no task of kind " + std::to_string(what));
    task.what = static_cast<msg::task::kind>(what);
    task.endpoint = in_.number<std::uint64_t>();
    const bool called = task.what == msg::task::kind::run || task.what == msg::task::kind::gather;
    if (called || task.endpoint != 0)  // which is 0 where no endpoint is meant
      check_endpoint(task.endpoint);
    task.version = static_cast<std::int64_t>(in_.number<std::uint64_t>());
    task.streams = in_.flag();
    task.input = read_payload(task.endpoint);
    if (in_.flag()) {
      const batch* rows = rows_in(task.input);
      task.micro_batches = read_micro_batches(rows != nullptr ? rows->rows() : 0);
    }
    if (in_.flag())
      task.gathered = in_.number<std::uint64_t>();
    return task;
  }

  [[nodiscard]] msg::cancel read_cancel() {
    msg::cancel cancel;
    if (in_.flag())
      cancel.call = in_.number<std::uint64_t>();
    cancel.why = read_fault();
    return cancel;
  }

  [[nodiscard]] msg::reply read_reply() {
    const auto worker = in_.number<std::uint64_t>();
    const auto call = in_.number<std::uint64_t>();
    msg::reply reply{worker, call, payload{}};
    if (in_.flag())
      reply.value = read_payload(std::nullopt);
    else
      reply.value = read_fault();
    reply.ran = duration(static_cast<duration::rep>(in_.number<std::uint64_t>()));
    if (reply.ran < duration{0})
      refuse_wire("a body ran for " + to_string(reply.ran) + "; it must be some time");
    return reply;
  }

  [[nodiscard]] msg::emitted read_emitted() {
    const auto worker = in_.number<std::uint64_t>();
    const auto call = in_.number<std::uint64_t>();
    return {worker, call, nested<batch>()};
  }

  [[nodiscard]] fault read_fault() {
    fault why;
    why.place = in_.raw();
    why.endpoint = in_.raw();
    if (in_.flag()) {
      const auto first = in_.number<std::uint64_t>();
      const auto end = in_.number<std::uint64_t>();
      why.rows = interval{first, end};
      if (first > end)
        refuse_wire("the rows of a fault are " + to_string(*why.rows));
    }
    why.cause = in_.raw();
    return why;
  }

  // Of the `rows` that came with it.
  [[nodiscard]] std::shared_ptr<const std::vector<micro_batch>> read_micro_batches(std::size_t rows) {
    std::vector<micro_batch> plan(in_.count(sizeof(std::uint8_t) + sizeof(std::uint64_t)));
    for (micro_batch& each : plan) {
      const auto flags = in_.number<std::uint8_t>();
      if (flags > (dummy_bit | oversize_bit))
        refuse_wire("the flags of a micro-batch are " + std::to_string(flags) +
                    "; there are 1 for a dummy and 2 for oversize");
      each.dummy = (flags & dummy_bit) != 0;
      each.oversize = (flags & oversize_bit) != 0;
      each.rows.resize(in_.count(sizeof(std::uint64_t)));
      for (std::size_t at = 0; at < each.rows.size(); ++at) {
        each.rows[at] = in_.number<std::uint64_t>();
        if (each.rows[at] >= rows || (at > 0 && each.rows[at] <= each.rows[at - 1]))
          refuse_wire("a micro-batch names row " + std::to_string(each.rows[at]) + " of " + std::to_string(rows) +
                      "; they must be there, and ascend");
      }
    }
    return std::make_shared<const std::vector<micro_batch>>(std::move(plan));
  }

  [[nodiscard]] payload read_payload(endpoint_of_call endpoint) {
    const auto what = in_.number<std::uint8_t>();
    switch (static_cast<payload_kind>(what)) {
      case payload_kind::nothing: return std::monostate{};
      case payload_kind::rows: return nested<batch>();
      case payload_kind::metrics: return nested<metrics>();
      case payload_kind::weights: return nested<weights>();
      case payload_kind::end: return end_of_source{};
      case payload_kind::value: return read_value();
      case payload_kind::arguments: return read_arguments(endpoint);
    }
    refuse_wire("there is no payload of kind " + std::to_string(what));
  }

  [[nodiscard]] value read_value() {
    const auto by = in_.number<std::uint64_t>();
    check_endpoint(by);
    const value_form* form = endpoints_[by].target.returns;
    if (form == nullptr)
      refuse_wire("a value is said to be of endpoint '" + endpoints_[by].name + "', which returns none");
    value_reader values{from_, limits_};
    return {form->read(values)};
  }

  [[nodiscard]] arguments read_arguments(endpoint_of_call endpoint) {
    const value_form* form = endpoint && *endpoint < endpoints_.size() ? endpoints_[*endpoint].target.takes : nullptr;
    if (form == nullptr)
      refuse_wire("there are arguments for what takes none");
    const std::size_t count = in_.count(1);
    if (count != form->batches)
      refuse_wire(std::to_string(count) + " batches for endpoint '" + endpoints_[*endpoint].name + "', which takes " +
                  std::to_string(form->batches));
    arguments given;
    while (given.batches.size() < count)
      given.batches.push_back(nested<batch>());
    for (const batch& each : given.batches)
      if (each.rows() != given.batches.front().rows())
        refuse_wire("the batches of a call have " + std::to_string(given.batches.front().rows()) + " and " +
                    std::to_string(each.rows()) + " rows; they must have the same");
    value_reader values{from_, limits_};
    given.others = form->read(values);
    return given;
  }

  void check_endpoint(std::size_t which) const {
    if (which >= endpoints_.size())
      refuse_wire("the message names endpoint " + std::to_string(which) + " of a stage that has " +
                  std::to_string(endpoints_.size()) + "; every node must build the same graph");
  }

  template <class T>
  [[nodiscard]] T nested() {
    return from_wire<T>(from_.nested(limits_), limits_);
  }

  wire_parts from_;
  wire_reader& in_;
  endpoint_specs endpoints_;
  const wire_limits& limits_;
};

}  // namespace

bool crosses_nodes(const message& content) {
  return std::holds_alternative<msg::task>(content) || std::holds_alternative<msg::cancel>(content) ||
         std::holds_alternative<msg::abandon>(content) || std::holds_alternative<msg::reply>(content) ||
         std::holds_alternative<msg::emitted>(content);
}

wire_form to_wire(const message& content, std::span<const blueprint::endpoint_spec> endpoints) {
  ensure(crosses_nodes(content), "only messages between a router and its workers are sent to another node");
  return message_writer{endpoints}.written(content);
}

message message_from_wire(const wire_form& received, std::span<const blueprint::endpoint_spec> endpoints,
                          const wire_limits& limits) {
  return message_reader{received, endpoints, limits}.read();
}

}  // namespace twinkle
