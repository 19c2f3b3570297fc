# SPDX-License-Identifier: Apache-2.0
"""As much of C++ as tidy.py has to understand."""

import re

# What must not be read as code. A quote after a digit or letter (1'000) starts no character, but for u8'x' and kin.
_NOT_CODE = re.compile(
    r"""
    //(?:\\\n|[^\n])*
  | /\*.*?\*/
  | (?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
  | "(?:\\.|[^"\\\n])*"
  | (?:(?<!\w)|(?<=\bu8)|(?<=\b[uUL]))'(?:\\.|[^'\\\n])+'
    """,
    re.VERBOSE | re.DOTALL)


def blank(text):
    """`text` with comments and literals as blanks: the same lines and columns, braces and words only of code."""
    return _NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def includes(text, code):
    """(line, name) for each #include; `code` tells those that are comments."""
    for number, (line, bare) in enumerate(zip(text.splitlines(), code.splitlines()), start=1):
        if re.match(r"\s*#\s*include\b", bare):
            match = re.search(r'[<"]([^>"]+)[>"]', line)
            if match:
                yield number, match[1]


def bodies(code):
    """(line of the opening brace, line of the closing one) of each function, from text that went through `blank`.

    A lambda or a local class is a part of the function around it. Braces in branches of #if have to balance.
    """
    code = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda m: re.sub(r"[^\n]", " ", m[0]), code, flags=re.MULTILINE)
    line = 1
    scopes = []  # of each open brace: whether functions may be in it, and the line where it opened if it is one
    head = ""  # what was read since the last brace or semicolon
    for token in re.finditer(r"[{};\n]|[^{};\n]+", code):
        word = token[0]
        if word == "\n":
            line += 1
            head += " "
        elif word == "{":
            outside = all(open_scope for open_scope, _ in scopes)
            kind = _kind(head) if outside else "inside"
            scopes.append((kind == "scope", line if kind == "body" else None))
            head = ""
        elif word == "}":
            if scopes:
                _, opened = scopes.pop()
                if opened is not None:
                    yield opened, line
            head = ""
        elif word == ";":
            # not the end of a head where it stands in parentheses, as in for (;;)
            head = "" if head.count("(") <= head.count(")") else head + word
        else:
            head += word


# Macros that stand before a declaration, without a semicolon.
_MACROS = r"^(?:[A-Z][A-Z0-9_]+\s*(?:\((?:[^()]|\([^()]*\))*\))?\s+)+(?=\S)"


def _kind(head):
    """What the brace after `head` opens outside of functions: a scope (of functions), a body, or values."""
    head = re.sub(r"\[\[.*?\]\]|\balignas\s*\([^)]*\)", " ", head).strip()
    head = re.sub(r"^(?:(?:public|private|protected)\s*:\s*)+", "", head)
    head = _without_template(re.sub(_MACROS, "", head))
    if re.match(r"(?:inline\s+)?namespace\b|extern\s*$", head):
        return "scope"
    if re.match(r"(?:typedef\s+|static\s+|inline\s+|constexpr\s+|const\s+)*(?:class|struct|union|enum)\b", head):
        if "(" not in head:
            return "scope"
    if head.endswith("="):
        return "values"
    # An empty head follows a member's braces in a constructor's list of initialisers, as does a comma.
    if "(" in head or re.search(r"\]\s*$", head) or head == "" or head[0] in ",:":
        return "body"
    return "values"


def _without_template(head):
    """`head` without a leading template<…>, whose brackets may nest."""
    while match := re.match(r"template\s*<", head):
        depth, end = 1, match.end()
        while depth and end < len(head):
            depth += {"<": 1, ">": -1}.get(head[end], 0)
            end += 1
        head = head[end:].strip()
    return head
