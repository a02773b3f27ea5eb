"use strict";
// Opens a task's trace: from the data inside the page, or, when the page is served, from the server. Texts are set as text only.
(() => {
  const live = document.body.dataset.live === "yes";
  const dialog = document.getElementById("trace");
  const loaded = new Map();

  function make(tag, text, kind) {
    const node = document.createElement(tag);
    if (text !== undefined && text !== null) node.textContent = text;
    if (kind) node.className = kind;
    return node;
  }
  function add(parent, ...children) { children.forEach((c) => c && parent.append(c)); return parent; }

  async function unpack(run) {
    if (!loaded.has(run)) {
      const packed = document.getElementById("trace-" + run);
      if (!packed) return null;
      const bytes = Uint8Array.from(atob(packed.textContent.trim()), (c) => c.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      loaded.set(run, await new Response(stream).json());
    }
    return loaded.get(run);
  }
  async function episodeOf(run, episode) {
    if (live) {
      const reply = await fetch("trace/" + run + "/" + encodeURIComponent(episode));
      return reply.ok ? reply.json() : null;
    }
    const all = await unpack(run);
    return all && all[episode];
  }

  function seconds(span) { return span && span[0] !== null ? span[0].toFixed(2) + " to " + span[1].toFixed(2) + " s" : ""; }
  const TRUTH = { true: "good", false: "bad", unknown: "warn" };

  function conditions(task, data) {
    const table = make("table");
    const head = add(make("tr"), make("th", "condition"), make("th", "ended", "left"), make("th", "made true by", "left"), make("th", "what made it true in the source", "left"));
    add(table, add(make("thead"), head));
    const body = make("tbody");
    for (const c of task.conditions) {
      const w = c.witness;
      const source = w ? w.says + (w.inferred ? " (inferred)" : "") + ", " + seconds(w.span_s) + ": " + w.narrations.map((n) => "\u201c" + (data.narrations[n] || [n])[0] + "\u201d (" + n + ")").join(" ") : "";
      const made = (c.made_true_by || "never") + (c.undone_by ? "; undone by " + c.undone_by : "");
      add(body, add(make("tr"), make("td", c.words), make("td", c.truth, "left " + TRUTH[c.truth]), make("td", made, "left"), make("td", source, "left")));
    }
    return add(make("div", null, "scroll"), add(table, body));
  }

  function step(s) {
    if (s.kind === "saw") return add(make("li"), make("span", "sees: " + s.lines.join("; "), "dim"));
    if (s.kind === "look") {
      const li = make("li", null, "look");
      add(li, make("span", "looks for " + s.seeking + (s.picture ? " (picture)" : "") + ": " + (s.answered ? "found" : "not here") + (s.repeated ? ", looked here before" : "") + (s.conflict ? ", picture and delta disagree" : "")));
      const more = add(make("details"), make("summary", s.lines.length + " things shown"), make("span", s.lines.join("; "), "dim"));
      return add(li, more);
    }
    const li = make("li", null, s.accepted ? "accepted" : "refused");
    add(li, make("span", s.number + ". "), make("code", s.said), make("span", (s.by === "planner" ? "" : " [" + s.by + "]") + (s.accepted ? " \u2013 accepted" : " \u2013 refused"), s.accepted ? "good" : "bad"));
    if (s.failures.length) {
      const list = make("ul", null, "tight");
      s.failures.forEach((f) => add(list, make("li", f.code + " " + f.says)));
      add(li, list, make("div", "told: " + s.told.map((f) => f.code + " " + f.entity + ", needs " + f.needed).join("; "), "dim"));
    }
    if (s.repair.length) add(li, make("div", "would be valid after: " + s.repair.join(", "), "dim"));
    return li;
  }

  function group(g, data) {
    const box = make("div", null, "group");
    add(box, make("h3", g.id + ": " + g.instruction), make("p", "source " + seconds(g.span_s) + "; ended " + g.ending.replace("_", " ") + (g.reason ? " (" + g.reason + ")" : ""), "note"));
    const cols = make("div", null, "cols");
    const told = make("ul", null, "tight");
    g.narrations.forEach((n) => { const row = data.narrations[n] || [n]; add(told, make("li", row[0] + " (" + n + (row[1] !== null && row[1] !== undefined ? ", " + seconds([row[1], row[2]]) : "") + ")")); });
    const reference = make("ul", null, "tight");
    g.reference.forEach((r) => add(reference, make("li", r)));
    add(cols, add(make("details"), make("summary", g.narrations.length + " narrations"), told), add(make("details"), make("summary", g.reference.length + " reference operations"), reference));
    add(box, cols);
    g.calls.forEach((c, i) => {
      const d = add(make("details"), make("summary", "model call " + (i + 1) + (c.usage ? ": " + c.usage.input_tokens + " tokens in, " + c.usage.output_tokens + " out" : "") + (c.stop !== "done" ? ", " + c.stop : "") + (c.errors.length ? ", " + c.errors.length + " failed attempts before it" : "")));
      add(box, add(d, make("div", "asked", "dim"), make("pre", c.prompt), make("div", "replied", "dim"), make("pre", c.reply)));
    });
    const steps = make("ol", null, "steps");
    g.steps.forEach((s) => add(steps, step(s)));
    return add(box, steps);
  }

  function belief(rows, names) {
    const order = { wrong: 0, stale: 1, "not known": 2, right: 3 };
    const kind = { wrong: "bad", stale: "bad", "not known": "warn", right: "good" };
    const name = (text) => text.split(" ").map((w) => names[w] || w).join(" ");
    const table = make("table");
    add(table, add(make("thead"), add(make("tr"), make("th", "thing"), make("th", "", "left"), make("th", "believed", "left"), make("th", "true", "left"), make("th", "", "left"), make("th", "learnt", "left"))));
    const body = make("tbody");
    [...rows].sort((a, b) => order[a[4]] - order[b[4]]).forEach((r) => add(body, add(make("tr"), make("td", names[r[1]] || r[1]), make("td", r[0], "left dim"), make("td", name(r[2]), "left"), make("td", name(r[3]), "left"), make("td", r[4], "left " + kind[r[4]]), make("td", r[5] ? r[5] + " at step " + r[6] : "", "left dim"))));
    const counts = {};
    rows.forEach((r) => { counts[r[4]] = (counts[r[4]] || 0) + 1; });
    const said = Object.keys(order).filter((k) => counts[k]).map((k) => counts[k] + " " + k).join(", ");
    return add(make("details"), make("summary", "belief beside the true world at the task's end: " + said), add(make("div", null, "scroll"), add(table, body)));
  }

  async function open(run, episode, id, label) {
    const body = dialog.querySelector(".body");
    dialog.querySelector("h2").textContent = episode + "/" + id + ", " + label;
    body.replaceChildren(make("p", "loading \u2026", "note"));
    if (!dialog.open) dialog.showModal();
    const data = await episodeOf(run, episode);
    const task = data && data.tasks[id];
    if (!task) { body.replaceChildren(make("p", "No trace: the worlds of this run were not given (report --worlds WORLDS), or the episode has not ended.", "note")); return; }
    body.replaceChildren();
    add(body, make("p", task.instruction), make("p", task.tier + ", from " + task.source.kind + (task.source.label ? " \u201c" + task.source.label + "\u201d" : "") + (task.source.span_s ? ", " + seconds(task.source.span_s) : ""), "note"));
    add(body, make("h3", "How the contract ended"), conditions(task, data), belief(task.belief, data.names));
    for (let g = task.first_group; g <= task.last_group; g++) add(body, group(data.groups[g], data));
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-task]");
    if (button) {
      location.hash = ["trace", button.dataset.run, button.dataset.episode, button.dataset.task].join("/");
    }
  });
  function follow() {
    const [kind, run, episode, task] = decodeURIComponent(location.hash.slice(1)).split("/");
    if (kind !== "trace" || !task) return;
    const button = [...document.querySelectorAll("button[data-task]")].find((b) => b.dataset.run === run && b.dataset.episode === episode && b.dataset.task === task);
    open(run, episode, task, button ? button.dataset.label : "");
  }
  dialog.querySelector("button").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => { if (location.hash.startsWith("#trace/")) history.replaceState(null, "", "#tasks"); });
  window.addEventListener("hashchange", follow);
  follow();

  const search = document.getElementById("search"), outcome = document.getElementById("outcome");
  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    document.querySelectorAll("#tasks-table tbody tr").forEach((row) => {
      const fits = words.every((w) => row.dataset.text.includes(w)) && (outcome.value === "" || row.dataset.outcome === outcome.value);
      row.hidden = !fits;
      shown += fits;
    });
    document.getElementById("shown").textContent = shown + " tasks";
  }
  if (search) { search.addEventListener("input", filter); outcome.addEventListener("change", filter); filter(); }

  if (live) {
    let version = document.body.dataset.version;
    setInterval(async () => {
      try {
        const now = await (await fetch("version")).text();
        if (now !== version && !dialog.open) { location.reload(); }
      } catch (error) { /* the server has stopped; the page stays as it is */ }
    }, 3000);
  }
})();
