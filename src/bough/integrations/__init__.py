"""Bridges to other libraries; each module imports the library it is named after."""
