"""Works to cite: Tare itself, and the published study that a study repeats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import tare

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.analysis.model import Analysis


@dataclass(frozen=True)
class Citation:
    """One BibTeX entry."""

    kind: str
    key: str
    fields: Mapping[str, str]

    def bibtex(self) -> str:
        """The entry, a field per line. All texts are Tare's own, so nothing needs escaping."""
        lines = [f"  {name} = {{{value}}}," for name, value in self.fields.items()]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])


# From the papers' own title pages. The two theses were found by their abstracts, as the entries
# say: another thesis of that group begins with the same text.
STUDIES: dict[str, Citation] = {
    "grambow-2018": Citation(
        "techreport",
        "grambow2018dockerization",
        {
            "author": "Grambow, Martin and Hasenburg, Jonathan and Pfandzelter, Tobias and "
            "Bermbach, David",
            "title": "Dockerization Impacts in Database Performance Benchmarking",
            "institution": "TU Berlin \\& ECDF, Mobile Cloud Computing Research Group",
            "number": "MCC.2018.1",
            "year": "2018",
        },
    ),
    "shirinbab-2020": Citation(
        "article",
        "shirinbab2020containers",
        {
            "author": "Shirinbab, Sogand and Lundberg, Lars and Casalicchio, Emiliano",
            "title": "Performance evaluation of containers and virtual machines when running "
            "{Cassandra} workload concurrently",
            "journal": "Concurrency and Computation: Practice and Experience",
            "volume": "32",
            "number": "17",
            "pages": "e5693",
            "year": "2020",
            "doi": "10.1002/cpe.5693",
        },
    ),
    "truyen-2018": Citation(
        "inproceedings",
        "truyen2018orchestration",
        {
            "author": "Truyen, Eddy and Bruzek, Matt and Van Landuyt, Dimitri and Lagaisse, Bert "
            "and Joosen, Wouter",
            "title": "Evaluation of container orchestration systems for deploying and managing "
            "{NoSQL} database clusters",
            "booktitle": "2018 IEEE 11th International Conference on Cloud Computing (CLOUD)",
            "year": "2018",
        },
    ),
    "chekkilla-2017": Citation(
        "mastersthesis",
        "chekkilla2017monitoring",
        {
            "author": "Chekkilla, Avinash Goud",
            "title": "Monitoring and Analysis of {CPU} Utilization, Disk Throughput and Latency in "
            "servers running {Cassandra} database: An Experimental Investigation",
            "school": "Blekinge Institute of Technology",
            "year": "2017",
            "note": "identified by its abstract; check author and title",
        },
    ),
    "vellanki-2017": Citation(
        "mastersthesis",
        "vellanki2017performance",
        {
            "author": "Vellanki, Mohit",
            "title": "Performance Evaluation of {Cassandra} in a Virtualized Environment",
            "school": "Blekinge Institute of Technology",
            "year": "2017",
            "note": "identified by its abstract; check author and title",
        },
    ),
}
ALIASES = {
    "bth-docker-2016": "chekkilla-2017",
    "bth-2016-docker": "chekkilla-2017",
    "bth-2016-cassandra-docker": "chekkilla-2017",
    "docker-thesis": "chekkilla-2017",
    "bth-kvm-2016": "vellanki-2017",
    "bth-2016-kvm": "vellanki-2017",
    "bth-2016-cassandra-kvm": "vellanki-2017",
    "kvm-thesis": "vellanki-2017",
}
"""Other names of the two theses."""


def tare_itself() -> Citation:
    """Tare, in the version that runs."""
    fields = {
        "author": "{The Tare authors}",
        "title": "{Tare}: what the platform under a {NoSQL} database cluster costs",
        "version": tare.__version__,
        "note": "Computer software",
    }
    return Citation("misc", "tare", fields)


def published(study: str) -> Citation | None:
    """The published study that a study of this name repeats, e.g. grambow-2018-m3-large.

    None where the name refers to no publication.
    """
    for name in (*STUDIES, *ALIASES):
        if study == name or study.startswith(f"{name}-"):
            return STUDIES[ALIASES.get(name, name)]
    return None


def citations(analysis: Analysis) -> list[Citation]:
    """The works that a paper with this analysis has to cite: the study repeated, then Tare."""
    source = published(analysis.study)
    return [source, tare_itself()] if source else [tare_itself()]
