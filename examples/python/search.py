"""Find documents: in the demonstration corpus, a file, a store or PubMed."""

import vericite as vc

for hit in vc.search("Does hydroxychloroquine reduce mortality?", k=3).evidence:
    print(hit.rank, hit.document.id, hit.document.title)
