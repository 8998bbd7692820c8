"""Studies that are revised: changed spaces, corrected results, beliefs stated while a study runs."""
