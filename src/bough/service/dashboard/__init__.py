"""The pages: HTML made on the server, a little script of our own, figures by plotly.js; no build step."""
