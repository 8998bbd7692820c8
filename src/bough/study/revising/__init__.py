"""Studies that live: changed spaces, corrected results, beliefs told while a study runs."""
