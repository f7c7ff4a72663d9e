// What this browser remembers of the course: pages that were opened and read to their end. The home page's map shows it.
const remembered = JSON.parse(localStorage.getItem("course") || "{}");
const topic = location.pathname.match(/notebooks\/(\d\d_\w+)\.html$/)?.[1];
if (topic) {
  const keep = (how) => localStorage.setItem("course", JSON.stringify({ ...remembered, [topic]: how }));
  if (!remembered[topic]) keep("opened");
  new IntersectionObserver((seen) => seen[0].isIntersecting && keep("read")).observe(document.querySelector(".md-footer"));
}
for (const stop of document.querySelectorAll(".course-map a.stop")) {
  const how = remembered[stop.getAttribute("href").match(/(\d\d_\w+)\.html/)?.[1]];
  if (how) stop.after(Object.assign(document.createElement("small"), { className: how, textContent: ` ${how}` }));
}
