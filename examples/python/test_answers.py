"""A pytest assertion on the share of supported citations, with its 95 % interval."""

import vericite as vc


def test_the_answer_holds() -> None:
    """Fails with the rows that show why."""
    checked = vc.check("Zinc shortens colds [1].", ["Zinc shortened colds by two days."])
    assert (checked.support_rate.low or 0) > 0.2, checked.rows
