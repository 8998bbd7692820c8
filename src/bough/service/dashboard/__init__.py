"""The dashboard: HTML rendered on the server, small scripts, figures by plotly.js; no build step."""
