"""`cudaperf check --format sarif`, against what SARIF 2.1.0 requires of the parts that are written.

The log was validated against sarif-schema-2.1.0.json too, which is not kept here; what that schema asks is spelled below.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from check_command import Check

# key -> (required keys, allowed keys); a list of objects or an object under a key is checked by the key's name.
SHAPES: dict[str, tuple[set[str], set[str]]] = {
    "log": ({"version", "runs"}, {"$schema", "version", "runs"}),
    "runs": ({"tool"}, {"tool", "columnKind", "originalUriBaseIds", "invocations", "results"}),
    "tool": ({"driver"}, {"driver"}),
    "driver": ({"name"}, {"name", "version", "rules"}),
    "rules": ({"id"}, {"id", "name", "shortDescription", "help", "defaultConfiguration"}),
    "defaultConfiguration": (set(), {"level"}),
    "shortDescription": ({"text"}, {"text"}),
    "help": ({"text"}, {"text"}),
    "message": ({"text"}, {"text"}),
    "description": ({"text"}, {"text"}),
    "invocations": ({"executionSuccessful"}, {"executionSuccessful", "toolExecutionNotifications"}),
    "toolExecutionNotifications": ({"message"}, {"message", "level", "locations"}),
    "results": (
        {"message"},
        {"ruleId", "ruleIndex", "level", "message", "locations", "relatedLocations", "properties", "fixes"},
    ),
    "locations": (set(), {"physicalLocation"}),
    "relatedLocations": (set(), {"physicalLocation", "id", "message"}),
    "physicalLocation": ({"artifactLocation"}, {"artifactLocation", "region"}),
    "artifactLocation": ({"uri"}, {"uri", "uriBaseId"}),
    "region": ({"startLine"}, {"startLine", "startColumn", "endLine", "endColumn"}),
    "deletedRegion": ({"startLine"}, {"startLine", "startColumn", "endLine", "endColumn"}),
    "fixes": ({"artifactChanges"}, {"description", "artifactChanges"}),
    "artifactChanges": ({"artifactLocation", "replacements"}, {"artifactLocation", "replacements"}),
    "replacements": ({"deletedRegion"}, {"deletedRegion", "insertedContent"}),
    "insertedContent": (set(), {"text"}),
}
FREE = {"properties", "originalUriBaseIds"}


def conform(name: str, value: Any) -> None:
    if isinstance(value, list):
        for each in value:
            conform(name, each)
    elif isinstance(value, dict) and name not in FREE:
        required, allowed = SHAPES[name]
        assert required <= value.keys() <= allowed, (name, value.keys())
        for key, inner in value.items():
            conform(key, inner)
    elif name in ("startLine", "startColumn", "endLine", "endColumn"):
        assert isinstance(value, int)
        assert value >= 1
    elif name == "level":
        assert value in ("none", "note", "warning", "error")
    elif name == "uri":
        assert re.fullmatch(r"(file://)?[A-Za-z0-9._~/%-]+", value), value
    elif name in ("text", "id") and not isinstance(value, int):
        assert isinstance(value, str)


def log(run: Check, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("check", "--format", "sarif", *arguments).out)
    conform("log", found)
    assert found["version"] == "2.1.0"
    return found


def test_every_part_conforms_and_results_name_rules_and_places(run: Check) -> None:
    Path("a b.cu").write_text("MEND RISKY WORSE\n__global__ void k() { WORTHY; }\n")
    Path("c.cu").write_text("CRASH\n")
    Path("d.cu").write_bytes(b"\0")
    (found,) = log(run)["runs"]
    rules = found["tool"]["driver"]["rules"]
    assert [(r["ruleId"], r["level"]) for r in found["results"]] == [
        ("CP401", "warning"),
        ("CP402", "warning"),
        ("CP301", "error"),
        ("CP103", "note"),
    ]
    assert all(rules[r["ruleIndex"]]["id"] == r["ruleId"] for r in found["results"])
    place = found["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "a%20b.cu", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 5}
    assert found["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"] == {"text": "DONE"}
    (invocation,) = found["invocations"]
    assert invocation["executionSuccessful"] is False
    assert [each["level"] for each in invocation["toolExecutionNotifications"]] == ["error", "warning"]


def test_a_file_outside_the_working_directory_has_an_absolute_uri(run: Check, tmp_path_factory: Any) -> None:
    other = tmp_path_factory.mktemp("other") / "é.cu"
    other.write_text("BAD\n")
    (result,) = log(run, str(other))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": other.as_uri()}


def test_a_clean_run_has_no_results(run: Check) -> None:
    Path("a.cu").write_text("int x;\n")
    (found,) = log(run)["runs"]
    assert found["results"] == []
    assert found["invocations"][0]["executionSuccessful"] is True
