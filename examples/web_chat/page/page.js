// The page: sends what the user says, reads the answer's events, and finds its way back after a reload.

import { Answer } from "./answer.js";
import { make } from "./markdown.js";

const NAMES = { off: "Off", minimal: "Minimal", low: "Low", medium: "Medium", high: "High", xhigh: "Extra high", max: "Max" };
const RANKS = { off: 0, minimal: 1, low: 2, medium: 3, high: 4, xhigh: 5, max: 5 };

const $ = (id) => document.getElementById(id);
const [scroll, turns, prompt, model, level, send, latest] =
  ["scroll", "turns", "prompt", "model", "level", "send", "latest"].map($);

let chat = null; // the chat's id
let levels = {}; // those of each model
let reading = null; // the EventSource of the answer that is being made
let follows = true; // the end of the conversation is kept in sight

// talking to the server

async function call(path, body) {
  const options = body && { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(path, options);
  if (response.ok) return response.status === 204 ? null : response.json();
  const told = await response.json().catch(() => ({}));
  throw Object.assign(new Error(told.error ?? "The server does not answer as it should."), { status: response.status });
}

async function say(text, { again = false } = {}) {
  if (reading || !text.trim()) return;
  busy(true);
  if (again) turns.lastElementChild?.remove();
  const answer = turn({ text, model: model.value, level: level.value });
  follows = true;
  toEnd();
  try {
    if (!chat) {
      chat = (await call("chats", {})).id;
      history.replaceState(null, "", `#${chat}`);
    }
    await call(`chats/${chat}/messages`, { text, model: model.value, level: level.value || null, again });
    read(answer);
  } catch (error) {
    busy(false);
    answer.fail(error.status ? error.message : "The server cannot be reached.");
  }
}

function read(answer) {
  reading = new EventSource(`chats/${chat}/events`);
  reading.addEventListener("message", (event) => {
    const data = JSON.parse(event.data);
    answer.take(data);
    if (data.type === "stream_end" || data.type === "stream_error") done();
    settle();
  });
  reading.addEventListener("error", () => {
    if (reading?.readyState !== EventSource.CLOSED) return; // it comes back by itself, behind the last event it had
    done();
    answer.fail("The connection to the server was lost.");
  });
  busy(true);
}

function done() {
  reading?.close();
  reading = null;
  busy(false);
  focusPrompt();
}

/** Not on a phone, where the keyboard would cover what there is to read. */
function focusPrompt() {
  if (!matchMedia("(pointer: coarse)").matches) prompt.focus();
}

async function stop() {
  if (reading) await call(`chats/${chat}/stop`, {}).catch(() => {});
}

// what is on the page

function turn({ text, model, level, elapsed = 0 }) {
  $("welcome").hidden = true;
  const section = make("section", "turn");
  const said = make("p", "said");
  said.append(make("span", "hidden", "You: "), text);
  const element = make("div", "answer");
  section.append(said, element);
  turns.append(section);
  const name = model.slice(model.indexOf("/") + 1);
  const retry = () => say(text, { again: true });
  return new Answer(element, { announce, retry, model: name, level, elapsed });
}

function announce(text) {
  $("status").textContent = text;
}

function busy(on) {
  document.body.classList.toggle("busy", on);
  send.setAttribute("aria-label", on ? "Stop" : "Send");
  send.disabled = !on && !prompt.value.trim();
}

function toEnd() {
  scroll.scrollTop = scroll.scrollHeight;
  latest.hidden = true;
}

function settle() {
  if (follows) toEnd();
  else latest.hidden = atEnd();
}

const atEnd = () => scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 48;

function showLevels() {
  const known = levels[model.value] ?? [];
  const kept = level.value;
  level.replaceChildren(new Option("Default", ""), ...known.map((each) => new Option(NAMES[each], each)));
  level.value = known.includes(kept) ? kept : known.includes("high") ? "high" : "";
  $("levels").hidden = !known.length;
  showMeter();
}

function showMeter() {
  const rank = RANKS[level.value] ?? 0;
  document.querySelectorAll(".meter i").forEach((bar, place) => bar.classList.toggle("on", place < rank));
}

// what the user does

$("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  if (reading) stop();
  else if (prompt.value.trim()) {
    const text = prompt.value;
    prompt.value = "";
    say(text);
  }
});
prompt.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  if (!reading) $("composer").requestSubmit();
});
prompt.addEventListener("input", () => busy(Boolean(reading)));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") stop();
});
scroll.addEventListener("scroll", () => {
  follows = atEnd();
  if (follows) latest.hidden = true;
}, { passive: true });
// The pane closes softly and moves what is below it: the end is kept in sight meanwhile.
new ResizeObserver(settle).observe(turns);
document.addEventListener("drawn", settle);
latest.addEventListener("click", () => {
  follows = true;
  toEnd();
});
model.addEventListener("change", showLevels);
level.addEventListener("change", showMeter);
$("new").addEventListener("click", () => {
  location.hash = "";
  location.reload();
});
$("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem("theme", root.dataset.theme);
  } catch {
    // Storage is blocked: it holds until the page is left.
  }
});
addEventListener("hashchange", () => location.reload());

// the start

async function restore() {
  chat = location.hash.slice(1) || null;
  const kept = chat && (await call(`chats/${chat}`).catch((error) => {
    if (error.status !== 404) throw error;
    chat = null; // the server has forgotten it
    history.replaceState(null, "", location.pathname);
  }));
  for (const each of kept?.turns ?? []) {
    const answer = turn(each);
    if (each.live) read(answer);
    else for (const event of each.events) answer.take(event);
  }
  const last = kept?.turns.at(-1);
  if (last && levels[last.model]) {
    model.value = last.model;
    showLevels();
    level.value = last.level ?? "";
    showMeter();
  }
  $("welcome").hidden = Boolean(last);
  announce("");
  toEnd();
}

async function start() {
  const about = await call("about");
  levels = Object.fromEntries(about.models.map((each) => [each.id, each.levels]));
  model.replaceChildren(...about.models.map((each) => new Option(each.id.slice(each.id.indexOf("/") + 1), each.id)));
  $("place").hidden = !about.scripted;
  for (const { title, text } of about.suggestions) {
    const button = make("button");
    button.type = "button";
    button.append(make("b", "", title), make("span", "", text));
    button.addEventListener("click", () => say(text));
    const item = make("li");
    item.append(button);
    $("suggestions").append(item);
  }
  showLevels();
  busy(false);
  await restore();
  focusPrompt();
}

start().catch(() => {
  const failed = make("div", "failure");
  failed.append(make("p", "", "The server cannot be reached. Is it still running?"));
  turns.replaceChildren(failed);
});
