"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const video = $("video");
const played = [];
let stopAt = null, since = null, version = data.version;

function say(text, bad) { const box = $("status"); box.textContent = text; box.className = bad ? "bad" : ""; }
function note() {
  if (since !== null && video.currentTime > since) played.push([since, video.currentTime]);
  since = video.paused ? null : video.currentTime;
  $("clock").textContent = `clip ${Math.max(0, video.currentTime - data.clip[0]).toFixed(1)} s`;
  const seen = played.reduce((sum, [a, b]) => sum + b - a, 0);
  if ($("played")) $("played").textContent = seen ? `${seen.toFixed(0)} s played` : "not played yet";
}
function play(start, end) {
  if (!video) return;
  note(); since = null;
  stopAt = end; video.currentTime = start;
  video.play().catch((error) => say(`the clip cannot be played: ${error.message}`, true));
}
if (video) {
  video.addEventListener("loadedmetadata", () => { if (!video.videoWidth) { document.body.dataset.blind = "yes"; say("this browser shows no picture of this video (perhaps HEVC); decide nothing on its sound alone, use another browser", true); } });
  video.addEventListener("loadedmetadata", () => { if (video.currentTime < data.clip[0]) video.currentTime = data.clip[0]; });
  video.addEventListener("play", () => { since = video.currentTime; if (stopAt === null) stopAt = data.clip[1]; });
  video.addEventListener("timeupdate", () => {
    if (since !== null && video.currentTime < since) since = video.currentTime;
    if (stopAt !== null && video.currentTime >= stopAt) { video.pause(); stopAt = null; }
    note();
  });
  video.addEventListener("pause", note);
  video.addEventListener("seeked", note);
  video.addEventListener("error", () => say("the video cannot be read", true));
  $("replay").addEventListener("click", () => play(data.clip[0], data.clip[1]));
}
for (const button of document.querySelectorAll("button.span"))
  button.addEventListener("click", () => play(Number(button.dataset.start), Math.max(Number(button.dataset.end), Number(button.dataset.start) + 0.5)));

function show(review) {
  for (const button of document.querySelectorAll(".decision"))
    button.setAttribute("aria-pressed", String(Boolean(review) && review.decision === button.dataset.decision));
  for (const box of document.querySelectorAll("#issues input")) box.checked = Boolean(review) && (review.issues || []).includes(box.value);
  $("note").value = review ? review.note || "" : "";
  for (const one of (review && review.suggestions) || []) {
    const area = document.querySelector(`article[data-turn="${Number(one.turn)}"] textarea[data-field="${CSS.escape(one.field)}"]`);
    if (area) { area.value = one.text; area.closest("details").open = true; }
  }
}
function suggestions() {
  const out = [];
  for (const area of document.querySelectorAll("article textarea"))
    if (area.value !== area.defaultValue)
      out.push({ turn: Number(area.closest("article").dataset.turn), field: area.dataset.field, text: area.value, original_hash: area.dataset.hash });
  return out;
}
async function post(path, body) {
  const answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body || {}) });
  return [answer.status, await answer.json()];
}
const here = `/r/${encodeURIComponent(data.reviewer)}/${data.number}`;
let busy = false;
async function decide(decision) {
  if (busy) return;
  if (document.body.dataset.blind) return say("not saved: this browser shows no picture of this video", true);
  busy = true;
  if (video) note();
  const issues = [...document.querySelectorAll("#issues input:checked")].map((box) => box.value);
  try {
    const [status, said] = await post(here, { version, decision, issues, note: $("note").value, suggestions: suggestions(), played_s: played });
    if (status === 200) {
      version = said.version; show(said.review);
      say(`saved: ${decision.replace("_", " ")}` + (decision === "accept" && !said.review.media_verified ? "; the clip was not played, so it stays unverified" : ""));
      document.body.dataset.saved = said.review.id;
    } else if (status === 409) {
      version = said.version; show(said.review);
      say(`${said.error} (version ${said.version})`, true);
      document.body.dataset.saved = said.review.id;
    } else say(said.error || "not saved", true);
  } catch (error) { say(`not saved: ${error.message}. Try again; nothing was lost before.`, true); }
  busy = false;
}
async function undo() {
  try {
    const [status, said] = await post(`${here}/undo`);
    if (status !== 200) return say(said.error || "not undone", true);
    version = said.version; show(said.current);
    document.body.dataset.saved = said.undone ? `undone-${said.undone}` : "";
    say(said.undone ? "undone" : "nothing to undo");
  } catch (error) { say(`not undone: ${error.message}`, true); }
}
for (const button of document.querySelectorAll(".decision")) button.addEventListener("click", () => decide(button.dataset.decision));
$("undo").addEventListener("click", undo);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(TEXTAREA|INPUT|VIDEO)$/.test(event.target.tagName) && event.target.type !== "checkbox") return;
  const button = document.querySelector(`.decision[data-key="${CSS.escape(event.key)}"]`);
  if (button) { event.preventDefault(); decide(button.dataset.decision); }
  else if (event.key === "z") undo();
  else if (event.key === "p") play(data.clip[0], data.clip[1]);
  else if (event.key === "j" || event.key === "ArrowRight") { const next = $("next"); if (next.hasAttribute("href")) location.href = next.href; }
  else if (event.key === "k" || event.key === "ArrowLeft") { const previous = $("previous"); if (previous.hasAttribute("href")) location.href = previous.href; }
  else if (/^[1-9]$/.test(event.key)) { const box = document.querySelectorAll("#issues input")[Number(event.key) - 1]; if (box) box.checked = !box.checked; }
});
show(data.current);
