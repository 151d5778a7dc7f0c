// Makes pages live. Everything here is a convenience: without it every page shows the same, as it was when it was loaded.
"use strict";

// Elements with data-events are kept up to date by the server: each event names a part of the page by its id and brings
// its new content, made and escaped by the server from the same template. A page that nobody sees lets go of its
// connection: browsers have only a few for each server.
function follow(element) {
  const state = document.getElementById("live-state");
  let events = null;
  const say = (text, gone) => {
    if (!state || state.textContent === text) return;
    state.textContent = text;
    state.classList.toggle("gone", gone);
  };
  const leave = () => {
    if (events) events.close();
    events = null;
  };
  const begin = () => {
    if (events) return;
    events = new EventSource(element.dataset.events);
    events.addEventListener("open", () => say("live", false));
    events.addEventListener("error", () => say("connection lost, trying again", true));
    events.addEventListener("part", (event) => replacePart(JSON.parse(event.data)));
    events.addEventListener("go", (event) => {
      leave();
      window.location.replace(JSON.parse(event.data).address);
    });
    // What has ended is shown whole, not only those parts that were live.
    events.addEventListener("end", () => {
      leave();
      window.location.reload();
    });
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? leave() : begin()));
  begin();
}

// Whatever the reader has unfolded stays so.
function replacePart({ id, html }) {
  const part = document.getElementById(id);
  if (!part) return;
  const open = [...part.querySelectorAll("details")].map((one) => one.open);
  const fresh = document.createElement("template");
  fresh.innerHTML = html;
  part.replaceChildren(fresh.content);
  part.querySelectorAll("details").forEach((one, i) => { if (i < open.length) one.open = open[i]; });
}

// Lists answer as filters are chosen, without the button.
function submitOnChange(form) {
  form.addEventListener("change", (event) => {
    if (event.target.tagName === "SELECT") form.requestSubmit();
  });
}

// Buttons that end something ask first.
function askFirst(form) {
  form.addEventListener("submit", (event) => {
    if (!window.confirm(form.dataset.ask)) event.preventDefault();
  });
}

document.querySelectorAll("[data-events]").forEach(follow);
document.querySelectorAll("form.filters").forEach(submitOnChange);
document.querySelectorAll("form[data-ask]").forEach(askFirst);
