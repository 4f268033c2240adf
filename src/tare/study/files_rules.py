"""What is wrong with a study's `files` section: fields and levels that the study does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.nearest import nearest
from tare.study.problems import Problem, remedy_for
from tare.study.template import PLACES, Template, TemplateError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.study.schema import Study


def files_problems(study: Study) -> Iterator[Problem]:
    """A template that cannot be read, and fields, factors and levels that do not exist."""
    yield from _template_problems(study)
    yield from _values_problems(study)


def _template_problems(study: Study) -> Iterator[Problem]:
    text = study.files.template
    if text is None:
        return
    where = study.origin(("files", "template"))
    try:
        fields = Template.parse(text).fields
    except TemplateError as error:
        yield Problem(where, f"files.template: {error}", f"in {text!r}", "write it as name_{field}")
        return
    for field in fields:
        if field not in study.factors and field not in PLACES:
            near = nearest(field, [*study.factors, *PLACES])
            yield Problem(
                where,
                f"files.template: unknown field {{{field}}}",
                f"fields are factors ({', '.join(study.factors) or 'none'}), "
                f"{', '.join(PLACES)} and {{_}}, which is ignored",
                f"did you mean {{{near}}}?" if near else "write {_} to ignore that part",
            )


def _values_problems(study: Study) -> Iterator[Problem]:
    for factor, texts in study.files.values.items():
        levels = study.factors.get(factor)
        if levels is None:
            yield Problem(
                study.origin(("files", "values", factor)),
                f"files.values.{factor}: unknown factor",
                f"factors: {', '.join(study.factors) or 'none'}",
                remedy_for(factor, study.factors),
            )
            continue
        for text, level in texts.items():
            if level not in levels:
                yield Problem(
                    study.origin(("files", "values", factor, text)),
                    f"files.values.{factor}.{text}: unknown level {level!r}",
                    f"levels of {factor}: {', '.join(levels)}",
                    remedy_for(level, levels),
                )
