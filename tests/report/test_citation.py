"""BibTeX entries of published studies and of Tare."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

import tare
from tare.report.citation import STUDIES, citations, published, tare_itself

from .sample import sample_analysis

CHECKOUT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", STUDIES)
def test_every_entry_is_well_formed(name: str) -> None:
    entry = STUDIES[name].bibtex()
    assert re.match(r"@(techreport|article|inproceedings|mastersthesis)\{[a-z0-9]+,\n", entry)
    assert entry.count("{") == entry.count("}")
    for field in ("author", "title", "year"):
        assert re.search(rf"^  {field} = \{{.+\}},$", entry, re.MULTILINE)
    assert name.rpartition("-")[2] == STUDIES[name].fields["year"]


def test_a_study_is_known_by_its_name_and_by_what_follows_it() -> None:
    assert published("grambow-2018") is STUDIES["grambow-2018"]
    assert published("grambow-2018-m3-large") is STUDIES["grambow-2018"]
    assert published("docker-thesis") is STUDIES["chekkilla-2017"]
    assert published("grambow-20181") is None
    assert published("quickstart") is None


def test_a_repetition_cites_the_original_and_tare() -> None:
    analysis = sample_analysis()
    assert citations(analysis) == [tare_itself()]
    analysis.study = "truyen-2018"
    assert [c.key for c in citations(analysis)] == ["truyen2018orchestration", "tare"]


def test_the_citation_file_is_of_this_version() -> None:
    file = YAML(typ="safe").load((CHECKOUT / "CITATION.cff").read_text(encoding="utf-8"))
    assert file["version"] == tare.__version__
    assert file["license"] == "Apache-2.0"
    assert f"version = {{{tare.__version__}}}" in tare_itself().bibtex()
