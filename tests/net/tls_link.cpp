// SPDX-License-Identifier: Apache-2.0
// Links under TLS, with certificates that are made here.
#include <cstdlib>
#include <filesystem>

#include "link_end.hpp"
#include "twinkle/base/error.hpp"

using namespace links;

namespace {

const std::string here = "127.0.0.1";

void run(const std::string& command) {
  REQUIRE_MESSAGE(std::system(("(" + command + ") >/dev/null 2>&1").c_str()) == 0, command);
}

/// A folder with two authorities, each of which has signed certificates.
class certificates {
 public:
  certificates() {
    std::string name = (std::filesystem::temp_directory_path() / "twinkle-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
    for (const std::string authority : {"ours", "theirs"}) {
      const std::string in = "cd " + folder_ + " && openssl ";
      const std::string key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes ";
      run(in + "req -x509 -days 2 -subj /CN=" + authority + " " + key + "-keyout " + authority + ".key -out " +
          authority + ".pem");
      run(in + "req -subj /CN=node " + key + "-keyout " + authority + "-node.key -out request");
      run(in + "x509 -req -days 2 -in request -CA " + authority + ".pem -CAkey " + authority +
          ".key -CAcreateserial -out " + authority + "-node.pem");
    }
  }
  ~certificates() { std::filesystem::remove_all(folder_); }
  certificates(const certificates&) = delete;
  certificates& operator=(const certificates&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return folder_ + "/" + name; }

  /// Trusts one authority and shows a certificate of another.
  [[nodiscard]] tk::net::control::link_options trusts(const std::string& authority, const std::string& signed_by) const {
    const std::string node = file(signed_by + "-node");
    return {.cluster = "lab", .tls = tk::net::tls_files{file(authority + ".pem"), node + ".pem", node + ".key"}};
  }

 private:
  std::string folder_;
};

}  // namespace

TEST_CASE_FIXTURE(certificates, "under TLS messages arrive whole and in order, both ways") {
  link_end a(trusts("ours", "ours"));
  link_end b(trusts("ours", "ours"));
  a.echoes = true;
  b->connect(here, a->listen(here, 0));
  constexpr std::size_t messages = 2000;
  for (std::size_t place = 0; place < messages; ++place)
    b->send(b.peer(), bytes(std::string(place % 500 == 3 ? 1 << 20 : 1, '.') + std::to_string(place)));
  const std::vector<std::string> back = b.arrived(b.peer(), messages);
  std::size_t in_place = 0;
  for (std::size_t place = 0; place < messages; ++place)
    in_place += back[place] == std::string(place % 500 == 3 ? 1 << 20 : 1, '.') + std::to_string(place);
  CHECK(in_place == messages);
  a.end();
  CHECK(b.why_down() == "closed by the other side");
}

TEST_CASE_FIXTURE(certificates, "a certificate of another authority is refused, by the side that does not trust it") {
  link_end listens(trusts("ours", "ours"));
  const std::uint16_t port = listens->listen(here, 0);
  link_end rogue(trusts("ours", "theirs"));
  rogue->connect(here, port);
  rogue.fails(port, "certificate refused: ours, by the other side");
  link_end careful(trusts("theirs", "theirs"));
  careful->connect(here, port);
  careful.fails(port, "certificate refused: that of the other side");
  CHECK(rogue.end().up.empty());
  CHECK(careful.end().up.empty());
  CHECK(listens.end().up.empty());
}

TEST_CASE_FIXTURE(certificates, "who shows no certificate, or speaks no TLS, does not come in") {
  link_end listens(trusts("ours", "ours"));
  const std::uint16_t port = listens->listen(here, 0);
  run("openssl s_client -quiet -CAfile " + file("ours.pem") + " -connect 127.0.0.1:" + std::to_string(port) +
      " </dev/null 2>&1 | grep 'alert certificate required'");

  link_end open;
  open->connect(here, port);
  CHECK(open.wait([&](const told&) { return !open->last_failure(here, port).empty(); }));
  const std::uint16_t open_port = open->listen(here, 0);
  listens->connect(here, open_port);
  listens.fails(open_port, "no TLS with the other side: wrong version number");
  CHECK(open.end().up.empty());
  CHECK(listens.end().up.empty());
}

TEST_CASE_FIXTURE(certificates, "a file that cannot be used is named") {
  tk::net::control::link_options how = trusts("ours", "ours");
  how.tls->key = file("theirs-node.key");
  CHECK_THROWS_WITH_AS(link_end{how}, doctest::Contains("cannot use the key"), tk::error);
  how.tls->certificate = file("nowhere.pem");
  CHECK_THROWS_WITH_AS(link_end{how}, doctest::Contains("nowhere.pem"), tk::error);
}
