"""Check what a LangChain retrieval chain returned, in memory."""

from collections.abc import Mapping

import vericite as vc


def checked(result: Mapping[str, object]) -> vc.CheckedAnswer:
    """``result`` is what ``chain.invoke(...)`` returned: answer and context."""
    return vc.check(result)
