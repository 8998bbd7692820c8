"""Revisions of a study: changed spaces, corrected results, beliefs stated while the study runs."""
