"""A request as it would be sent, for people or as JSON; nothing is sent."""

from __future__ import annotations

import json

from thinkaloud.cli.output import Output, one_line
from thinkaloud.plan import Plan


def show_plan(out: Output, plan: Plan) -> None:
    """Print a plan: address, headers, body, the level, and what was changed."""
    out.line(f"{plan.request.method} {plan.url}")
    for name, value in plan.headers.items():
        out.line(f"{name}: {one_line(value)}")
    out.line("")
    out.line(json.dumps(plan.body, indent=2, ensure_ascii=False))
    out.line("")
    asked, sent = ("none" if level is None else level.value for level in plan.level)
    out.line(f"level: {asked} asked, {sent} sent")
    for notice in plan.notices:
        out.line(f"notice: {one_line(notice.text or notice.code)} ({notice.code})")


def plan_json(plan: Plan) -> str:
    """The same as one line of JSON."""
    asked, sent = (None if level is None else level.value for level in plan.level)
    return json.dumps(
        {
            "method": plan.request.method,
            "url": plan.url,
            "headers": dict(plan.headers),
            "body": plan.body,
            "level": {"asked": asked, "sent": sent},
            "notices": [
                {"code": notice.code, "text": notice.text, "path": notice.path, "detail": notice.detail}
                for notice in plan.notices
            ],
        }
    )
