"""Check an answer while a model writes it."""

import vericite as vc

stream = vc.CheckStream(["Zinc shortened colds by two days.", "Nausea was frequent with zinc."])
for token in "Zinc shortens colds [1]. Zinc causes nausea [2]. It is cheap.".split(" "):
    for result in stream.feed(token + " "):
        print(result.label, result.claim)
print(stream.close())
