"""Checks and renders templates with real Jinja2. Reads and writes one JSON object per line.

A request is {"source": str, "context": object or null}. The answer has "valid", and either "error"
({"type", "message", "line"}) or "paths" ([[dotted path, line of first use], ...], sorted); with a
context also "output" or "failure" (the name of the exception).
"""

import json
import sys
from datetime import datetime

from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.compiler import CodeGenerator
from jinja2.sandbox import SandboxedEnvironment


def format_datetime(value, format="%Y-%m-%d %H:%M"):
    if not value and value != 0:
        return ""
    if isinstance(value, (int, float)):
        return datetime.utcfromtimestamp(value).strftime(format)
    return datetime.fromisoformat(value.replace("Z", "+00:00")).strftime(format)


def with_platform_filters(environment):
    environment.filters["datetime"] = format_datetime
    return environment


plain = with_platform_filters(Environment())
sandbox = with_platform_filters(SandboxedEnvironment())


class PathFinder(CodeGenerator):
    """Records the paths that a template reads from its context, by Jinja2's own scoping."""

    def __init__(self):
        super().__init__(plain, "<paths>", "<paths>", optimized=False)
        self.lines = {}

    def write(self, x):
        pass

    def fail(self, message, line):
        pass

    def note(self, name, path, line, frame):
        symbols = frame.symbols
        while symbols is not None:
            if name in symbols.refs:
                action = symbols.loads[symbols.refs[name]][0]
                if action == "resolve":
                    if name not in plain.globals:
                        self.lines[path] = min(line, self.lines.get(path, line))
                    return
                if action != "alias":
                    return
            symbols = symbols.parent

    def visit_Name(self, node, frame):
        if node.ctx == "load":
            self.note(node.name, node.name, node.lineno, frame)

    def visit_NSRef(self, node, frame):
        self.note(node.name, node.name, node.lineno, frame)

    def chain(self, node, frame, called):
        """Records the path of a chain of attributes. `called`: its last attribute is a method."""
        segments, node_line = [], None
        while isinstance(node, (nodes.Getattr, nodes.Getitem)):
            if isinstance(node, nodes.Getattr):
                segments.append("." + node.attr)
            elif isinstance(node.arg, nodes.Const) and type(node.arg.value) is str:
                segments.append("." + node.arg.value)
            elif isinstance(node.arg, nodes.Const) and type(node.arg.value) is int:
                segments.append(f"[{node.arg.value}]")
            else:
                # A computed key ends the path; names in its expression are recorded, too.
                self.visit(node.arg, frame) if not isinstance(node.arg, nodes.Slice) else None
                if isinstance(node.arg, nodes.Slice):
                    for part in (node.arg.start, node.arg.stop, node.arg.step):
                        if part is not None:
                            self.visit(part, frame)
                segments, called = [], False
            node = node.node
        segments.reverse()
        if called and segments:
            segments.pop()
        if isinstance(node, nodes.Name):
            self.note(node.name, node.name + "".join(segments), node.lineno, frame)
        else:
            self.visit(node, frame)

    def visit_Getattr(self, node, frame):
        self.chain(node, frame, False)

    visit_Getitem = visit_Getattr

    def visit_Call(self, node, frame, forward_caller=False):
        if isinstance(node.node, (nodes.Getattr, nodes.Getitem)):
            self.chain(node.node, frame, True)
        else:
            self.visit(node.node, frame)
        self.signature(node, frame)

    def visit_Output(self, node, frame):
        for child in node.nodes:
            self.visit(child, frame)

    def visit_TemplateData(self, node, frame):
        pass

    def blockvisit(self, nodes, frame):
        for node in nodes:
            self.visit(node, frame)

    def visit_Extends(self, node, frame):
        self.visit(node.template, frame)


def find_paths(source):
    finder = PathFinder()
    finder.visit(plain.parse(source))
    return sorted([path, line] for path, line in finder.lines.items())


def answer(request):
    source = request["source"]
    try:
        template = plain.from_string(source)
    except TemplateSyntaxError as error:
        details = {"type": type(error).__name__, "message": error.message, "line": error.lineno}
        return {"valid": False, "error": details}
    except Exception as error:
        details = {"type": type(error).__name__, "message": str(error), "line": None}
        return {"valid": False, "error": details}
    result = {"valid": True, "paths": find_paths(source)}
    context = request.get("context")
    if context is not None:
        try:
            result["output"] = sandbox.from_string(source).render(context)
        except Exception as error:
            result["failure"] = type(error).__name__
    return result


def main():
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
        sys.stdout.flush()


main()
