"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const video = $("video");
const opened = performance.now();
const given = data.given;
const spans = {};
let replays = 0, whole = false, waiting = 0, loads = 0;

function say(text, bad) { const box = $("status"); box.textContent = text; box.className = bad ? "bad" : ""; }
video.addEventListener("timeupdate", () => { $("clock").textContent = `${video.currentTime.toFixed(1)} s`; });
video.addEventListener("play", () => { if (video.currentTime < 0.3) replays += 1; });
video.addEventListener("ended", () => { whole = true; $("played").textContent = "played to its end"; });
video.addEventListener("error", () => {
  loads += 1;
  if (loads > 5) return say("the video cannot be played; tell whoever gave you this page", true);
  say("the video does not load; trying again", true);
  setTimeout(() => video.load(), 1000 * loads);
});
video.addEventListener("loadedmetadata", () => {
  if (!video.videoWidth) say("this browser shows no picture of this video; use another browser", true);
  else if (loads) { loads = 0; say(""); }
});

const rows = [...document.querySelectorAll(".gate")];
const sidOf = (row) => row.closest(".subgoal").dataset.sid;
function asked(sid) {
  if (data.all_gates) return [...data.task, ...data.physics];
  const mine = given[sid] || {}, out = [];
  for (const chain of [data.task, data.physics]) {
    if (chain === data.physics && (mine.T1 || {}).answer !== "pass") continue;
    for (const gate of chain) { out.push(gate); if ((mine[gate] || {}).answer !== "pass") break; }
  }
  return out;
}
function show() {
  for (const row of rows) {
    const sid = sidOf(row), one = (given[sid] || {})[row.dataset.gate];
    row.dataset.asked = asked(sid).includes(row.dataset.gate) ? "yes" : "no";
    for (const button of row.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(Boolean(one) && one.answer === button.dataset.answer));
      button.disabled = row.dataset.asked === "no";
    }
    const why = row.querySelector("select");
    why.hidden = !(one && one.answer === "fail");
    why.value = one ? one.failure || "" : "";
  }
  for (const sid of data.subgoals) {
    const span = spans[sid];
    document.querySelector(`[data-span="${CSS.escape(sid)}"]`).textContent = span ? ` ${span[0] === null ? "?" : span[0].toFixed(1)} to ${span[1] === null ? "?" : span[1].toFixed(1)} s` : "";
  }
}
for (const sid of data.subgoals) {
  const known = Object.values(given[sid] || {}).find((one) => one.t_start !== null || one.t_end !== null);
  if (known) spans[sid] = [known.t_start, known.t_end];
}
async function send(row, answer, failure) {
  const sid = sidOf(row), gate = row.dataset.gate, span = spans[sid] || [null, null];
  const body = { sid, gate, answer, failure: failure || "", t_start: span[0], t_end: span[1], seconds: (performance.now() - opened) / 1000, replays };
  waiting += 1;
  try {
    const reply = await fetch(`/a/${encodeURIComponent(data.annotator)}/${data.number}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    const said = await reply.json();
    if (!reply.ok) return say(said.error || "not saved", true);
    given[sid] = given[sid] || {};
    if (answer === "not_reached") delete given[sid][gate]; else given[sid][gate] = said.saved;
    show();
    say(said.complete ? (whole ? "saved; all is answered" : "saved; all is answered, but the video was not played to its end") : "saved");
    document.body.dataset.saved = `${Number(document.body.dataset.saved || 0) + 1}`;
    document.body.dataset.complete = String(said.complete);
  } catch (error) { say(`not saved: ${error.message}. Try again; nothing was lost before.`, true); }
  finally { waiting -= 1; }
}
function answer(row, value) {
  if (!row || row.dataset.asked === "no") return;
  send(row, value).then(() => { if (value === "pass" || value === "fail" || value === "unclear") move(1, row); });
}
function move(by, from) {
  const open = rows.filter((row) => row.dataset.asked === "yes");
  const at = open.indexOf(from || document.activeElement.closest(".gate"));
  const to = open[Math.min(open.length - 1, Math.max(0, at + by))];
  if (to) to.focus();
}
for (const row of rows) {
  for (const button of row.querySelectorAll("button")) button.addEventListener("click", () => answer(row, button.dataset.answer));
  row.querySelector("select").addEventListener("change", (event) => send(row, "fail", event.target.value));
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  const row = document.activeElement.closest ? document.activeElement.closest(".gate") : null;
  const value = { p: "pass", f: "fail", u: "unclear", x: "not_reached" }[event.key];
  if (value) { event.preventDefault(); answer(row, value); }
  else if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); move(event.key === "ArrowDown" ? 1 : -1); }
  else if (event.key === " " && event.target.tagName !== "BUTTON") { event.preventDefault(); if (video.paused) video.play().catch(() => {}); else video.pause(); }
  else if (event.key === "," || event.key === ".") { video.pause(); video.currentTime = Math.max(0, video.currentTime + (event.key === "." ? 1 : -1) / 30); }
  else if ((event.key === "[" || event.key === "]") && row) {
    const sid = sidOf(row), span = spans[sid] || [null, null];
    spans[sid] = event.key === "[" ? [video.currentTime, span[1]] : [span[0], video.currentTime];
    show();
    const first = rows.find((one) => sidOf(one) === sid && (given[sid] || {})[one.dataset.gate]);
    if (first) send(first, given[sid][first.dataset.gate].answer, given[sid][first.dataset.gate].failure);
  }
  else if (event.key === "j" && $("next").hasAttribute("href")) location.href = $("next").href;
  else if (event.key === "k" && $("previous").hasAttribute("href")) location.href = $("previous").href;
});
window.addEventListener("beforeunload", (event) => { if (waiting) event.preventDefault(); });
show();
(rows.find((row) => row.dataset.asked === "yes" && !(given[sidOf(row)] || {})[row.dataset.gate]) || rows[0]).focus({ preventScroll: true });
