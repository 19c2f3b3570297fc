#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants a violation of each rule of tidy.py, and things that only look like one."""

import unittest

from cpp import blank, bodies
from tidy import SPDX, complaints

HEADER = f"{SPDX}\n#pragma once\n"
SOURCE = f"{SPDX}\n"


def check(files, parts=("base", "runtime")):
    return [(path, line, rule) for path, line, rule, _ in complaints(files, set(parts))]


def check_one(path, text):
    return [(line, rule) for _, line, rule in check({path: SOURCE + text})]


class Files(unittest.TestCase):
    def test_clean_files_have_no_complaint(self):
        self.assertEqual([], check({
            "libtwinkle/include/twinkle/base/a.hpp": HEADER,
            "libtwinkle/src/base/b.hpp": HEADER,
            "libtwinkle/src/base/a.cpp": SOURCE + '#include "twinkle/base/a.hpp"\n#include "b.hpp"\n',
            "tests/base/a.cpp": SOURCE,
        }))

    def test_the_licence_is_the_first_line(self):
        self.assertEqual([("a.cpp", 1, "licence")], check({"a.cpp": "\n" + SOURCE}))
        self.assertEqual([("a.cpp", 1, "licence")], check({"a.cpp": ""}))

    def test_a_header_says_pragma_once_in_code(self):
        self.assertEqual([("a.hpp", 1, "pragma")], check({"a.hpp": SOURCE + "// #pragma once\n"}))

    def test_a_file_has_399_lines_at_most(self):
        self.assertEqual([], check_one("a.cpp", "int a;\n" * 398))
        self.assertEqual([(400, "file length")], check_one("a.cpp", "int a;\n" * 399))

    def test_private_headers_that_nobody_includes_are_dead(self):
        self.assertEqual([("actors/src/runtime/a.hpp", 1, "dead file")],
                         check({"actors/src/runtime/a.hpp": HEADER, "a.cpp": SOURCE + '// #include "a.hpp"\n'}))

    def test_tests_that_no_target_builds_are_dead(self):
        self.assertEqual([("tests/forgotten/a.cpp", 1, "dead test"), ("tests/base/deep/a.cpp", 1, "dead test")],
                         check({"tests/forgotten/a.cpp": SOURCE, "tests/base/deep/a.cpp": SOURCE,
                                "tests/main.cpp": SOURCE}))


class Walls(unittest.TestCase):
    def include(self, path, name):
        files = {
            "libtwinkle/include/twinkle/base/in_base.hpp": HEADER,
            "libtwinkle/include/twinkle/data/in_data.hpp": HEADER,
            "libtwinkle/include/twinkle/flow/in_flow.hpp": HEADER,
            "libtwinkle/include/twinkle/observe/in_observe.hpp": HEADER,
            "actors/include/twinkle/runtime/in_runtime.hpp": HEADER,
            "actors/include/twinkle/sim/in_actors_sim.hpp": HEADER,
            "actors/src/runtime/hidden.hpp": HEADER,
            "actors/src/runtime/uses.cpp": SOURCE + '#include "hidden.hpp"\n',
            path: HEADER + f"#include {name}\n",
        }
        return [rule for _, _, rule in check(files)]

    def test_parts_know_lower_parts_and_observe(self):
        self.assertEqual([], self.include("libtwinkle/src/flow/a.cpp", '"twinkle/data/in_data.hpp"'))
        self.assertEqual([], self.include("libtwinkle/src/data/a.cpp", '"twinkle/observe/in_observe.hpp"'))
        self.assertEqual([], self.include("libtwinkle/src/observe/a.cpp", "<twinkle/base/in_base.hpp>"))

    def test_parts_do_not_know_higher_parts(self):
        for path, name in (("libtwinkle/src/data/a.cpp", '"twinkle/flow/in_flow.hpp"'),
                           ("libtwinkle/include/twinkle/data/a.hpp", "<twinkle/flow/in_flow.hpp>"),
                           ("libtwinkle/src/data/a.cpp", '"../../include/twinkle/flow/in_flow.hpp"'),
                           ("libtwinkle/src/observe/a.cpp", '"twinkle/data/in_data.hpp"'),
                           ("libtwinkle/src/base/a.cpp", '"twinkle/observe/in_observe.hpp"')):
            self.assertEqual(["wall"], self.include(path, name), name)

    def test_the_core_does_not_know_the_actors(self):
        for name in ("twinkle/runtime/in_runtime.hpp", "twinkle/sim/in_actors_sim.hpp", "twinkle/runtime/absent.hpp"):
            self.assertEqual(["wall"], self.include("libtwinkle/src/sim/a.cpp", f'"{name}"'), name)

    def test_public_headers_do_not_know_private_ones(self):
        self.assertEqual(["wall"],
                         self.include("actors/include/twinkle/runtime/a.hpp", '"../../../src/runtime/hidden.hpp"'))

    def test_caf_lives_in_files_named_for_it(self):
        for path in ("actors/src/runtime/caf_post.cpp", "tools/bench/fan.cpp", "examples/interop.cpp"):
            self.assertEqual([], self.include(path, "<caf/actor.hpp>"), path)
        for path in ("actors/src/runtime/router.cpp", "actors/include/twinkle/runtime/a.hpp", "tests/runtime/a.cpp",
                     "libtwinkle/src/base/a.cpp", "examples/a.cpp", "tools/a.cpp"):
            self.assertEqual(["caf"], self.include(path, "<caf/actor.hpp>"), path)

    def test_asio_lives_in_the_actors_sources(self):
        self.assertEqual([], self.include("actors/src/net/a.cpp", "<boost/asio.hpp>"))
        for path in ("actors/include/twinkle/runtime/a.hpp", "libtwinkle/src/base/a.cpp", "tests/runtime/a.cpp"):
            self.assertEqual(["asio"], self.include(path, "<boost/asio/ip/tcp.hpp>"), path)

    def test_torch_lives_in_its_own_folder(self):
        self.assertEqual([], self.include("actors/src/torch/a.cpp", "<ATen/core/Tensor.h>"))
        for path in ("actors/include/twinkle/torch/a.hpp", "actors/src/runtime/a.cpp", "examples/grpo_sort.cpp"):
            self.assertEqual(["torch"], self.include(path, "<torch/torch.h>"), path)
        self.assertEqual([], self.include("examples/grpo_sort.cpp", '"twinkle/torch/policy.hpp"'))

    def test_doctest_is_the_tests_own_and_that_of_one_public_folder(self):
        for path in ("tests/base/a.cpp", "actors/include/twinkle/testing/a.hpp", "examples/a.cpp"):
            self.assertEqual([], self.include(path, "<doctest/doctest.h>"), path)
        for path in ("actors/include/twinkle/sim/a.hpp", "actors/src/sim/a.cpp", "libtwinkle/src/base/a.cpp"):
            self.assertEqual(["doctest"], self.include(path, "<doctest/doctest.h>"), path)

    def test_public_headers_hold_no_json(self):
        self.assertEqual([], self.include("libtwinkle/src/data/a.cpp", "<boost/json.hpp>"))
        self.assertEqual(["json"], self.include("libtwinkle/include/twinkle/data/a.hpp", "<boost/json.hpp>"))


class Banned(unittest.TestCase):
    def test_each_is_found_where_it_stands(self):
        for text, rule in (("auto t = std::chrono::steady_clock::now();", "clock"),
                           ("auto t = clock::system_clock::now();", "clock"),
                           ("auto t = time(nullptr);", "clock"),
                           ("std::thread t;", "thread"),
                           ("std::jthread t;", "thread"),
                           ("std::this_thread::sleep_for(1s);", "sleep"),
                           ("std::random_device d;", "random"),
                           ("std::mt19937_64 d;", "random"),
                           ("std::normal_distribution<> d;", "random"),
                           ("int x = rand();", "random"),
                           ('auto x = std::getenv("X");', "environment")):
            self.assertEqual([(3, rule)], check_one("libtwinkle/src/base/a.cpp", "\n" + text), text)

    def test_comments_literals_and_lookalikes_are_not(self):
        for text in ("// std::thread", "/* rand() */", 'auto x = "std::thread";', 'R"(getenv)"', "std::thread::id i;",
                     "nanoseconds time() const;", "now = clock.now();", "operand(1);", "seed.rand();",
                     "std::this_thread::get_id();", "context.sleep_for(1s);"):
            self.assertEqual([], check_one("libtwinkle/src/base/a.cpp", text), text)

    def test_the_real_sides_of_the_seams_may(self):
        text = "auto t = std::chrono::steady_clock::now(); std::thread x; std::random_device d; std::getenv(y);"
        self.assertEqual([], check_one("actors/src/runtime/real_clock.cpp", text))
        self.assertEqual([], check_one("tools/bench/a.cpp", text))

    def test_the_baton_may_have_threads_only(self):
        self.assertEqual([], check_one("actors/src/sim/baton.cpp", "std::jthread t;"))
        self.assertEqual([(2, "random")], check_one("actors/src/sim/baton.cpp", "std::random_device t;"))

    def test_tests_may_have_threads_but_not_sleep(self):
        self.assertEqual([], check_one("tests/base/a.cpp", "std::thread t;"))
        self.assertEqual([(2, "sleep")], check_one("tests/base/a.cpp", "std::this_thread::sleep_until(t);"))


    def test_a_property_that_fails_must_fail_its_test(self):
        self.assertEqual([(2, "property")], check_one("tests/base/a.cpp", "rc::check([] {});"))
        self.assertEqual([], check_one("tests/for_all.hpp", "#pragma once\nrc::check(property);"))


class Bodies(unittest.TestCase):
    def lengths(self, text):
        return [last - first - 1 for first, last in bodies(blank(text))]

    def test_a_body_has_69_lines_at_most(self):
        self.assertEqual([], check_one("a.cpp", "void f() {\n" + "g();\n" * 69 + "}\n"))
        self.assertEqual([(2, "function length")], check_one("a.cpp", "void f() {\n" + "g();\n" * 70 + "}\n"))

    def test_scopes_are_no_bodies_but_have_them(self):
        self.assertEqual([1, 2], self.lengths(
            "namespace a::b {\nclass [[nodiscard]] c final : public d<e> {\n public:\n  c() {\n1;\n}\n"
            "  struct f { int x = 0; };\n  template <class T, class U = v<T>>\n  void g(T (&h)[2]) const {\n\n\n}\n};\n}\n"))
        self.assertEqual([1], self.lengths("template <class T>\nstruct s {\n void f() {\n\n}\n int a;\n};\nenum class e {\na,\nb };"))
        self.assertEqual([1], self.lengths('extern "C" {\nvoid f() {\n\n}\n}\n'))

    def test_macros_before_a_scope_hide_nothing(self):
        self.assertEqual([1], self.lengths(
            "BEGIN_BLOCK(a, b)\nADD_ID(a, (b::c))\nEND_BLOCK(a)\n\nnamespace b {\nEXPORT class c {\nvoid f() {\n\n}\n};\n}\n"))

    def test_values_are_no_bodies(self):
        self.assertEqual([], self.lengths("constexpr int a[] = {\n1,\n2};\nconst table t{\n1,\n2};\nint x = y{\n};\n"))

    def test_a_constructor_with_initialisers_is_one_body(self):
        for text in ("c::c(int x) : a_(x), b_{x}, d_{\nx} {\n\n\n\n}\n", "c::c() : a_{1} {\n\n\n\n}\n",
                     "c::c()\n: a_{1}\n, b_(2) {\n\n\n\n}\n"):
            self.assertEqual(3, self.lengths(text)[-1], text)

    def test_lambdas_and_local_types_count_for_their_function(self):
        self.assertEqual([5], self.lengths("void f() {\n auto g = [] {\n h();\n };\n struct s { int x() { return 1; } };\n\n}\n"))
        self.assertEqual([1], self.lengths("const auto f = [](int x) {\n\n};\n"))

    def test_functions_of_all_kinds_are_seen(self):
        for head in ("a& operator=(a&& x) noexcept", "auto f(int x = 3) -> b", "struct a f()", "TEST_CASE(\"x {\")",
                     "constexpr bool operator==(const a&, const a&)", "template <class T> requires c<T> void f(T)",
                     "private: void f()", "void f() const&", "[[nodiscard]] int f()", "~a()", "void f() try"):
            self.assertEqual([2], self.lengths(head + " {\nfor (;;) { }\n\n}\n"), head)

    def test_braces_that_are_not_code_do_not_count(self):
        for text in ("// }\n", "/* } */\n", "'}';\n", '"}\\"}";\n', 'R"x(}\n")y")x";', "1'000'000;\n", "u8'}';\n",
                     "#define X }\n", "#define Y \\\n"):
            self.assertEqual([2], self.lengths("void f() {\n" + text + "\n}\n"), text)


if __name__ == "__main__":
    unittest.main()
