"""Making the models that VeriCite ships."""
