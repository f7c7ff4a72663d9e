// The home page's model: it counts which letter follows which n - 1 letters in the course's own text, and writes.
const writer = document.querySelector(".writer");
if (writer) fetch(writer.dataset.text).then((answer) => answer.text()).then((text) => {
  const slider = writer.querySelector("input"), page = writer.querySelector(".page"), said = writer.querySelector(".said");
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const counts = {};
  let timer;

  function followers(n) { // all letters that follow each run of n - 1 letters, as one string a run
    if (!counts[n]) {
      counts[n] = new Map();
      for (let i = n - 1; i < text.length; i++) {
        const seen = text.slice(i - n + 1, i);
        counts[n].set(seen, (counts[n].get(seen) || "") + text[i]);
      }
    }
    return counts[n];
  }

  function write() {
    clearInterval(timer);
    const n = Number(slider.value), table = followers(n);
    const starts = [...text.matchAll(/[.] [A-Z]/g)].map((match) => match.index + 2);
    const start = starts[Math.floor(Math.random() * starts.length)];
    let written = n > 1 ? text.slice(start, start + n - 1) : "";
    const step = () => {
      const options = table.get(n > 1 ? written.slice(1 - n) : "") || " ";
      written += options[Math.floor(Math.random() * options.length)];
    };
    const show = (done) => {
      const seen = n > 1 && !done ? written.slice(1 - n) : "";
      page.textContent = written.slice(0, written.length - seen.length);
      page.append(Object.assign(document.createElement("span"), { className: "seen", textContent: seen }));
    };
    slider.setAttribute("aria-valuetext", `${n - 1} letter${n == 2 ? "" : "s"}`);
    said.textContent = n == 1 ? "It looks back at no letter, and knows only how often each one comes."
      : `It looks back at ${n - 1} letter${n == 2 ? "" : "s"}, and has met ${table.size.toLocaleString("en")} different runs of them.`;
    if (still) {
      while (written.length < 320) step();
      show(true);
    } else timer = setInterval(() => {
      step();
      show(written.length >= 320);
      if (written.length >= 320) clearInterval(timer);
    }, 25);
  }
  slider.addEventListener("input", write);
  write();
});
