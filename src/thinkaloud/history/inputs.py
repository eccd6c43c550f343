"""Which images and documents a provider takes: by the model's own facts, and by its protocol."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from thinkaloud.content import Document, Image
from thinkaloud.models.model import InputKind, Model

_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


@frozen
class Forms:
    """Media types that a protocol takes; None: it does not say, or each endpoint has its own.

    documents: those besides plain text, which every protocol has a form for.
    reads_pdf: PDF documents reach the model itself, so that its facts tell whether it takes them. Elsewhere the service
        may read them for it.
    """

    images: frozenset[str] | None = None
    documents: frozenset[str] | None = None
    reads_pdf: bool = False


_FORMS: Mapping[str, Forms] = {
    # Anthropic's documentation: four kinds of images, and documents as PDF or text.
    "anthropic-messages": Forms(_PICTURES, frozenset({"application/pdf"}), reads_pdf=True),
    # OpenAI's documentation; what files it takes has grown with time.
    "openai-responses": Forms(_PICTURES),
    # Google takes more kinds than it lists. Bedrock's own table is its encoder's.
    "gemini": Forms(reads_pdf=True),
}

_OTHER_NAMES = {"image/jpg": "image/jpeg"}


def fault_of(block: Image | Document, model: Model | None) -> str | None:
    """Why a model takes no such image or document, and what to do; None where it does, or where that is not sure."""
    if model is None:
        return None
    media_type = _media_type(block)
    kind = _kind(block, media_type)
    forms = _FORMS.get(model.protocol or "", Forms())
    facts = model.input if "input" not in model.unsure and (kind != "pdf" or forms.reads_pdf) else None
    if kind is not None and facts is not None and kind not in facts:
        return f"{model.id} takes no {_NAMES[kind]}; leave it out, or give its content as text"
    if media_type is None:
        return None
    if isinstance(block, Image):
        taken = forms.images
    else:
        taken = None if block.text is not None or media_type.startswith("text/") else forms.documents
    if taken is None or media_type in taken:
        return None
    listed = ", ".join(sorted(taken))
    return f"{model.protocol} takes no {media_type}; convert it to one of {listed}"


_NAMES: Mapping[InputKind, str] = {"image": "images", "pdf": "PDF documents", "audio": "audio", "video": "video"}


def _media_type(block: Image | Document) -> str | None:
    media_type = block.media_type
    if media_type is None and isinstance(block, Document) and block.data is not None and block.text is None:
        media_type = "application/pdf"  # what every encoder takes it for
    if media_type is None:
        return None
    media_type = media_type.partition(";")[0].strip().lower()
    return _OTHER_NAMES.get(media_type, media_type)


def _kind(block: Image | Document, media_type: str | None) -> InputKind | None:
    if isinstance(block, Image):
        return "image"
    if block.text is not None or media_type is None:
        return None
    if media_type == "application/pdf":
        return "pdf"
    family = media_type.partition("/")[0]
    return family if family in ("image", "audio", "video") else None  # type: ignore[return-value]
