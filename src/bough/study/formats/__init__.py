"""Studies and trials in other forms: files, tables, HTML."""
