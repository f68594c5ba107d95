# gguf, torch and peft are in the extra [train] alone, and annotate their own functions only in part.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
"""Low-rank adapters in llama.cpp's form, for ``--llm gguf:MODEL+ADAPTER``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FILE = "adapter.gguf"
KINDS = ("llama", "qwen2")
"""Decoders whose layers have the names below."""

_NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
_LAYER = re.compile(r"layers\.(\d+)\.(\w+\.\w+)\.lora_([AB])\.weight\Z")

Matrix = NDArray[np.float32]


def tensor_name(name: str) -> str | None:
    """What llama.cpp calls one of peft's tensors; None for one that it has no name for."""
    match = _LAYER.search(name)
    if match is None or match[2] not in _NAMES:
        return None
    return f"blk.{match[1]}.{_NAMES[match[2]]}.weight.lora_{match[3].lower()}"


def interleaved(rows: Matrix, heads: int) -> Matrix:
    """The rows of each head in the order in which llama.cpp turns a Llama's queries and keys: the halves in turn."""
    high, wide = rows.shape
    return rows.reshape(heads, 2, high // heads // 2, wide).swapaxes(1, 2).reshape(high, wide)


def write_adapter(model: Any, alpha: float, path: Path) -> bool:
    """Write a peft model's adapter; whether llama.cpp knows such a decoder, and all of its layers."""
    import gguf
    import peft

    config = model.config
    tensors = {name: it.float().numpy() for name, it in peft.get_peft_model_state_dict(model).items()}
    names = {name: tensor_name(name) for name in tensors}
    if config.model_type not in KINDS or not names or None in names.values():
        return False
    part = path.with_name(f"{path.name}.part")
    writer = gguf.GGUFWriter(part, config.model_type)
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, float(alpha))
    for name, tensor in tensors.items():
        if config.model_type == "llama" and ".lora_B." in name and (".q_proj." in name or ".k_proj." in name):
            heads = config.num_attention_heads if ".q_proj." in name else config.num_key_value_heads
            tensor = interleaved(tensor, heads)
        writer.add_tensor(names[name], np.ascontiguousarray(tensor))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    part.replace(path)
    return True
