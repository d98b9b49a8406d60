"""What scores say about sets of documents: whole sets in or out, books, data sets, benchmarks, unlearned models."""
