"""What a mix is made of; the defaults are the recipe."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vericite.errors import InputError

LICENCES: dict[str, tuple[str, bool]] = {
    # set: (licence as its README or upstream card says, whether it asks for no more than attribution)
    "scifact": ("claims CC BY 4.0, abstracts ODC-By", True),
    "healthver": ("none stated; upstream card says CC BY-NC 2.0", False),
    "covidfact": ("none stated", False),
    "clinifact": ("MIT", True),
    "nli4ct": ("none stated", False),
    "evidence_inference": ("annotations MIT; articles as each states", True),
    "attributionbench": ("none stated", False),
    "wice": ("CC BY-SA and Common Crawl terms", False),
    "pubmedqa": ("MIT", True),
    "bioasq": ("CC BY 2.5", True),
    "bioasq_exact": ("CC BY 2.5", True),
    "corpus": ("mixed: PubMed abstracts of the sets above", True),
    "frames": ("written for this project", True),
    "written": ("claims written for this project about texts of the other sets", True),
    "esnli": ("MIT repository; SNLI is CC BY-SA", False),
}


class MixConfig(BaseModel):
    """The recipe's numbers.

    Attributes:
        dev_share: Of each set that has no dev part of its own, by document or question.
        half_share: The same for the general sets, whose other half the transfer row counts.
        window_share: How many rationale pairs are given a second time with a three-sentence window.
        abstract_share: How many a third time with the abstract.
        neutral_per_claim: Sentences of the same abstract that a claim is set against.
        templates_per_item: Wordings of each Evidence Inference statement.
        near_negatives: Sentences of other documents that a claim is set against, for each positive of weak sets.
        corruptions_per_pair: Edits tried on a positive; each adds up to three examples.
        corrupted_share: Of the positives that are edited at all.
        extracts_per_document: Result sentences of an abstract made into claims by taking them out of it.
        most: Examples at most, by source; what is over is left out evenly over the kinds.
        keep_shared_documents: Sets whose training claims may cite documents that their test claims cite.
        longest_share: Of all examples, those with a premise of more than 150 words.
        restated_share: Of the copies of a sentence of the premise that are made into twins, those put in other words.
        paraphrased_share: Of the pairs that a premise decides whose claim was said anew in a file, those set beside it.
        paraphrased_neutral_share: The same for pairs that it leaves open.
        frames: Examples of each kind of finding that is told twice in different words.
        warmup: Examples of the general warm-up file.
        untold: Examples without a label at most, for a larger model to judge.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    dev_share: float = Field(default=0.1, gt=0, lt=1)
    half_share: float = Field(default=0.5, ge=0, lt=1)
    window_share: float = Field(default=0.5, ge=0, le=1)
    abstract_share: float = Field(default=0.12, ge=0, le=1)
    neutral_per_claim: int = Field(default=2, ge=0)
    templates_per_item: int = Field(default=2, ge=1)
    near_negatives: int = Field(default=1, ge=0)
    corruptions_per_pair: int = Field(default=1, ge=0)
    # HealthVer's evidence often supports a claim only loosely; then the broken claim is not contradicted either.
    corrupted_share: dict[str, float] = Field(default_factory=lambda: {"healthver": 0.35, "other": 0.85})
    extracts_per_document: int = Field(default=1, ge=0)
    most: dict[str, int] = Field(
        default_factory=lambda: {
            "covidfact": 9000,
            "healthver": 40000,
            "evidence_inference": 26000,
            "bioasq": 14000,
            "corpus": 40000,
        }
    )
    # The READMEs of the data say of HealthVer alone that its parts share documents and hardly any claims.
    keep_shared_documents: tuple[str, ...] = ("healthver",)
    longest_share: float = Field(default=0.1, ge=0, le=1)
    restated_share: float = Field(default=0.8, ge=0, le=1)
    paraphrased_share: float = Field(default=0.7, ge=0, le=1)
    paraphrased_neutral_share: float = Field(default=0.25, ge=0, le=1)
    frames: int = Field(default=22000, ge=0)
    warmup: int = Field(default=19666, ge=0)
    untold: int = Field(default=30000, ge=0)


def read_config(path: Path | None) -> MixConfig:
    """The recipe of a JSON file, or the default one.

    Raises:
        InputError: The file cannot be read, or is no recipe.
    """
    if path is None:
        return MixConfig()
    try:
        return MixConfig.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        known = ", ".join(MixConfig.model_fields)
        raise InputError(
            f"expected a recipe as JSON with any of {known}; found in {path}: {error}. Mend it."
        ) from error
