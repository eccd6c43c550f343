"""What a cloud changes in the requests of a protocol that it serves: paths, versions, and where the model is named."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from attrs import evolve

from thinkaloud.models.address import Address
from thinkaloud.models.provider import Form
from thinkaloud.protocols.anthropic.encode import API_VERSION
from thinkaloud.protocols.base import Call, Encoded
from thinkaloud.protocols.id_in_path import quoted


def in_form_of(address: Address, encoded: Encoded, call: Call) -> Encoded:
    """A request as the endpoint at an address wants it."""
    return _FORMS[address.form](address, encoded, call)


def _plain(address: Address, encoded: Encoded, call: Call) -> Encoded:
    return encoded


_DATED = re.compile(r"\d{4}-\d\d-\d\d(-[a-z]+)?")


def _azure(address: Address, encoded: Encoded, call: Call) -> Encoded:
    """Azure OpenAI: the v1 surface, or the older one, which a dated version chooses.

    The older one has the version in its query, and on chat the deployment in its path. The v1 surface refuses dated
    versions; others, such as "preview", it takes.
    """
    version = address.parts.get("api_version", "v1")
    dated = _DATED.fullmatch(version) is not None
    if address.url.endswith("/v1") and dated:
        return encoded
    path = encoded.path
    if dated and path == "/chat/completions":
        path = f"/deployments/{quoted(call.model.id)}{path}"
    if not dated and address.url.endswith("/openai"):
        path = f"/v1{path}"
    return evolve(encoded, path=path if version == "v1" else f"{path}?api-version={version}")


# The first version of the API by the name that Google has for it (Anthropic's documentation); later ones have one name.
_VERTEX_VERSIONS = {API_VERSION: "vertex-2023-10-16"}


def _vertex_anthropic(address: Address, encoded: Encoded, call: Call) -> Encoded:
    """Claude on Vertex AI: the path names the model, and the body the version."""
    place = f"/projects/{address.parts['project']}/locations/{address.parts['location']}"
    method = "streamRawPredict" if call.stream else "rawPredict"
    headers = dict(encoded.headers)
    version = headers.pop("anthropic-version", API_VERSION)
    body = {name: value for name, value in encoded.body.items() if name != "model"}
    return evolve(
        encoded,
        path=f"{place}/publishers/anthropic/models/{quoted(call.model.id, safe='@')}:{method}",
        headers=headers,
        body={"anthropic_version": _VERTEX_VERSIONS.get(version, version), **body},
    )


_FORMS: Mapping[Form, Callable[[Address, Encoded, Call], Encoded]] = {
    "plain": _plain,
    "azure": _azure,
    "vertex-anthropic": _vertex_anthropic,
}
