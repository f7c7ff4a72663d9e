"""What a screen reader says of a widget's controls: their names, and their values as they are shown.

ipywidgets writes a slider's name and value beside it. A screen reader gets no name from it, and as the value a number
with all its digits, or the place of an option among the options. Nor does it get which button of a row is chosen.
"""

SCRIPT = """(() => {
  if (window.courseAloud) return;
  const put = (one, name, value) => {
    if (value && one.getAttribute(name) !== value) one.setAttribute(name, value);
  };
  const all = (within, wanted) => [...within.querySelectorAll(wanted)];
  const nameOf = (box) => box.querySelector(".widget-label")?.textContent.trim();
  const name = () => {
    for (const box of all(document, ".widget-slider")) {
      const shown = box.querySelector(".widget-readout");
      for (const handle of all(box, ".noUi-handle")) {
        put(handle, "aria-label", nameOf(box));
        put(handle, "aria-valuetext", shown?.textContent.trim());
      }
      if (shown?.isContentEditable) {
        put(shown, "role", "textbox");
        put(shown, "aria-label", nameOf(box));
      }
    }
    for (const box of all(document, ".widget-toggle-buttons").filter(nameOf)) {
      put(box, "role", "group");
      put(box, "aria-label", nameOf(box));
    }
    for (const button of all(document, ".widget-toggle-button, .widget-toggle-buttons button"))
      put(button, "aria-pressed", String(button.classList.contains("mod-active")));
    for (const button of all(document, ".widget-toggle-button[title]:not([title=''], [title=null])"))
      put(button, "aria-label", `${button.title}: ${button.textContent}`);
  };
  window.courseAloud = new MutationObserver(name);
  const changes = {attributeFilter: ["aria-valuetext", "class", "title"], characterData: true, childList: true};
  window.courseAloud.observe(document.body, {subtree: true, ...changes});
  name();
})();"""
"""Runs once on a page, and gives these to every control there, now and later."""
