"""A pytest test that fails if too little of an answer is supported by its sources."""

import vericite as vc


def test_the_answer_holds() -> None:
    """A failure shows each sentence that is not supported, with the verdict, the evidence and the reason."""
    vc.assert_supported("Zinc shortens colds [1].", ["Zinc shortened colds by two days."], at_least=0.9)
