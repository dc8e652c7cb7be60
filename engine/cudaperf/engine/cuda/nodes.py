"""What every reader of tree-sitter nodes asks of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node

STATEMENTS: Final = frozenset(
    [
        "compound_statement",
        "declaration",
        "expression_statement",
        "if_statement",
        "for_statement",
        "while_statement",
        "do_statement",
        "switch_statement",
        "return_statement",
        "break_statement",
        "continue_statement",
        "goto_statement",
        "labeled_statement",
        "case_statement",
        "for_range_loop",
        "try_statement",
        "attributed_statement",
    ]
)
"""The types of nodes that are statements."""


def spelling(node: Node) -> str:
    """The bytes that a node spans, as text."""
    data = node.text
    return data.decode("utf-8", "replace") if data is not None else ""


def alive(node: Node) -> Node | None:
    """Where `#if 0` leads to: its `#else` or `#elif`. The node itself for other conditions, None where nothing is left."""
    if node.type != "preproc_if":
        return node
    condition = node.child_by_field_name("condition")
    if condition is None or spelling(condition).strip() != "0":
        return node
    return node.child_by_field_name("alternative")


def first_child(node: Node) -> Node | None:
    """The first named child that is no comment."""
    return next((child for child in node.named_children if child.type != "comment"), None)
