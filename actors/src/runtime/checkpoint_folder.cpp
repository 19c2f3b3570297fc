// SPDX-License-Identifier: Apache-2.0
#include "twinkle/runtime/checkpoint_folder.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include "real_files.hpp"
#include "twinkle/base/digest.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/data/safetensors.hpp"

namespace twinkle {
namespace {

constexpr const char* manifest_name = "manifest.json";

run_description description_of(const blueprint& plan, std::uint64_t seed) {
  run_description made{plan.name, seed};
  for (const blueprint::stage& each : plan.stages)
    made.stages.push_back(each.name);
  for (const blueprint::option& each : plan.options)
    made.options.emplace_back(each.name, each.value);
  return made;
}

// Word by word: files may be large.
std::uint64_t digest_of_bytes(std::string_view content) {
  digest sum;
  std::size_t at = 0;
  for (std::uint64_t word = 0; at + sizeof word <= content.size(); at += sizeof word) {
    std::memcpy(&word, content.data() + at, sizeof word);
    sum.add(word);
  }
  return sum.add(content.substr(at)).add(content.size()).value();
}

bool is_ours(std::string_view name) {
  return name.starts_with("step-") || name == manifest_name || name == std::string(manifest_name) + ".new";
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw error("checkpoint '" + path + "' " + why);
}

}  // namespace

checkpoint_folder::checkpoint_folder(std::string folder, const graph& of, std::uint64_t seed, files_seam* files)
    : folder_(std::move(folder)), run_(description_of(of.plan(), seed)) {
  if (files == nullptr)
    files_ = std::make_shared<runtime::real_files>();
  else
    files_ = std::shared_ptr<files_seam>(files, [](files_seam*) {});
}

checkpoint_manifest::file checkpoint_folder::write_file(const std::string& name, const weights& content) {
  const std::vector<std::byte> bytes = to_safetensors(content);
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  files_->replace(folder_ + "/" + name, text);
  return {name, text.size(), digest_of_bytes(text)};
}

void checkpoint_folder::write(const checkpoint& made) {
  const std::string step = "step-" + std::to_string(made.step);
  checkpoint_manifest manifest{run_, made.step, made.trained};
  manifest.state = write_file(step + ".state.safetensors", made.state);
  for (const checkpoint::published& each : made.versions)
    manifest.versions.push_back({each.publication, each.value.version(),
                                 write_file(step + ".publication-" + std::to_string(each.publication) + ".version-" +
                                                std::to_string(each.value.version()) + ".safetensors",
                                            each.value)});
  files_->replace(folder_ + "/" + manifest_name, manifest.to_text());
  step_ = made.step;
  remove_all_but(manifest);
}

void checkpoint_folder::remove_all_but(const checkpoint_manifest& kept) {
  std::set<std::string> stay{manifest_name, kept.state.name};
  for (const checkpoint_manifest::published& each : kept.versions)
    stay.insert(each.content.name);
  for (const std::string& each : files_->names(folder_))
    if (is_ours(each) && !stay.contains(each))
      files_->remove(folder_ + "/" + each);
}

void checkpoint_folder::clear() {
  files_->remove(folder_ + "/" + manifest_name);  // first, so that what is left is never taken for a whole one
  remove_all_but({});
  step_.reset();
}

weights checkpoint_folder::read_file(const checkpoint_manifest::file& of) const {
  const std::string path = folder_ + "/" + of.name;
  auto content = files_->read(path);
  if (!content)
    refuse(folder_, "is damaged: its manifest names '" + of.name + "', which is not there; put it back, or begin anew");
  if (content->size() != of.bytes || digest_of_bytes(*content) != of.digest)
    refuse(folder_, "is damaged: '" + of.name + "' has " + std::to_string(content->size()) + " bytes of digest " +
                        hexadecimal(digest_of_bytes(*content)) + ", the manifest says " + std::to_string(of.bytes) +
                        " of " + hexadecimal(of.digest) + "; put the right file back, or begin anew");
  const auto owner = std::make_shared<const std::string>(*std::move(content));
  try {
    return from_safetensors({owner->data(), owner->size(), owner});
  } catch (const error& bad) {
    refuse(path, bad.what());
  }
}

checkpoint checkpoint_folder::read() {
  const std::string path = folder_ + "/" + manifest_name;
  const auto text = files_->read(path);
  if (!text)
    throw error("there is no checkpoint in '" + folder_ + "': no step was saved there, or it is another folder; begin "
                "the run without resuming it");
  checkpoint_manifest manifest;
  try {
    manifest = checkpoint_manifest::of_text(*text);
  } catch (const error& bad) {
    refuse(path, bad.what());
  }
  if (const std::string differs = manifest.of.difference(run_); !differs.empty())
    refuse(folder_, "is of another run: " + differs + "; give the same graph, seed and options, or begin a run in "
                    "another folder");
  checkpoint found{manifest.step, read_file(manifest.state), {}, std::move(manifest.trained)};
  for (const checkpoint_manifest::published& each : manifest.versions)
    found.versions.push_back({each.publication, read_file(each.content).at_version(each.version)});
  step_ = found.step;
  return found;
}

}  // namespace twinkle
