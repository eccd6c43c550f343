"""The official SDKs hold a tool conversation with a model that verifies: what they send back of themselves is taken.

And where their users drop the thinking by hand, they get the error that the provider would give them.
"""

from __future__ import annotations

from typing import Any

import pytest

from thinkaloud.content import Thinking, ToolCall
from thinkaloud.testing import Reply, serve_in_thread

SEAL = "c2VhbCBvbmU="
CALL = ToolCall("call_1", name="weather", arguments_json='{"city":"Oslo"}')
SIGNED = Reply([Thinking.signed("Let me look.", SEAL), CALL])
OPEN = Reply([Thinking("Let me look."), CALL])
SIGNED_CALL = Reply([Thinking("Hm."), ToolCall("c", name="weather", arguments_json='{"city":"Oslo"}', signature=SEAL)])


def test_anthropics_sdk() -> None:
    anthropic = pytest.importorskip("anthropic")
    asked: dict[str, Any] = {"model": "claude-opus-5", "max_tokens": 5000, "thinking": {"type": "adaptive"}}
    question = {"role": "user", "content": "How is Oslo?"}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "rain"}]}
    with serve_in_thread([SIGNED, "It rains."], verify_signatures=True) as server:
        client = anthropic.Anthropic(
            api_key="none", base_url=server.url, http_client=anthropic.DefaultHttpxClient(verify=False)
        )
        with client, client.messages.stream(**asked, messages=[question]) as stream:
            first = stream.get_final_message()
            with pytest.raises(anthropic.BadRequestError, match="must start with a thinking block"):
                lone = {"role": "assistant", "content": first.content[1:]}
                client.messages.create(**asked, messages=[question, lone, result])
            told = {"role": "assistant", "content": first.content}
            second = client.messages.create(**asked, messages=[question, told, result])
    assert second.content[0].text == "It rains."


@pytest.mark.parametrize("streamed", [True, False])
def test_openais_sdk_on_responses(streamed: bool) -> None:
    openai = pytest.importorskip("openai")
    asked: dict[str, Any] = {"model": "gpt-5.5", "store": False, "include": ["reasoning.encrypted_content"]}
    question = {"role": "user", "content": "How is Oslo?"}
    result = {"type": "function_call_output", "call_id": "call_1", "output": "rain"}
    with serve_in_thread([SIGNED, "It rains."], verify_signatures=True) as server:
        client = openai.OpenAI(
            api_key="none",
            base_url=server.base_url("openai-responses"),
            http_client=openai.DefaultHttpxClient(verify=False),
        )
        with client:
            if streamed:
                with client.responses.stream(**asked, input=[question]) as stream:
                    first = stream.get_final_response()
            else:
                first = client.responses.create(**asked, input=[question])
            items = [{name: part for name, part in item.to_dict().items() if name != "status"} for item in first.output]
            with pytest.raises(openai.BadRequestError, match="without its required 'reasoning' item"):
                client.responses.create(**asked, input=[question, *items[1:], result])
            second = client.responses.create(**asked, input=[question, *items, result])
    assert second.output_text == "It rains."


def test_openais_sdk_on_chat_completions() -> None:
    openai = pytest.importorskip("openai")
    question = {"role": "user", "content": "How is Oslo?"}
    result = {"role": "tool", "tool_call_id": "call_1", "content": "rain"}
    with serve_in_thread([OPEN, "It rains."], verify_signatures=True) as server:
        client = openai.OpenAI(
            api_key="none",
            base_url=server.base_url("openai-chat"),
            http_client=openai.DefaultHttpxClient(verify=False),
        )
        with client:
            first = client.chat.completions.create(model="deepseek-v4-pro", messages=[question]).choices[0].message
            lone = {name: value for name, value in first.to_dict().items() if name != "reasoning_content"}
            with pytest.raises(openai.BadRequestError, match="must be passed back"):
                client.chat.completions.create(model="deepseek-v4-pro", messages=[question, lone, result])
            second = client.chat.completions.create(model="deepseek-v4-pro", messages=[question, first, result])
    assert second.choices[0].message.content == "It rains."


@pytest.mark.parametrize("streamed", [True, False])
def test_googles_sdk(streamed: bool) -> None:
    genai = pytest.importorskip("google.genai")
    errors = pytest.importorskip("google.genai.errors")
    question = genai.types.Content(role="user", parts=[genai.types.Part(text="How is Oslo?")])
    response = genai.types.Part.from_function_response(name="weather", response={"output": "rain"})
    result = genai.types.Content(role="user", parts=[response])
    with serve_in_thread([SIGNED_CALL, "It rains."], verify_signatures=True) as server:
        options = genai.types.HttpOptions(base_url=server.url, api_version="v1beta")
        client = genai.Client(api_key="none", http_options=options)
        ask: Any = client.models.generate_content
        if streamed:
            chunks = client.models.generate_content_stream(model="gemini-3-pro", contents=[question])
            parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts]
            first = genai.types.Content(role="model", parts=parts)
        else:
            first = ask(model="gemini-3-pro", contents=[question]).candidates[0].content
        second = first.model_copy(deep=True)
        for part in second.parts:
            part.thought_signature = None
        with pytest.raises(errors.ClientError, match="missing a thought_signature"):
            ask(model="gemini-3-pro", contents=[question, second, result])
        told = ask(model="gemini-3-pro", contents=[question, first, result])
        client.close()
    assert told.text == "It rains."


def test_amazons_sdk() -> None:
    session = pytest.importorskip("botocore.session")
    config = pytest.importorskip("botocore.config")
    exceptions = pytest.importorskip("botocore.exceptions")
    asked = {"modelId": "us.anthropic.claude-sonnet-4-6"}
    question = {"role": "user", "content": [{"text": "How is Oslo?"}]}
    result = {"role": "user", "content": [{"toolResult": {"toolUseId": "call_1", "content": [{"text": "rain"}]}}]}
    with serve_in_thread([SIGNED, "It rains."], verify_signatures=True) as server:
        client = session.get_session().create_client(
            "bedrock-runtime",
            region_name="us-east-1",
            aws_access_key_id="none",
            aws_secret_access_key="none",
            endpoint_url=server.base_url("bedrock-converse"),
            config=config.Config(retries={"total_max_attempts": 1}),
        )
        first = client.converse(**asked, messages=[question])["output"]["message"]
        lone = {**first, "content": first["content"][1:]}
        with pytest.raises(exceptions.ClientError, match="must start with a thinking block"):
            client.converse(**asked, messages=[question, lone, result])
        second = client.converse(**asked, messages=[question, first, result])
        client.close()
    assert second["output"]["message"]["content"][0]["text"] == "It rains."
