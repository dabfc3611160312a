// The server, as JSON: get("/games", {name: value}), post("/play", body). What it refuses is thrown as an Error with its reason.
export async function get(path, query = {}) {
  return answer(await reach(`/api${path}${asked(query)}`));
}

export async function post(path, body = {}, query = {}) {
  const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  return answer(await reach(`/api${path}${asked(query)}`, options));
}

function asked(query) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

async function reach(url, options) {
  try {
    return await fetch(url, options);
  } catch {
    throw new Error("The server does not answer. Is nebel serve still running?");
  }
}

async function answer(response) {
  const isJson = (response.headers.get("content-type") || "").startsWith("application/json");
  const found = isJson ? await response.json() : await response.text();
  if (!response.ok) {
    const error = new Error(found.error || `The server answered ${response.status}.`);
    error.status = response.status;
    throw error;
  }
  return found;
}

// A socket that comes back when it is dropped: live("/play/ID/live", {key}, {message(data), state(connected), refused(reason)}).
// Returns {send(object), close()}; what is sent while it is down is refused.
export function live(path, query, { message, state = () => {}, refused = () => {} }) {
  const url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api${path}${asked(query)}`;
  let socket = null, closed = false, wait = 250, timer = null;

  function connect() {
    socket = new WebSocket(url);
    socket.onopen = () => {
      wait = 250;
      state(true);
    };
    socket.onmessage = (event) => message(JSON.parse(event.data));
    socket.onclose = (event) => {
      if (closed) return;
      if (event.code >= 4000) return refused(event.reason);
      state(false);
      timer = setTimeout(connect, wait);
      wait = Math.min(2 * wait, 5000);
    };
  }

  connect();
  return {
    send(data) {
      if (socket.readyState !== WebSocket.OPEN) throw new Error("The connection is down; it is being picked up again.");
      socket.send(JSON.stringify(data));
    },
    close() {
      closed = true;
      clearTimeout(timer);
      socket.onmessage = null;
      if (socket.readyState === WebSocket.CONNECTING) socket.onopen = () => socket.close(); // browsers complain of an earlier end
      else socket.close();
    },
  };
}
