// The rubric of a written question, beside its answer on formgrader's page of a submission.
//
// The server knows which criteria are taken and what they sum to. This file draws that, sends each change with the
// version of what the grader saw, and asks the grader where somebody else has saved meanwhile. Below the rubric it shows
// all students' answers to the question, and a bar leads to the next answer that nobody graded.
"use strict";

(() => {
  const POLL = 10000; // milliseconds after which the page looks for what others saved
  const TYPING = "input:not([type=checkbox]), textarea, select, [contenteditable]";
  const panels = [];

  async function ask(method, path, body) {
    try {
      const answer = await fetch(`${base_url}/api/${path}`, {
        method,
        body: body && JSON.stringify(body),
        headers: { "X-XSRFToken": getCookie("_xsrf") || "" },
      });
      return { status: answer.status, said: await answer.json() };
    } catch (error) {
      return { status: 0, said: { fault: "The server does not answer. Is Jupyter still running?" } };
    }
  }

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "onclick") element.addEventListener("click", value);
      else if (value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  const button = (attributes, ...children) => make("button", { type: "button", ...attributes }, ...children);
  const points = (number) => `${number} ${number === 1 ? "point" : "points"}`;
  const time = (at) => new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
  const who = (save) => (save.is_you ? `you (${save.by})` : save.by);

  // Criteria in rows: those of one group are one row, and a digit key takes the next of them.
  function rowsOf(criteria) {
    const rows = [];
    for (const one of criteria) {
      const last = rows[rows.length - 1];
      if (one.group && last && last[0].group === one.group) last.push(one);
      else rows.push([one]);
    }
    return rows;
  }

  class Panel {
    constructor(state, cell, grade, comment) {
      Object.assign(this, { state, cell, grade, comment, waiting: Promise.resolve(), asking: false, drawn: "" });
      this.ticks = new Map(); // the grader's own ticks of alike answers, by submission
      this.id = `rubric-${state.question}`;
      this.text = cell.querySelector("textarea.comment");
      this.score = cell.querySelector("input.score");
      this.extra = cell.querySelector("input.extra-credit");
      this.sum = make("p", { class: "rubric-sum", role: "status" });
      this.list = make("ul", { class: "rubric-criteria" });
      this.used = make("details", { class: "rubric-used" });
      this.saved = make("div", { class: "rubric-saved" });
      this.alert = make("div", { class: "rubric-alert", role: "alert" });
      this.heading = make("h5", { id: this.id });
      this.everybody = make("div", { class: "rubric-class" });
      const parts = [this.heading, this.sum, this.alert, this.list, this.used, this.saved, this.everybody];
      this.section = make("section", { class: "rubric", "aria-labelledby": this.id }, ...parts);
      this.label();
      this.listen();
      cell.classList.add("has-rubric");
      cell.querySelector(".panel-body").after(make("div", {}, this.section)); // the panel stays above the comment
      this.replaceSync(grade, "grade", (model) => ({
        manual_score: model.get("manual_score"),
        extra_credit: model.get("extra_credit"),
      }));
      this.replaceSync(comment, "comment", (model) => ({ manual_comment: model.get("manual_comment") }));
      this.show(state);
    }

    get path() {
      return `${submission_id}/${encodeURIComponent(this.state.question)}`;
    }

    get isOpen() {
      return this.state.grade.needs_manual_grade;
    }

    get isInView() {
      const box = this.section.getBoundingClientRect();
      return box.top < window.innerHeight * 0.8 && box.bottom > window.innerHeight * 0.2;
    }

    // Come to the answer and the question above it, with the focus in no field, so that digits take criteria at once.
    comeHere() {
      $(":animated").finish();
      formgrader.last_selected = $(this.score);
      if (document.activeElement) document.activeElement.blur();
      const question = this.cell.closest(".cell").previousElementSibling;
      const isShort = question && question.offsetHeight < window.innerHeight / 3;
      const top = (isShort ? question : this.cell).getBoundingClientRect().top + window.scrollY;
      window.scrollTo({ top: top - 60 }); // below formgrader's own bar
      markActive();
    }

    async learn(method = "GET", body = undefined) {
      const { status, said } = await ask(method, `questions/${this.path}`, body);
      if (status === 200) this.drawEverybody(said);
      else this.everybody.replaceChildren(make("p", { role: "alert" }, said.fault));
      drawBar();
    }

    label() {
      this.score.setAttribute("aria-label", `Points for ${this.state.question}`);
      this.extra.setAttribute("aria-label", `Extra credit for ${this.state.question}`);
      this.text.setAttribute("aria-label", `Comment on ${this.state.question}`);
    }

    listen() {
      // Formgrader moves Tab and Enter between its own fields only; on the way to the rubric they are the browser's.
      this.cell.addEventListener("keydown", (event) => {
        const inside = this.section.contains(event.target);
        const enters = event.shiftKey ? event.target === this.text : event.target === this.extra;
        if (!event.ctrlKey && (inside || (event.key === "Tab" && enters))) event.stopPropagation();
      });
      this.section.addEventListener("focusin", () => (formgrader.last_selected = $(this.score)));
    }

    // What nbgrader's fields save goes the same way as criteria: in one order, and never over another's.
    replaceSync(model, name, fields) {
      model.sync = (method, _, options) => {
        model.trigger("request", model, null, options);
        return this.save(fields(model)).then(() => options.success(this.state[name]));
      };
    }

    save(change) {
      this.waiting = this.waiting.then(() => this.put(change));
      return this.waiting;
    }

    async put(change) {
      for (;;) {
        const { status, said } = await ask("PUT", `rubrics/${this.path}`, { ...change, version: this.state.version });
        if (status === 200) {
          this.show(said);
          this.learn();
          return;
        }
        if (status === 409) {
          const last = said.saves[said.saves.length - 1];
          const by = last && !said.changed_elsewhere ? `${who(last)} saved` : "Somebody changed";
          const given = said.grade.manual_score === null ? "no points" : points(said.grade.manual_score);
          const told = `${by} this answer while you had it open, with ${given}. Your change is not saved yet.`;
          const mine = await this.choose(told, "Keep theirs", "Save mine");
          if (!mine) return this.show(said);
          this.state = said;
        } else {
          const again = await this.choose(`Not saved. ${said.fault}`, "Discard my change", "Try again");
          if (!again) return this.show(this.state);
        }
      }
    }

    // Ask the grader; true for the second answer.
    choose(told, no, yes) {
      this.asking = true;
      return new Promise((resolve) => {
        const end = (answer) => () => {
          this.asking = false;
          this.alert.replaceChildren();
          resolve(answer);
        };
        const no_button = button({ class: "btn btn-default btn-sm", onclick: end(false) }, no);
        const yes_button = button({ class: "btn btn-default btn-sm", onclick: end(true) }, yes);
        this.alert.replaceChildren(make("p", {}, told), no_button, " ", yes_button);
        this.alert.scrollIntoView({ block: "nearest" });
      });
    }

    take(criterion, take) {
      if (!this.asking) this.save({ criterion: criterion.wording, take });
    }

    // A digit: the next criterion of the row, and after the last one none.
    step(number) {
      const row = rowsOf(this.state.criteria)[number - 1];
      if (!row) return;
      const now = row.findIndex((one) => one.taken);
      if (now === row.length - 1) this.take(row[now], false);
      else this.take(row[now + 1], true);
    }

    use(text) {
      const typed = this.comment.get("manual_comment") || "";
      this.comment.save({ manual_comment: typed.trim() ? `${typed.trimEnd()}\n\n${text}` : text });
      this.used.querySelector("summary").focus();
    }

    get isTyping() {
      const differs = (field, value) => field.value !== String(value ?? "");
      return (
        differs(this.text, this.comment.get("manual_comment")) ||
        differs(this.score, this.grade.get("manual_score")) ||
        differs(this.extra, this.grade.get("extra_credit"))
      );
    }

    // What another grader saved is shown, unless this one is typing: then the next save asks.
    hear(state) {
      if (this.asking) return;
      if (this.isTyping) this.drawSaved(state);
      else this.show(state);
    }

    show(state) {
      this.state = state;
      this.grade.set(state.grade);
      this.comment.set(state.comment);
      autosize.update(this.text);
      this.drawSum(state);
      this.drawCriteria(state);
      this.drawUsed(state);
      this.drawSaved(state);
    }

    drawSum(state) {
      const start = state.starts_full ? `from ${points(state.maximum)} down` : "from 0 points up";
      this.heading.replaceChildren("Rubric ", make("small", {}, start));
      const given = state.grade.manual_score;
      const all = `of ${points(state.maximum)}`;
      const without = state.grade.auto_score; // nbgrader's own 0
      if (given === null && without === null) this.sum.textContent = "Not graded yet";
      else if (given === null)
        this.sum.replaceChildren(make("strong", {}, String(without)), ` ${all}, because the answer is empty or unchanged`);
      else if (!state.by_hand) this.sum.replaceChildren(make("strong", {}, String(given)), ` ${all}`);
      else {
        const use = () => !this.asking && this.save({ use_rubric: true });
        const told = ` ${all}, written by hand. The criteria give ${state.sum}. `;
        const back = button({ class: "btn btn-default btn-xs", onclick: use }, `Use ${points(state.sum)}`);
        this.sum.replaceChildren(make("strong", {}, String(given)), told, back);
      }
    }

    drawCriteria(state) {
      const rows = rowsOf(state.criteria);
      const wanted = JSON.stringify(state.criteria.map((one) => [one.wording, one.points]));
      if (wanted !== this.drawn) {
        this.drawn = wanted;
        this.list.replaceChildren(...rows.map((row, index) => this.row(row, index + 1)));
      }
      const buttons = this.list.querySelectorAll(".rubric-criterion");
      state.criteria.forEach((one, index) => buttons[index].setAttribute("aria-pressed", one.taken));
      this.drawGiven();
    }

    row(row, number) {
      const key = number <= 9 ? String(number) : null;
      const hint = key ? [make("kbd", { "aria-hidden": "true" }, key)] : [];
      const buttons = row.map((one) => {
        const index = this.state.criteria.indexOf(one);
        const toggle = () => this.take(this.state.criteria[index], !this.state.criteria[index].taken);
        return button(
          { class: "rubric-criterion", "aria-keyshortcuts": key, onclick: toggle },
          ...(one.group ? [] : hint),
          make("span", { class: "rubric-points" }, one.points),
          make("span", { class: "rubric-text" }, one.text),
          make("span", { class: "rubric-given" }),
        );
      });
      if (!row[0].group) return make("li", {}, ...buttons);
      const name = make("span", { class: "rubric-group" }, ...hint, make("span", {}, row[0].group));
      const group = make("div", { role: "group", "aria-label": row[0].group }, ...buttons);
      return make("li", { class: "rubric-row" }, name, group);
    }

    drawUsed(state) {
      const typed = (state.comment.manual_comment || "").split(/\n{2,}/).map((one) => one.trim());
      const offered = state.used_before.filter(([text]) => !typed.includes(text));
      this.used.hidden = offered.length === 0 && !this.used.contains(document.activeElement);
      const search = make("input", { type: "search", class: "form-control input-sm", "aria-label": "Find a comment" });
      search.placeholder = "Find a comment";
      const items = offered.map(([text, count]) => {
        const times = make("span", { class: "rubric-count" }, `${count}×`);
        return make("li", {}, button({ onclick: () => this.use(text) }, times, make("span", {}, text)));
      });
      search.addEventListener("input", () => {
        const wanted = search.value.toLowerCase();
        items.forEach((item) => (item.hidden = !item.textContent.toLowerCase().includes(wanted)));
      });
      const summary = this.used.querySelector("summary") || make("summary");
      summary.textContent = `Comments used before (${offered.length})`;
      const several = items.length > 5 ? [search] : [];
      this.used.replaceChildren(summary, ...several, make("ul", {}, ...items));
    }

    drawSaved(state) {
      const last = state.saves[state.saves.length - 1];
      const graded = state.grade.manual_score !== null;
      if (!last) {
        this.saved.replaceChildren(...(graded ? [make("p", {}, "Nobody's name was kept for these points.")] : []));
        return;
      }
      const since = state.changed_elsewhere ? " It was changed elsewhere since." : "";
      const told = make("p", {}, `Last saved by ${who(last)}, ${time(last.at)}.${since}`);
      const lines = [...state.saves].reverse().map((one) => {
        const given = one.points === null ? "no points" : points(one.points);
        return make("li", {}, `${who(one)}, ${time(one.at)}: ${given}`);
      });
      const summary = make("summary", {}, `All saves (${state.saves.length})`);
      const was = this.saved.querySelector("details");
      const all = make("details", { open: was && was.open ? "" : null }, summary, make("ol", {}, ...lines));
      this.saved.replaceChildren(told, ...(lines.length > 1 ? [all] : []));
    }
  }

  // Everybody's answers to a question, below its rubric.
  Object.assign(Panel.prototype, {
    drawEverybody(about) {
      this.about = about;
      const again = about.again ? ` ${about.again} of them had points before their students handed in again.` : "";
      const empty = about.empty
        ? ` ${about.empty} empty or unchanged ${about.empty === 1 ? "answer has its" : "answers have their"} 0 points already.`
        : "";
      const open = `Of ${about.answers} answers to this question, ${about.open || "none"} still wait${
        about.open === 1 ? "s" : ""
      } for a grader.`;
      const shares = about.shares.map(([name, isYou, count]) => {
        const share = Math.round((100 * count) / about.graded);
        return `${isYou ? `you (${name})` : name || "somebody whose name was not kept"} ${count} (${share} %)`;
      });
      const by = shares.length ? [make("p", {}, `Graded by ${shares.join(", ")}.`)] : [];
      const was = this.everybody.querySelector("details");
      const alike = about.alike.length ? [this.alikeList(about, !was || was.open)] : [];
      const heading = make("h6", {}, "All students");
      const stops = () => [...this.everybody.querySelectorAll("summary, a, input, button")];
      const focused = stops().indexOf(document.activeElement);
      this.everybody.replaceChildren(heading, make("p", {}, open, again, empty), ...by, ...alike);
      if (focused >= 0 && stops().length) (stops()[focused] || stops().pop()).focus({ preventScroll: true });
      this.drawGiven();
    },

    // How often graders gave each criterion, as a share of the graded answers.
    drawGiven() {
      if (!this.about) return;
      const marks = this.list.querySelectorAll(".rubric-given");
      this.state.criteria.forEach((one, index) => {
        const count = this.about.given[one.wording] || 0;
        marks[index].textContent = this.about.graded ? `${count}×` : "";
        marks[index].title = `given to ${count} of ${this.about.graded} graded answers`;
      });
    },

    alikeList(about, isOpen) {
      const equal = about.alike.filter((one) => one.equal).length;
      const kinds = [`${equal} equal`, `${about.alike.length - equal} nearly equal`];
      const told = `Same answer elsewhere: ${kinds.filter((one) => !one.startsWith("0")).join(", ")}`;
      const boxes = about.alike.map((one) => {
        const box = make("input", { type: "checkbox", value: one.id });
        // A "not" turns a nearly equal answer round, so only equal ones begin with a tick. What was clicked stays.
        box.checked = one.untouched && (this.ticks.get(one.id) ?? one.equal);
        box.disabled = !one.untouched;
        box.addEventListener("change", () => this.ticks.set(one.id, box.checked));
        return box;
      });
      const items = about.alike.map((one, index) => make("li", {}, ...this.alikeItem(one, boxes[index])));
      const open = about.alike.some((one) => one.untouched);
      const give = button({ class: "btn btn-default btn-sm rubric-give" });
      const label = () => {
        const count = boxes.filter((box) => box.checked).length;
        const whom = count === 1 ? "it" : count ? `these ${count}` : "those with a tick";
        give.textContent = `Give ${whom} the same points and comment`;
        give.disabled = count === 0 || this.isOpen;
      };
      boxes.forEach((box) => box.addEventListener("change", label));
      give.addEventListener("click", () => this.give(boxes.filter((box) => box.checked).map((box) => box.value)));
      label();
      const first = this.isOpen ? [make("p", {}, "Grade this answer first. Then you can give the others the same.")] : [];
      const summary = make("summary", {}, told);
      const list = make("ul", {}, ...items);
      return make("details", { open: isOpen ? "" : null }, summary, list, ...(open ? [...first, give] : []));
    },

    alikeItem(one, box) {
      const link = make("a", { href: addressOf(one.id, this.state.question) }, `Submission #${one.number}`);
      const graded = one.points === null ? "has a comment already" : `has ${points(one.points)}`;
      const about = one.untouched ? "" : `, ${graded}${one.open ? " from before" : ""}`;
      const name = `${one.equal ? "equal" : "nearly equal"}${about}`;
      const tag = { same: "span", "only here": "del", "only there": "ins" };
      const pieces = one.changes.map((change) => make(tag[change.kind], {}, change.text));
      const text = pieces.length ? [make("blockquote", {}, ...pieces)] : [];
      box.setAttribute("aria-label", `Submission #${one.number}`);
      return [box, " ", link, `, ${name}`, ...text];
    },

    async give(to) {
      await this.waiting;
      if (!this.asking) await this.learn("POST", { version: this.state.version, to });
    },
  });

  const addressOf = (id, question) => `${base_url}/submissions/${id}/?question=${encodeURIComponent(question)}`;

  const bar = make("div", { class: "rubric-bar" });

  function drawBar() {
    const panel = markActive();
    const about = panel && panel.about;
    if (!about) return;
    const left = panels.reduce((sum, one) => sum + (one.about ? one.about.open : 0), 0);
    const key = make("kbd", { "aria-hidden": "true" }, "n");
    const go = button({ class: "btn btn-primary btn-sm", "aria-keyshortcuts": "n", onclick: goOn }, "Next not graded ", key);
    const told = make("span", { role: "status" }, left ? `${left} not graded` : "All answers are graded");
    bar.replaceChildren(told, ...(left ? [go] : []));
  }

  // Go to the next answer that nobody graded: this page's question if it is out of sight, then the same question of
  // the next students, then the other questions.
  async function goOn() {
    if (document.activeElement) document.activeElement.blur(); // which saves what was typed
    const active = markActive();
    await Promise.all(panels.map((panel) => panel.waiting));
    if (panels.some((panel) => panel.asking)) return;
    await Promise.all(panels.map((panel) => panel.learn()));
    const order = [active, ...panels.filter((panel) => panel !== active)];
    const here = order.find((panel) => panel.isOpen && !(panel === active && panel.isInView));
    if (here === active) return here.comeHere();
    const there = order.find((panel) => panel.about && panel.about.next);
    if (there && (there === active || !here)) window.location = addressOf(there.about.next, there.state.question);
    else if (here) here.comeHere();
  }

  // The panel that digits go to: where the focus is, or else the nearest to the middle of the window.
  function markActive() {
    const middle = window.innerHeight / 2;
    const distance = (panel) => {
      const box = panel.cell.getBoundingClientRect();
      return Math.max(box.top - middle, middle - box.bottom, 0);
    };
    const focused = panels.find((panel) => panel.cell.contains(document.activeElement));
    const active = focused || [...panels].sort((one, other) => distance(one) - distance(other))[0];
    panels.forEach((panel) => panel.section.classList.toggle("is-active", panel === active));
    return active;
  }

  function onKey(event) {
    const plain = !event.ctrlKey && !event.altKey && !event.metaKey && /^[1-9n]$/.test(event.key);
    if (!plain || event.repeat || event.target.closest(TYPING) || document.querySelector(".modal.in")) return;
    event.preventDefault();
    if (event.key === "n") goOn();
    else markActive().step(Number(event.key));
  }

  async function listenToOthers() {
    if (document.hidden) return;
    const before = panels.map((panel) => panel.state.version);
    const { status, said } = await ask("GET", `rubrics/${submission_id}`);
    if (status !== 200) return;
    panels.forEach((panel, index) => {
      const state = said.find((one) => one.question === panel.state.question);
      if (state && panel.state.version === before[index]) panel.hear(state);
    });
  }

  const loaded = (models) => new Promise((done) => (models.loaded ? done() : models.once("sync", done)));

  async function begin() {
    const { status, said } = await ask("GET", `rubrics/${submission_id}`);
    if (status !== 200) {
      const told = make("div", { class: "alert alert-danger", role: "alert" }, `No rubric is shown. ${said.fault}`);
      document.querySelector("body > .container").prepend(told);
      return;
    }
    await Promise.all([loaded(formgrader.grades), loaded(formgrader.comments)]);
    for (const state of said) {
      const field = document.getElementById(`${state.question}-comment`);
      const [grade, comment] = [formgrader.grades, formgrader.comments].map((models) =>
        models.findWhere({ name: state.question }),
      );
      if (field && grade && comment) panels.push(new Panel(state, field.closest(".nbgrader_cell"), grade, comment));
    }
    if (panels.length === 0) return;
    document.addEventListener("keydown", onKey, true);
    for (const event of ["scroll", "resize", "focusin", "focusout"]) window.addEventListener(event, markActive);
    window.addEventListener("focus", listenToOthers);
    window.setInterval(listenToOthers, POLL);
    window.addEventListener("beforeunload", (event) => panels.some((panel) => panel.asking) && event.preventDefault());
    if (formgrader.keyboard_manager) {
      formgrader.keyboard_manager.help["1 to 9"] = "Take a criterion of the rubric, or take it back";
      formgrader.keyboard_manager.help["n"] = "Go to the next answer that nobody graded";
    }
    document.body.append(bar);
    const panel = panels.find((one) => one.state.question === wanted);
    if (panel) panel.comeHere();
    markActive();
    panels.forEach((one) => one.learn());
  }

  // Formgrader puts an address without the question in place of this one as soon as it begins.
  const wanted = new URLSearchParams(window.location.search).get("question");
  window.addEventListener("load", begin);
})();
