// Shows one answer: from events as they come, or from what is kept of it after a reload.

import { MarkdownView, copied, make } from "./markdown.js";

const CHEVRON = "M7.5 4.5l6 5.5-6 5.5";
const TOOL =
  "M12.2 3.2a4.6 4.6 0 0 0-4.4 6.1l-5 5a1.7 1.7 0 0 0 2.4 2.4l5-5a4.6 4.6 0 0 0 6-5.6l-2.7 2.7-2.6-.6-.6-2.6 2.7-2.7a4.6 4.6 0 0 0-.8-.1z";
const SEALED = {
  redacted: "the provider hides this thinking",
  withheld: "the provider does not show this thinking",
};
const ODD_ENDS = {
  length: "The answer was cut off: it reached the limit of its length.",
  content_filter: "The provider's content filter ended the answer.",
  refusal: "The model refused to answer.",
  pause: "The model has paused here.",
};

export class Answer {
  /**
   * element: where it stands. announce(text): for screen readers. retry(): ask again.
   * elapsed: seconds that the answer has taken before this page saw it. model, level: what was asked.
   */
  constructor(element, { announce, retry, model, level, elapsed = 0 }) {
    this.element = element;
    this.announce = announce;
    this.retry = retry;
    this.model = model;
    this.level = level;
    this.began = performance.now() - elapsed * 1000;
    this.parts = new Map();
    this.calls = new Map();
    this.told = [];
    this.waiting = make("p", "waiting");
    this.waiting.append(make("span", "spark"), "Waiting for the model");
    this.over = false;
    element.append(this.waiting);
  }

  /** Take one event in. */
  take(data) {
    const part = this.parts.get(`${data.step}.${data.index}`);
    switch (data.type) {
      case "step_start":
        this.model = data.model;
        this.level = data.level?.[1] ?? this.level;
        break;
      case "thinking_start":
        this.add(data, new ThinkingPane(this.parts.size ? performance.now() : this.began));
        if (this.parts.size === 1) this.announce("Thinking");
        break;
      case "text_start":
        this.add(data, new TextPart());
        break;
      case "tool_call_start":
        this.calls.set(data.id, this.add(data, new CallCard(data.name)));
        this.announce(`Calling the tool ${data.name}`);
        break;
      case "thinking_delta":
      case "text_delta":
        part?.extend(data.text);
        break;
      case "tool_call_delta":
        part?.extend(data.json);
        break;
      case "thinking_end":
        part?.finish(data.block);
        this.announce(part.words);
        break;
      case "text_end":
      case "tool_call_end":
        part?.finish(data.block);
        break;
      case "progress":
        [...this.parts.values()].findLast((each) => each instanceof ThinkingPane)?.count(data.tokens);
        break;
      case "tool_result":
        this.calls.get(data.call_id)?.result(data);
        this.wait("Waiting for the model");
        break;
      case "notice":
        if (data.text) this.note(data.text);
        break;
      case "step_end":
        this.told.push(data);
        break;
      case "snapshot":
        this.restore(data.messages);
        break;
      case "stream_end":
        this.end(data.stop_reason);
        break;
      case "stream_error":
        this.fail(data.text);
        break;
    }
  }

  /** Show messages that are kept. What is not whole goes on, or is closed by the end that follows. */
  restore(messages) {
    let step = -1;
    for (const message of messages) {
      if (message.role === "tool") {
        this.calls.get(message.call_id)?.result(message);
        continue;
      }
      step++;
      const thinking = message.content.filter((block) => block.type === "thinking").length;
      for (const [index, block] of message.content.entries()) {
        const part = this.restored(block);
        if (!part) continue;
        this.add({ step, index }, part);
        if (block.complete === false || block.form === "incomplete") part.extend(block.text ?? block.arguments_json);
        else part.finish(block, thinking === 1 ? message.timing?.thinking : undefined);
      }
      this.told.push(message);
    }
  }

  restored(block) {
    if (block.type === "thinking") return new ThinkingPane(null);
    if (block.type === "text") return new TextPart();
    if (block.type !== "tool_call") return null;
    const card = new CallCard(block.name);
    this.calls.set(block.id, card);
    return card;
  }

  end(reason) {
    this.close();
    if (reason === "aborted") this.put(make("p", "notice", "You stopped this answer."));
    else if (ODD_ENDS[reason]) this.put(make("p", "notice", ODD_ENDS[reason]));
    const text = this.text();
    this.below(text);
    this.announce(reason === "aborted" ? "Stopped" : `Answer: ${text.slice(0, 1500)}`);
  }

  fail(text) {
    this.close();
    const box = make("div", "failure");
    box.setAttribute("role", "alert");
    box.append(make("p", "", text));
    if (this.retry) {
      const again = make("button", "", "Try again");
      again.type = "button";
      again.addEventListener("click", this.retry);
      box.append(again);
    }
    this.put(box);
  }

  text() {
    return [...this.parts.values()].filter((part) => part instanceof TextPart).map((part) => part.text).join("\n\n");
  }

  // inside

  add({ step, index }, part) {
    this.parts.set(`${step}.${index}`, part);
    this.put(part.element);
    return part;
  }

  /** Say a notice once, however many blocks it is about. */
  note(text) {
    const said = text[0].toUpperCase() + text.slice(1);
    const last = this.element.lastElementChild;
    if (last?.dataset.said === said) {
      const times = Number(last.dataset.times ?? 1) + 1;
      last.dataset.times = times;
      last.textContent = `${said} (${times} times)`;
      return;
    }
    const element = make("p", "notice", said);
    element.dataset.said = said;
    this.put(element);
  }

  put(element) {
    this.waiting.remove();
    this.element.append(element);
  }

  wait(text) {
    if (this.over) return;
    this.waiting.lastChild.textContent = text;
    this.element.append(this.waiting);
  }

  close() {
    this.over = true;
    this.waiting.remove();
    for (const part of this.parts.values()) part.finish();
  }

  below(text) {
    const line = make("div", "below");
    if (text) {
      const copy = make("button", "quiet", "Copy");
      copy.type = "button";
      copy.setAttribute("aria-label", "Copy the answer");
      copy.addEventListener("click", () => copied(text, copy));
      line.append(copy);
    }
    const facts = this.facts().join(" · ");
    if (facts) line.append(make("span", "", facts));
    if (line.childElementCount) this.element.append(line);
  }

  facts() {
    const sum = (pick) => this.told.reduce((total, each) => total + (pick(each) ?? 0), 0);
    const facts = [];
    if (this.model) facts.push(this.model);
    if (this.level) facts.push(`thinking ${this.level}`);
    const output = sum((each) => each.usage?.output);
    const reasoning = sum((each) => each.usage?.reasoning);
    if (output) facts.push(`${output.toLocaleString()} tokens${reasoning ? `, ${reasoning.toLocaleString()} of them thinking` : ""}`);
    const cost = sum((each) => each.cost);
    if (cost) facts.push(`$${cost.toFixed(cost < 0.01 ? 4 : 2)}`);
    return facts;
  }
}

class ThinkingPane {
  /** began: when, by performance.now(); null where that is long ago. */
  constructor(began) {
    this.began = began;
    this.text = "";
    this.tokens = 0;
    this.touched = false;
    this.element = make("details", "thinking live");
    this.element.open = began !== null;
    this.label = make("span", "label");
    const summary = make("summary");
    summary.append(make("span", "spark"), this.label, icon(CHEVRON, "chevron"));
    summary.addEventListener("click", () => (this.touched = true));
    this.body = make("div", "thought");
    this.body.tabIndex = -1;
    this.view = new MarkdownView(this.body);
    this.element.append(summary, this.body);
    this.clock = setInterval(() => this.tick(), 200);
    this.tick();
  }

  extend(piece) {
    this.text += piece;
    soon(this);
  }

  count(tokens) {
    this.tokens = tokens;
    this.tick();
  }

  draw() {
    this.view.show(this.text, { growing: !this.over });
    if (this.over) return;
    this.body.classList.toggle("overflows", this.body.scrollHeight > this.body.clientHeight + 4);
    this.body.scrollTop = this.body.scrollHeight;
  }

  tick() {
    const seconds = Math.floor((performance.now() - (this.began ?? performance.now())) / 1000);
    const tokens = this.tokens ? `, about ${this.tokens.toLocaleString()} tokens` : "";
    this.label.replaceChildren("Thinking… ", make("span", "seconds", seconds ? `${seconds} s${tokens}` : ""));
  }

  finish(block, seconds) {
    if (this.over) return;
    this.over = true;
    clearInterval(this.clock);
    if (block) this.text = block.text;
    const took = seconds ?? (this.began === null ? undefined : (performance.now() - this.began) / 1000);
    this.words = took === undefined ? "Thought" : `Thought for ${spoken(took)}`;
    const sealed = SEALED[block?.form];
    this.label.textContent = sealed ? `${this.words} – ${sealed}` : this.words;
    this.element.classList.remove("live");
    this.element.classList.toggle("bare", !this.text);
    if (!this.text) this.element.querySelector("summary").tabIndex = -1;
    this.body.classList.remove("overflows");
    this.draw();
    this.body.tabIndex = 0;
    if (!this.touched) this.element.open = false;
  }
}

class TextPart {
  constructor() {
    this.text = "";
    this.element = make("div", "text");
    this.view = new MarkdownView(this.element);
  }

  extend(piece) {
    this.text += piece;
    soon(this);
  }

  draw() {
    this.view.show(this.text, { growing: !this.over });
  }

  finish(block) {
    this.over = true;
    if (block) this.text = block.text;
    this.draw();
  }
}

class CallCard {
  constructor(name) {
    this.json = "";
    this.element = make("details", "call live");
    this.gist = make("span", "gist");
    this.outcome = make("span", "outcome");
    const summary = make("summary");
    summary.append(icon(TOOL, "tool"), make("span", "name", name), this.gist, this.outcome, icon(CHEVRON, "chevron"));
    this.facts = make("dl");
    this.element.append(summary, this.facts);
  }

  extend(piece) {
    this.json += piece;
    this.gist.textContent = this.json;
  }

  finish(block) {
    if (block) {
      this.json = block.arguments_json;
      const given = parsed(this.json);
      this.gist.textContent = Object.values(given).map(shown).join(", ");
      this.facts.replaceChildren();
      for (const [name, value] of Object.entries(given)) this.fact(name, shown(value));
      if (!block.complete) this.result({ text: "cut off, so it was not run", is_error: true });
    } else this.element.classList.remove("live");
  }

  result({ text, is_error: failed }) {
    this.element.classList.remove("live");
    this.element.classList.toggle("failed", failed);
    this.outcome.textContent = failed ? "failed" : text;
    this.fact(failed ? "failure" : "result", text);
  }

  fact(name, text) {
    this.facts.append(make("dt", "", name), make("dd", "", text));
  }
}

function parsed(json) {
  try {
    const value = JSON.parse(json || "{}");
    return value !== null && typeof value === "object" ? value : { value };
  } catch {
    return { arguments: json };
  }
}

const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));

function spoken(seconds) {
  if (seconds < 1) return "a moment";
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

function icon(path, kind) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", kind);
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  svg.append(document.createElementNS(svg.namespaceURI, "path"));
  svg.firstChild.setAttribute("d", path);
  return svg;
}

// Many pieces come between two frames of the screen; one drawing is enough for all of them.
const waiting = new Set();

function soon(part) {
  if (!waiting.size) requestAnimationFrame(drawAll);
  waiting.add(part);
}

function drawAll() {
  for (const part of waiting) part.draw();
  waiting.clear();
  document.dispatchEvent(new Event("drawn"));
}
