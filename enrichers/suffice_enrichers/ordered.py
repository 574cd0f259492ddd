from suffice_enrichers.relations import Copy
def refine(copy, contents): return copy
