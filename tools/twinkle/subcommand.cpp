// SPDX-License-Identifier: Apache-2.0
#include "subcommand.hpp"

#include <iostream>

namespace twinkle::command {
namespace {

// JSON is utf-8, which the path in an error need not be.
std::string as_utf8(std::string text) {
  boost::json::error_code wrong;
  static_cast<void>(boost::json::parse(boost::json::serialize(boost::json::string(text)), wrong));
  if (wrong)
    for (char& byte : text)
      if (static_cast<unsigned char>(byte) >= 0x80)
        byte = '?';
  return text;
}

int refuse(const std::vector<std::string>& reasons, bool for_programs) {
  boost::json::array errors;
  for (const std::string& reason : reasons)
    if (for_programs)
      errors.emplace_back(as_utf8(reason));
    else
      std::cerr << reason << "\n";
  if (for_programs)
    std::cout << boost::json::object{{"errors", std::move(errors)}} << "\n" << std::flush;
  return 1;
}

}  // namespace

subcommand::subcommand(CLI::App& app) : app_(app) {
  app_.add_flag("--json", for_programs_, "answer in JSON, for programs; what is refused is in its \"errors\"");
}

int subcommand::run() const {
  try {
    if (for_programs_) {
      boost::json::monotonic_resource memory;
      std::cout << json(&memory) << "\n" << std::flush;
    } else {
      std::cout << text() << std::flush;
    }
    if (std::cout)
      return act();
  } catch (const refused& why) {
    return refuse(why.reasons(), for_programs_);
  } catch (const std::exception& why) {
    return refuse({why.what()}, for_programs_);
  }
  std::cerr << "twinkle: the answer could not be written; check that the output has room\n";
  return 1;
}

}  // namespace twinkle::command
