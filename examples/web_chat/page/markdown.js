// Markdown for text that nobody vouches for: it makes elements and text nodes, never HTML, and loads nothing.
//
// Images become links, since loading one would tell a stranger's server what the model was made to put into its address.
// Raw HTML stays text. Links lead to http, https and mailto alone.

const LONGEST = 8000; // characters of one run of text in which marks are looked for; the patterns are not linear
const DEEPEST = 8; // lists in quotes in lists
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/;
const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*([^`\n]*)$/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$/;
const RULE = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const QUOTE = /^ {0,3}> ?/;
const TABLE_LINE = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

/** Shows a text that grows: only the blocks that have changed are made anew, so that a selection above them stays. */
export class MarkdownView {
  constructor(element) {
    this.element = element;
    this.shown = [];
  }

  show(text, { growing = false } = {}) {
    const blocks = blocksOf(growing ? closed(text) : text);
    let same = 0;
    while (same < blocks.length && same < this.shown.length && blocks[same].source === this.shown[same]) same++;
    while (this.element.children.length > same) this.element.lastElementChild.remove();
    for (const block of blocks.slice(same)) this.element.append(rendered(block, 0));
    this.shown = blocks.map((block) => block.source);
  }
}

/** Text with the marks closed that its end has left open, so that they do not show for the moment. */
function closed(text) {
  const tail = text.slice(text.lastIndexOf("\n\n") + 1);
  if ((text.match(/^ {0,3}```/gm) ?? []).length % 2) return text;
  const plain = tail.replace(/`[^`\n]*`/g, "");
  if (plain.includes("`")) return text + "`";
  const strong = (plain.match(/\*\*/g) ?? []).length % 2;
  return strong ? (/\*\*\s*$/.test(text) ? text.replace(/\*\*\s*$/, "") : text.replace(/\*$/, "") + "**") : text;
}

// blocks

function blocksOf(text) {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const blocks = [];
  let at = 0;
  const take = (kind, end, more) => {
    blocks.push({ kind, source: lines.slice(at, end).join("\n"), ...more });
    at = end;
  };
  while (at < lines.length) {
    const line = lines[at];
    let found;
    if (!line.trim()) at++;
    else if ((found = FENCE.exec(line))) {
      const end = endOfFence(lines, at, found[1]);
      take("code", end + 1, { language: found[2].trim().split(/\s/)[0], lines: lines.slice(at + 1, end) });
    } else if ((found = HEADING.exec(line))) take("heading", at + 1, { level: found[1].length, text: found[2] });
    else if (RULE.test(line)) take("rule", at + 1);
    else if (QUOTE.test(line)) {
      const end = until(lines, at, (next) => !next.trim());
      take("quote", end, { text: lines.slice(at, end).map((each) => each.replace(QUOTE, "")).join("\n") });
    } else if (ITEM.test(line)) take("list", ...list(lines, at));
    else if (line.includes("|") && TABLE_LINE.test(lines[at + 1] ?? "")) {
      const end = until(lines, at + 1, (next) => !next.includes("|"));
      take("table", end, { rows: lines.slice(at, end).map(cells) });
    } else {
      const end = until(lines, at, (next) => !next.trim() || interrupts(next));
      take("paragraph", end, { text: lines.slice(at, end).map((each) => each.replace(/^[ \t]+/, "")).join("\n") });
    }
  }
  return blocks;
}

function until(lines, at, over) {
  let end = at + 1;
  while (end < lines.length && !over(lines[end])) end++;
  return end;
}

function endOfFence(lines, at, mark) {
  const close = (line) => /^ {0,3}[`~]+[ \t]*$/.test(line) && line.trim().startsWith(mark);
  return until(lines, at, close);
}

const interrupts = (line) =>
  FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || /^ {0,3}([-*+]|1[.)]) +\S/.test(line);

function list(lines, at) {
  const first = ITEM.exec(lines[at]);
  const ordered = /\d/.test(first[2]);
  const items = [];
  let end = at;
  let loose = false;
  let width = 0;
  while (end < lines.length) {
    const line = lines[end];
    const found = ITEM.exec(line);
    const indent = /^ */.exec(line)[0].length;
    const blankBefore = items.length > 0 && !lines[end - 1].trim();
    if (items.length && line.trim() && indent >= Math.min(width, 2) && indent > first[1].length) {
      items.at(-1).push(line.slice(Math.min(indent, width)));
    } else if (found && /\d/.test(found[2]) === ordered && !RULE.test(line)) {
      loose ||= blankBefore;
      width = found[0].length;
      items.push([line.slice(width)]);
    } else if (items.length && !line.trim()) {
      items.at(-1).push("");
    } else if (items.length && !blankBefore && !interrupts(line)) {
      items.at(-1).push(line);
    } else break;
    end++;
  }
  while (!lines[end - 1].trim()) end--;
  const start = ordered ? Number.parseInt(first[2], 10) : 1;
  return [end, { ordered, start, loose, items: items.map((item) => item.join("\n").trimEnd()) }];
}

function cells(line) {
  const inner = line.trim().replace(/^\|/, "").replace(/(^|[^\\])\|$/, "$1");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function rendered(block, depth) {
  switch (block.kind) {
    case "code":
      return code(block);
    case "heading":
      return inline(block.text, make(`h${Math.min(block.level + 2, 6)}`));
    case "rule":
      return make("hr");
    case "quote":
      return nested(block.text, make("blockquote"), depth);
    case "list": {
      const element = make(block.ordered ? "ol" : "ul");
      if (block.ordered && block.start !== 1) element.start = block.start;
      for (const item of block.items) element.append(nested(item, make("li"), depth, !block.loose));
      return element;
    }
    case "table":
      return table(block.rows);
    default:
      return inline(block.text, make("p"));
  }
}

function nested(text, element, depth, tight = false) {
  if (depth >= DEEPEST) return inline(text, element);
  const blocks = blocksOf(text);
  const alone = tight && blocks.filter((block) => block.kind === "paragraph").length === 1;
  for (const block of blocks) {
    if (alone && block.kind === "paragraph") inline(block.text, element);
    else element.append(rendered(block, depth + 1));
  }
  return element;
}

function code({ language, lines }) {
  const text = lines.join("\n");
  const copy = make("button", "quiet", "Copy");
  copy.type = "button";
  copy.addEventListener("click", () => copied(text, copy));
  const caption = make("figcaption");
  caption.append(make("span", "", language || "text"), copy);
  const pre = make("pre");
  pre.tabIndex = 0; // it may scroll, so the keyboard must reach it
  pre.append(make("code", "", text));
  const figure = make("figure", "code");
  figure.append(caption, pre);
  return figure;
}

function table([head, line, ...rows]) {
  const side = line.map((cell) => (/^:-+:$/.test(cell) ? "center" : /-:$/.test(cell) ? "end" : ""));
  const row = (texts, name) => {
    const element = make("tr");
    for (let place = 0; place < head.length; place++) {
      element.append(inline(texts[place] ?? "", make(name, side[place] ?? "")));
    }
    return element;
  };
  const [thead, tbody, element, frame] = [make("thead"), make("tbody"), make("table"), make("div", "table")];
  thead.append(row(head, "th"));
  tbody.append(...rows.map((texts) => row(texts, "td")));
  element.append(thead, tbody);
  frame.append(element);
  return frame;
}

// marks within a text

const MARKS = [
  [/\\([!-/:-@[-`{-~])/y, (found, to) => to.append(found[1])],
  [/(`+)(?!`)([\s\S]*?[^`])\1(?!`)/y, (found, to) => to.append(make("code", "", found[2].replace(/^ (.+) $/, "$1")))],
  [/(!?)\[((?:[^[\]\\]|\\.)*)\]\(\s*<?([^\s<>()]*(?:\([^\s()]*\)[^\s<>()]*)*)>?(?:\s+"[^"]*")?\s*\)/y, link],
  [/\*\*(?=\S)([\s\S]*?\S)\*\*(?!\*)/y, (found, to) => to.append(inline(found[1], make("strong")))],
  [/__(?=\S)([\s\S]*?\S)__(?!\w)/y, (found, to) => to.append(inline(found[1], make("strong")))],
  [/\*(?=[^\s*])([^*]*[^\s*])\*(?!\*)/y, (found, to) => to.append(inline(found[1], make("em")))],
  [/_(?=[^\s_])([^_]*[^\s_])_(?!\w)/y, (found, to) => to.append(inline(found[1], make("em")))],
  [/~~(?=\S)([\s\S]*?\S)~~/y, (found, to) => to.append(inline(found[1], make("del")))],
  [/https?:\/\/[^\s<>"']*[^\s<>"'.,:;!?)\]]/y, (found, to) => to.append(anchor(found[0], found[0]) ?? found[0])],
  [/ {2,}\n/y, (_, to) => to.append(make("br"))],
];
const NEXT = /[\\`![*_~\n]|https?:/g;

function inline(text, element) {
  if (text.length > LONGEST) {
    element.append(text);
    return element;
  }
  let at = 0;
  let plain = 0;
  while (at < text.length) {
    NEXT.lastIndex = at;
    const next = NEXT.exec(text);
    if (!next) break;
    at = next[0] === "\n" ? Math.max(plain, at, next.index - 2) : next.index;
    const inWord = text[at] === "_" && /\w/.test(text[at - 1] ?? "");
    const mark = inWord ? null : marked(text, at);
    if (mark) {
      if (at > plain) element.append(text.slice(plain, at));
      mark.make(mark.found, element);
      at = plain = at + mark.found[0].length;
    } else at = next.index + (text[next.index] === "`" ? /^`+/.exec(text.slice(next.index))[0].length : 1);
  }
  if (plain < text.length) element.append(text.slice(plain));
  return element;
}

function marked(text, at) {
  for (const [pattern, make] of MARKS) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) return { found, make };
  }
  return null;
}

function link([whole, image, label, target], to) {
  const element = anchor(target, "");
  if (!element) to.append(whole);
  else if (image) {
    element.textContent = `Image: ${label || target}`;
    to.append(element);
  } else to.append(inline(label, element));
}

/** A link, or null where it leads to nothing that a page may open. */
function anchor(target, text) {
  let url;
  try {
    url = new URL(target);
  } catch {
    return null;
  }
  if (!["http:", "https:", "mailto:"].includes(url.protocol)) return null;
  const element = make("a", "", text);
  element.href = url.href;
  element.target = "_blank";
  element.rel = "noopener noreferrer nofollow";
  return element;
}

// elements

/** An element with a class and a text. */
export function make(name, kind = "", text = "") {
  const element = document.createElement(name);
  if (kind) element.className = kind;
  if (text) element.textContent = text;
  return element;
}

/** Copy a text, and let the button say so for a moment. */
export async function copied(text, button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copying is not allowed";
  }
  setTimeout(() => (button.textContent = label), 1600);
}
