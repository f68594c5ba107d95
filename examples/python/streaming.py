"""Check an answer while a model writes it: each part is a piece of text, or a result."""

import vericite as vc

stream = vc.CheckStream(["Zinc shortened colds by two days.", "Zinc often caused nausea."])
model = (f"{word} " for word in "Zinc shortens colds [1]. Zinc causes nausea [2]. It is cheap.".split())
for part in stream.follow(model):
    print(part if isinstance(part, str) else f"\n{part.label} {part.claim}\n", end="")
print(stream.close())
