// Figures that move: a slider goes through frames that were drawn beforehand, and tells what each shows.
for (const figure of document.querySelectorAll(".player")) {
  const frames = JSON.parse(figure.querySelector("script").textContent);
  const slider = figure.querySelector("input"), strip = figure.querySelector(".strip");
  slider.addEventListener("input", () => {
    const frame = frames[slider.value];
    if (strip) strip.style.setProperty("--at", slider.value);
    slider.setAttribute("aria-valuetext", frame.label);
    figure.querySelector("label b").textContent = frame.label;
    figure.querySelector(".told").innerHTML = frame.text;
  });
}
