// SPDX-License-Identifier: Apache-2.0
#include "twinkle/place/cluster_file.hpp"

// Without NDEBUG toml++ ends the process at "[.a]", which it refuses just after the assertion.
#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/toml.h>

#include <algorithm>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

#include "node_problems.hpp"
#include "twinkle/base/list.hpp"

namespace twinkle::place {
namespace {

using problem = cluster_file::problem;

std::size_t line_of(const toml::node& node) { return node.source().begin.line; }

std::string kind_of(const toml::node& node) {
  std::ostringstream text;
  text << node.type();
  return text.str();
}

// Reads the keys of one table. What is wrong with one of them leaves its value as it was.
class table_reader {
 public:
  table_reader(const toml::table& table, std::string what, std::vector<problem>& problems)
      : table_(table), who_(std::move(what)), problems_(problems) {
    if (const toml::node* name = table.get("name"); name != nullptr && name->is_string())
      who_ += " '" + name->as_string()->get() + "'";
  }

  [[nodiscard]] std::size_t line() const { return line_of(table_); }

  void text(std::string_view key, std::string& into) {
    if (const toml::node* node = table_.get(key))
      if (!take_text(*node, into))
        wrong(*node, std::string(key), "a text in quotes");
  }

  void number(std::string_view key, std::int64_t least, std::int64_t limit, std::size_t& into) {
    if (const toml::node* node = table_.get(key))
      take_number(*node, std::string(key), least, limit, into);
  }

  void texts(std::string_view key, std::vector<std::string>& into) {
    const toml::node* node = table_.get(key);
    if (node == nullptr)
      return;
    if (!node->is_array())
      return wrong(*node, std::string(key), R"(a list, such as ["0", "1"])");
    for (const toml::node& each : *node->as_array())
      if (std::string item; take_text(each, item))
        into.push_back(std::move(item));
      else
        wrong(each, "an item of " + std::string(key), "a text in quotes");
  }

  // A number is a count, whatever it is: problems(device_group) tells what it must be.
  void ranks(std::string_view key, device_ranks& into) {
    const toml::node* node = table_.get(key);
    if (node == nullptr)
      return;
    if (node->is_integer()) {
      into = device_ranks(node->as_integer()->get());
    } else if (node->is_array()) {
      std::vector<std::size_t> devices;
      for (const toml::node& each : *node->as_array())
        if (std::size_t device = 0; take_number(each, "an item of " + std::string(key), 0, most, device))
          devices.push_back(device);
      if (devices.size() == node->as_array()->size())
        into = device_ranks(std::move(devices));
    } else {
      wrong(*node, std::string(key), "a count, such as 4, or a list, such as [0, 1]");
    }
  }

  void only(const std::vector<std::string_view>& known) {
    for (const auto& [key, node] : table_)
      if (std::find(known.begin(), known.end(), key.str()) == known.end())
        tell(key.source().begin.line, "unknown key '" + std::string(key.str()) + "'; the keys are " + list(known));
  }

  void tell(std::size_t line, const std::string& text) { problems_.push_back({line, who_ + ": " + text}); }

  static constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

 private:
  static bool take_text(const toml::node& node, std::string& into) {
    if (node.is_string())
      into = node.as_string()->get();
    return node.is_string();
  }

  bool take_number(const toml::node& node, const std::string& what, std::int64_t least, std::int64_t limit,
                   std::size_t& into) {
    if (!node.is_integer()) {
      wrong(node, what, "a whole number");
      return false;
    }
    const std::int64_t value = node.as_integer()->get();
    if (value < least || value > limit) {
      tell(line_of(node), what + " is " + std::to_string(value) + "; it must be " +
                              (limit == most ? std::to_string(least) + " or more"
                                             : std::to_string(least) + ".." + std::to_string(limit)));
      return false;
    }
    into = static_cast<std::size_t>(value);
    return true;
  }

  void wrong(const toml::node& node, const std::string& what, const std::string& wanted) {
    tell(line_of(node), what + " is of type " + kind_of(node) + "; it must be " + wanted);
  }

  const toml::table& table_;
  std::string who_;
  std::vector<problem>& problems_;
};

class file_reader {
 public:
  cluster_file run(const toml::table& root) {
    table_reader top{root, "cluster", made_.problems};
    top.text("name", made_.machines.name);
    top.only({"name", "node", "group"});
    for (const toml::table* each : tables(root, "node"))
      read_node(*each);
    for (const toml::table* each : tables(root, "group"))
      read_group(*each);
    for (node_problem& each : node_problems(made_.machines))
      made_.problems.push_back({each.node ? node_lines_[*each.node] : 1, std::move(each.text)});
    std::stable_sort(made_.problems.begin(), made_.problems.end(),
                     [](const problem& a, const problem& b) { return a.line < b.line; });
    return std::move(made_);
  }

 private:
  std::vector<const toml::table*> tables(const toml::table& root, const std::string& name) {
    const toml::node* node = root.get(name);
    std::vector<const toml::table*> found;
    if (node == nullptr)
      return found;
    const toml::array* array = node->as_array();
    if (array == nullptr ||
        !std::all_of(array->begin(), array->end(), [](const auto& each) { return each.is_table(); })) {
      made_.problems.push_back(
          {line_of(*node), "a " + name + " is a table of its own; write [[" + name + "]] before each"});
      return found;
    }
    for (const toml::node& each : *array)
      found.push_back(each.as_table());
    return found;
  }

  void read_node(const toml::table& table) {
    table_reader from{table, "node", made_.problems};
    cluster::node node;
    std::size_t port = 0;
    from.text("name", node.name);
    from.text("host", node.host);
    from.number("port", 1, 65535, port);
    from.number("devices", 0, table_reader::most, node.devices);
    from.text("type", node.type);
    from.number("cpus", 0, table_reader::most, node.cpus);
    from.only({"name", "host", "port", "devices", "type", "cpus"});
    node.port = static_cast<std::uint16_t>(port);
    made_.machines.nodes.push_back(std::move(node));
    node_lines_.push_back(from.line());
  }

  void read_group(const toml::table& table) {
    table_reader from{table, "group", made_.problems};
    device_group group;
    from.text("name", group.name);
    from.ranks("ranks", group.ranks);
    from.text("type", group.device_type);
    from.number("gpus_per_worker", 1, table_reader::most, group.gpus_per_worker);
    from.texts("visible_devices", group.visible_devices);
    from.texts("colocate", group.colocate);
    from.only({"name", "ranks", "type", "gpus_per_worker", "visible_devices", "colocate"});
    for (std::string& text : problems(group))
      made_.problems.push_back({from.line(), std::move(text)});
    if (!group.name.empty() && !group_names_.insert(group.name).second)
      from.tell(from.line(), "another group has this name; give each its own");
    made_.groups.push_back(std::move(group));
  }

  cluster_file made_;
  std::vector<std::size_t> node_lines_;
  std::set<std::string> group_names_;
};

}  // namespace

cluster_file parse_cluster(std::string_view text) {
  try {
    return file_reader{}.run(toml::parse(text));
  } catch (const toml::parse_error& wrong) {
    cluster_file made;
    made.problems.push_back({wrong.source().begin.line, std::string(wrong.description())});
    return made;
  }
}

std::string to_string(const cluster_file::problem& what, std::string_view path) {
  return std::string(path) + ":" + std::to_string(what.line) + ": " + what.text;
}

}  // namespace twinkle::place
