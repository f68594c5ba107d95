"""The lab: experiments, assessment as in BioACE, labels by people, training. It imports the product only."""
