"""The skeleton of a new study, in this repository or as a package of its own."""
