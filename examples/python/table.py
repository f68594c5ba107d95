"""Verdicts as a pandas table."""

import vericite as vc

sources = ["Zinc shortened colds.", "Statins lowered LDL cholesterol."]
checked = vc.check("Zinc shortens colds [1]. Statins increase LDL cholesterol [2].", sources)
table = checked.to_pandas()
print(table[["label", "claim", "evidence"]])
