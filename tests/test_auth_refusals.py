"""Wrong and expired credentials, as each cloud refuses them: one class, whatever the wire."""

from __future__ import annotations

import json
from typing import Any

import pytest

import thinkaloud as ta


def refused(protocol: str, status: int, body: Any, headers: dict[str, str] | None = None) -> ta.ProviderError:
    with pytest.raises(ta.ProviderError) as caught:
        ta.parse(protocol, [json.dumps(body).encode()], status=status, headers=headers or {})
    return caught.value


AWS_NAMES = [
    "UnrecognizedClientException",
    "InvalidSignatureException",
    "ExpiredTokenException",
    "MissingAuthenticationTokenException",
    "IncompleteSignatureException",
    "SignatureDoesNotMatch",
    "InvalidClientTokenId",
]


@pytest.mark.parametrize("protocol", ["bedrock-converse", "anthropic-messages"])
@pytest.mark.parametrize("name", AWS_NAMES)
@pytest.mark.parametrize("status", [400, 403])
def test_aws_refuses_a_signature(protocol: str, name: str, status: int) -> None:
    headers = {"x-amzn-errortype": f"{name}:http://internal.amazon.com/coral/"}
    error = refused(protocol, status, {"message": "No."}, headers)
    assert type(error) is ta.AuthenticationError
    assert (error.code, error.status, error.retryable) == (name, status, False)


@pytest.mark.parametrize(
    "message",
    [
        "Authentication failed: Please make sure your API Key is valid.",
        "The security token included in the request is expired",
        "Bearer Token has expired",
    ],
)
def test_bedrock_refuses_a_key_under_the_name_of_a_missing_permission(message: str) -> None:
    error = refused("bedrock-converse", 403, {"Message": message}, {"x-amzn-errortype": "AccessDeniedException"})
    assert type(error) is ta.AuthenticationError


def test_a_missing_permission_at_bedrock_stays_one() -> None:
    body = {"message": "You don't have access to the model with the specified model ID."}
    error = refused("bedrock-converse", 403, body, {"x-amzn-errortype": "AccessDeniedException"})
    assert type(error) is ta.PermissionDenied


@pytest.mark.parametrize("protocol", ["gemini", "anthropic-messages"])
def test_google_refuses_a_token(protocol: str) -> None:
    told = {"code": 401, "message": "Request had invalid authentication credentials.", "status": "UNAUTHENTICATED"}
    error = refused(protocol, 401, {"error": told})
    assert type(error) is ta.AuthenticationError
    assert error.code == "UNAUTHENTICATED"


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("Method doesn't allow unregistered callers.", ta.AuthenticationError),
        ("Your API key was reported as leaked. Please use another API key.", ta.AuthenticationError),
        ("Permission 'aiplatform.endpoints.predict' denied on resource.", ta.PermissionDenied),
    ],
)
def test_google_refuses_a_key_under_the_word_of_a_missing_permission(message: str, wanted: type) -> None:
    error = refused("gemini", 403, {"error": {"code": 403, "message": message, "status": "PERMISSION_DENIED"}})
    assert type(error) is wanted


@pytest.mark.parametrize("protocol", ["openai-chat", "openai-responses"])
@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("401", ta.AuthenticationError),
        ("Unauthorized", ta.AuthenticationError),
        ("invalid_api_key", ta.AuthenticationError),
        ("PermissionDenied", ta.PermissionDenied),  # a valid token of Entra ID without the role
    ],
)
def test_azure_refuses_with_401_whatever_is_wrong(protocol: str, code: str, wanted: type) -> None:
    error = refused(protocol, 401, {"error": {"code": code, "message": "Access denied."}})
    assert type(error) is wanted
    assert error.status == 401


QUOTED = "x-amz-security-token:IQoJb3JpZ2luX2VjEXAMPLE//wEaCXVz"


@pytest.mark.parametrize("protocol", ["bedrock-converse", "anthropic-messages", "openai-chat", "openai-responses"])
@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"The Canonical String should have been 'POST\n{QUOTED}\n\nhost;x-amz-date'", "IQoJb3JpZ2luX2VjEXAMPLE"),
        ("got key ABSKQmVkcm9ja0FQSUtleS1leGFtcGxl", "ABSKQmVkcm9ja0FQSUtleS1leGFtcGxl"),
        ("got Bearer eyJhbGciOiJSUzI1.eyJzdWIiOiIx.c2lnbmF0dXJl", "eyJzdWIiOiIx"),
        ("got eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMiJ9.c2lnbmF0dXJl", "c2lnbmF0dXJl"),
        ("Incorrect API key provided: sk-proj-abcdefgh12345678", "abcdefgh12345678"),
    ],
)
def test_a_secret_that_a_refusal_quotes_is_not_told_on(protocol: str, text: str, secret: str) -> None:
    error = refused(protocol, 403, {"error": {"message": text}, "message": text})
    assert secret not in str(error)
    assert secret not in repr(error.body)
    assert "[hidden]" in repr(error.body)
