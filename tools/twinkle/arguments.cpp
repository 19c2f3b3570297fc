// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "twinkle/base/list.hpp"

namespace twinkle::command {
namespace {

struct axis {
  const char* name;
  const char* meaning;
  void (*put)(mesh_sizes&, std::int64_t);
};

template <auto Size>
void put(mesh_sizes& into, std::int64_t size) {
  into.*Size = size;
}

constexpr std::array axes{
    axis{"fsdp", "fully sharded data parallel", put<&mesh_sizes::fsdp_size>},
    axis{"pp", "pipeline parallel", put<&mesh_sizes::pp_size>},
    axis{"dp", "data parallel", put<&mesh_sizes::dp_size>},
    axis{"cp", "context parallel", put<&mesh_sizes::cp_size>},
    axis{"tp", "tensor parallel", put<&mesh_sizes::tp_size>},
    axis{"ulysses", "Ulysses sequence parallel, inside the data ranks", put<&mesh_sizes::ulysses_size>},
    axis{"ep", "expert parallel", put<&mesh_sizes::ep_size>},
    axis{"etp", "expert tensor parallel", put<&mesh_sizes::etp_size>},
    axis{"ep-fsdp", "FSDP inside an expert group; what ep and etp leave of a pipeline stage",
         put<&mesh_sizes::ep_fsdp_size>},
    axis{"vpp", "virtual pipeline stages", put<&mesh_sizes::vpp_size>},
};

mesh_sizes sizes_of(const std::string& flag, const std::string& text) {
  mesh_sizes sizes;
  std::vector<std::string> given;
  for (const std::string& item : items_of(text)) {
    const std::size_t equals = item.find('=');
    const std::string name = item.substr(0, equals);
    if (equals == std::string::npos)
      throw CLI::ValidationError(flag, "'" + item + "' is no axis with a size, such as dp=2");
    const auto* const known = std::find_if(axes.begin(), axes.end(), [&](const axis& each) { return each.name == name; });
    if (known == axes.end()) {
      std::vector<std::string> names;
      for (const axis& each : axes)
        names.emplace_back(each.name);
      throw CLI::ValidationError(flag, "unknown axis '" + name + "'; the axes are " + list(names));
    }
    if (std::find(given.begin(), given.end(), name) != given.end())
      throw CLI::ValidationError(flag, "axis '" + name + "' is given twice");
    given.push_back(name);
    known->put(sizes, whole_number<std::int64_t>(flag + " " + name, std::string_view(item).substr(equals + 1)));
  }
  if (given.empty())
    throw CLI::ValidationError(flag, "no axis is given; write a mesh as dp=2,tp=2");
  return sizes;
}

}  // namespace

CLI::Option* add_text(CLI::App& app, const std::string& flag, const std::string& value, const std::string& meaning,
                      std::function<void(const std::string&)> take) {
  const auto read = [take = std::move(take)](const CLI::results_t& given) {
    take(given.front());
    return true;
  };
  return app.add_option(flag, read, meaning)->type_name(value);
}

void add_mesh_sizes(CLI::App& app, mesh_sizes& into) {
  for (const axis& each : axes) {
    const std::string flag = std::string("--") + each.name;
    add_text(app, flag, "N", each.meaning, [flag, put = each.put, &into](const std::string& text) {
      put(into, whole_number<std::int64_t>(flag, text));
    });
  }
  add_number<std::int64_t>(app, "--world-size", into.world_size,
                           "number of ranks, to be checked; 1, as none, is the product of the sizes");
}

CLI::Option* add_mesh(CLI::App& app, const std::string& flag, mesh_sizes& into, const std::string& meaning) {
  return add_text(app, flag, "MESH", meaning, [flag, &into](const std::string& text) { into = sizes_of(flag, text); });
}

std::vector<std::string> items_of(std::string_view text) {
  std::vector<std::string> items;
  for (std::size_t first = 0; !text.empty() && first <= text.size();) {
    const std::size_t end = std::min(text.find(',', first), text.size());
    items.emplace_back(text.substr(first, end - first));
    first = end + 1;
  }
  return items;
}

}  // namespace twinkle::command
