"""Refused mongod settings: with them, members could not be started, watched or compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.study.conftest import ReadStudy, RefuseStudy

STUDY = """\
study: x
database:
  kind: mongodb
  version: "%s"
  settings:
    storage:
%s
"""
CACHE = "      wiredTiger: {engineConfig: {%s}}"


@pytest.mark.parametrize(
    ("setting", "why", "remedy"),
    [
        (CACHE % "cacheSizePct: 40", "share of the memory that the server sees", "remove it"),
        (CACHE % "cacheSizeGB: 0.1", "no less than 0.25", "at least 0.25"),
        ("      journal: {enabled: true}", "always keep a journal", "remove it"),
        ("      dbPath: /data", "Tare sets it for each member", "remove it"),
    ],
)
def test_a_setting_that_cannot_work_is_refused_where_it_is_written(
    refuse: RefuseStudy, setting: str, why: str, remedy: str
) -> None:
    error = refuse(STUDY % ("7.0", setting))
    assert error.what.startswith("database.settings: storage.")
    assert why in error.why
    assert remedy in error.remedy
    assert error.where in ("study.yaml:5", "study.yaml:7")


@pytest.mark.parametrize(
    "override",
    ["net.port=1", "processManagement.fork=true", "security.authorization=enabled"],
)
def test_what_would_hide_a_member_is_refused(refuse: RefuseStudy, override: str) -> None:
    text = 'study: x\ndatabase: {kind: mongodb, version: "7.0"}\n'
    error = refuse(text, (f"database.settings.{override}",))
    assert error.what == f"database.settings: {override.partition('=')[0]}"


def test_a_setting_with_dots_is_to_be_written_nested(refuse: RefuseStudy) -> None:
    text = 'study: x\ndatabase: {kind: mongodb, version: "7.0", settings: {net.port: 1}}\n'
    error = refuse(text)
    assert error.what == "database.settings: net.port"
    assert error.remedy == "write it nested: {net: {port: ...}}"


def test_other_settings_are_the_study_s_own(read: ReadStudy) -> None:
    cache = CACHE % "cacheSizeGB: 0.25"
    kept = read(STUDY % ("7.0", cache)).database.settings
    assert kept["storage"]["wiredTiger"]["engineConfig"] == {"cacheSizeGB": 0.25}
    old = read(STUDY % ("6.0.20", "      journal: {enabled: true}")).database.settings
    assert old == {"storage": {"journal": {"enabled": True}}}
