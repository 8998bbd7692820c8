// Numbers, durations and elements, written as the server writes them.

export function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e4)) {
    return value.toExponential(3).replace(/\.?0+e/, "e").replace(/e([+-])(\d)$/, "e$10$2");
  }
  return String(Number(value.toPrecision(4)));
}

export function cell(value) {
  if (typeof value === "string") return value;
  return typeof value === "number" && !Number.isInteger(value) ? number(value) : JSON.stringify(value);
}

export function duration(trial) {
  if (trial.started === null || trial.finished === null) return "–";
  const seconds = trial.finished - trial.started;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 120) return `${Number(seconds.toPrecision(3))} s`;
  return seconds < 7200 ? `${Number((seconds / 60).toPrecision(3))} min` : `${Number((seconds / 3600).toPrecision(3))} h`;
}

// An element with attributes and children; text is always text, never markup.
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// JSON from the API; an error says what the server said.
export async function load(address, signal) {
  const response = await fetch(address, { headers: { Accept: "application/json" }, signal });
  if (response.status === 401) location.assign(`/sign-in?next=${encodeURIComponent(location.pathname)}`);
  const data = await response.json();
  if (!response.ok) throw new Error(data.error?.message ?? `status ${response.status}`);
  return data;
}
