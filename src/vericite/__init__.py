"""VeriCite answers biomedical questions with a citation on every sentence, and checks every citation."""
