"""Questions for other tools: Hugging Face (Parquet, card, Croissant), LLaMA-Factory, lmms-eval."""

from ego2world.qa.export.huggingface import to_huggingface
from ego2world.qa.export.llamafactory import to_llamafactory
from ego2world.qa.export.lmms_eval import to_lmms_eval

TARGETS = {"huggingface": to_huggingface, "llamafactory": to_llamafactory, "lmms-eval": to_lmms_eval}

__all__ = ["TARGETS", "to_huggingface", "to_llamafactory", "to_lmms_eval"]
