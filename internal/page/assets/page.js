// Takes the parts of the page that changed, and counts durations on between two of them. The page is complete without it.
"use strict";
(() => {
  const live = document.getElementById("live");
  let ahead = 0; // the server's clock minus ours, in milliseconds
  let events; // the stream
  let due = Infinity; // when it is to say something next, in milliseconds of performance.now

  // say shows how current the page is; only a change of state is news to a screen reader.
  function say(state, text) {
    if (live.dataset.state === state) return;
    live.dataset.state = state;
    live.textContent = text;
  }

  // short writes a duration as the server does.
  function short(ms) {
    const s = Math.max(0, Math.floor(ms / 1000));
    const two = n => String(n).padStart(2, "0");
    if (s < 60) return s + "s";
    if (s < 3600) return Math.floor(s / 60) + "m" + two(s % 60) + "s";
    if (s < 48 * 3600) return Math.floor(s / 3600) + "h" + two(Math.floor(s % 3600 / 60)) + "m";
    return Math.floor(s / 86400) + "d" + two(Math.floor(s % 86400 / 3600)) + "h";
  }

  function count() {
    const now = Date.now() + ahead;
    for (const t of document.querySelectorAll("time[data-count]")) {
      const at = Date.parse(t.dateTime);
      const text = short(t.dataset.count === "left" ? at - now : now - at);
      if (t.textContent !== text) t.firstChild ? t.firstChild.data = text : t.append(text);
    }
  }

  // patch makes the children of old those of fresh and keeps what is the same, so that focus, selection and scroll stay.
  // Children with an id are found by it wherever they stand.
  function patch(old, fresh) {
    const named = new Map([...old.children].filter(c => c.id).map(c => [c.id, c]));
    let at = old.firstChild;
    for (const want of [...fresh.childNodes]) {
      const moved = want.id && named.get(want.id);
      if (moved && moved !== at) old.insertBefore(moved, at);
      const have = moved || at;
      if (have && (moved || alike(have, want))) {
        if (want.nodeType === Node.TEXT_NODE) {
          if (have.data !== want.data) have.data = want.data;
        } else if (!have.isEqualNode(want)) {
          for (const a of [...have.attributes]) if (!want.hasAttribute(a.name)) have.removeAttribute(a.name);
          for (const a of want.attributes) if (have.getAttribute(a.name) !== a.value) have.setAttribute(a.name, a.value);
          patch(have, want);
        }
        at = have.nextSibling;
      } else {
        old.insertBefore(want, at);
      }
    }
    while (at) {
      const next = at.nextSibling;
      at.remove();
      at = next;
    }
  }

  // watch notices a stream that says nothing any more: a server or a store hangs, or a network is gone, which nothing else shows.
  // The server gives a reading of the records a minute; after that only a new connection helps.
  function watch() {
    const late = (performance.now() - due) / 1000;
    if (late > 8) say("silent", "no word from the server, what is shown is old");
    if (late > 90) listen();
  }

  const alike = (a, b) => a.nodeName === b.nodeName && (a.id || "") === (b.id || "");

  function leave() {
    due = Infinity;
    events?.close();
  }

  // listen begins a stream, in place of the last one. A page that nobody sees has none: a browser has six connections to one
  // server, for all its tabs.
  function listen() {
    leave();
    if (document.hidden) return;
    due = performance.now() + 1000;
    events = new EventSource(document.body.dataset.events);
    events.addEventListener("part", e => {
      const part = JSON.parse(e.data);
      const box = document.getElementById(part.id);
      const fresh = box.cloneNode(false);
      fresh.innerHTML = part.html; // rendered and escaped by the server
      patch(box, fresh);
    });
    const read = (state, text) => e => {
      const [at, wait] = e.data.split(" ").map(Number);
      ahead = at - Date.now();
      due = performance.now() + wait;
      say(state, text);
      count();
    };
    events.addEventListener("now", read("live", "live"));
    events.addEventListener("old", read("old", "what is shown is old"));
    events.onerror = () => {
      due = Infinity;
      say("lost", "connection lost, trying again");
      if (events.readyState !== EventSource.CLOSED) return; // the browser tries by itself
      setTimeout(listen, 5000);
      fetch(document.body.dataset.events, {method: "HEAD"}).then(r => { if (r.status === 401) location.reload(); }, () => {}); // asks for the token
    };
  }

  addEventListener("pagehide", leave);
  document.addEventListener("visibilitychange", listen);
  addEventListener("pageshow", e => { if (e.persisted) listen(); });
  setInterval(() => {
    count();
    watch();
  }, 1000);
  listen();
})();
