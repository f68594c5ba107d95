"""What decides a release of the verifier: teaching, averaging, the gate, its temperature, the reported scores."""
