"""The forms in which sessions are exported, by name."""

from __future__ import annotations

from ctxcore.exports.values import ExportError, ExportForm
from ctxcore.reasons.storage_problems import ExportProblem
from ctxcore.reasons.values import quoted
from ctxcore.registries import At, Registry

EXPORT_FORMS: Registry[ExportForm] = Registry(
    "form of export",
    {
        "native": At("ctxcore.exports.native:NATIVE"),
        "openai": At("ctxcore.exports.provider_bodies:OPENAI"),
        "anthropic": At("ctxcore.exports.provider_bodies:ANTHROPIC"),
        "responses": At("ctxcore.exports.provider_bodies:RESPONSES"),
        "gemini": At("ctxcore.exports.provider_bodies:GEMINI"),
        "claude-code": At("ctxcore.exports.claude_code:CLAUDE_CODE"),
        "markdown": At("ctxcore.exports.markdown:MARKDOWN"),
        "html": At("ctxcore.exports.conversation_page:HTML"),
        "usage-csv": At("ctxcore.exports.usage:USAGE_CSV"),
        "usage-parquet": At("ctxcore.exports.usage:USAGE_PARQUET"),
    },
)


def export_form(name: str) -> ExportForm:
    """The form of this name.

    Raises:
        ExportError: there is none.
    """
    if name not in EXPORT_FORMS:
        problem = ExportProblem.NO_FORM(form=quoted(name), names=tuple(EXPORT_FORMS))
        raise ExportError(problem=problem)
    return EXPORT_FORMS[name]


def register_export_form(form: ExportForm) -> None:
    """Adds a form, offered by `ContextEngine.export`, `ctxcore export` and the Sessions page.

    Raises:
        NameTakenError: there is a form of this name.
    """
    EXPORT_FORMS.register(form.name, form)
