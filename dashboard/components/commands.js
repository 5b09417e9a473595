// Lists the commands above the chat input while it begins with a slash, and runs or completes them.
//
// The input field stays the one of Streamlit: it keeps the focus, its arrow keys, Enter, Tab and
// Escape move in the list while that is open, and a screen reader follows by
// aria-activedescendant. Texts and commands come from the page as data.

const NAME = /^\/([^\s/]*)$/;
const POINTER_KEYS = { ArrowDown: 1, ArrowUp: -1 };
const GAP_PIXELS = 6;
const MOST_PIXELS = 620;

function setText(field, text) {
  const { set } = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value");
  set.call(field, text); // React does not notice an assignment
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus();
  field.setSelectionRange(text.length, text.length);
}

function element(name, className, text = "") {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

class CommandList {
  constructor(parent) {
    this.button = element("button", "ctx-commands-button");
    this.button.type = "button";
    this.list = element("div", "ctx-commands-list");
    this.list.id = "ctx-commands-list";
    this.list.setAttribute("role", "listbox");
    this.list.hidden = true;
    this.status = element("div", "ctx-commands-status");
    this.status.setAttribute("role", "status");
    parent.append(this.button, this.list, this.status);
    this.shown = [];
    this.at = 0;
    this.isDismissed = false;
    this.isFromButton = false;
    this.button.onclick = () => this.openFromButton();
    this.onInput = (event) => this.isField(event.target) && this.typed();
    this.onKey = (event) => this.isField(event.target) && this.pressed(event);
    this.onLeave = (event) => this.isField(event.target) && this.close();
    this.onResize = () => !this.list.hidden && this.place();
    document.addEventListener("input", this.onInput, true);
    document.addEventListener("keydown", this.onKey, true);
    document.addEventListener("focusout", this.onLeave, true);
    window.addEventListener("resize", this.onResize);
  }

  remove() {
    document.removeEventListener("input", this.onInput, true);
    document.removeEventListener("keydown", this.onKey, true);
    document.removeEventListener("focusout", this.onLeave, true);
    window.removeEventListener("resize", this.onResize);
    this.close();
    for (const made of [this.button, this.list, this.status]) made.remove();
  }

  update(data, send) {
    this.data = data;
    this.send = send;
    this.button.textContent = data.button;
    this.button.title = data.help;
    this.button.disabled = data.disabled;
    this.list.setAttribute("aria-label", data.label);
  }

  get field() {
    return document.querySelector(`.st-key-${this.data.field} textarea`);
  }

  isField(target) {
    return target instanceof HTMLTextAreaElement && target === this.field;
  }

  typed() {
    this.isDismissed = false;
    this.isFromButton = false;
    const typed = NAME.exec(this.field.value);
    if (typed) this.open(typed[1].toLowerCase());
    else this.close();
  }

  openFromButton() {
    const field = this.field;
    if (!field || field.disabled) return;
    this.isDismissed = false;
    if (!field.value) {
      setText(field, "/");
      return;
    }
    field.focus();
    this.isFromButton = true;
    this.open("");
  }

  open(begun) {
    this.begun = begun;
    this.shown = this.data.commands.filter(({ name }) => name.startsWith(begun));
    this.at = 0;
    const options = this.shown.map((command, place) => this.option(command, place));
    if (!options.length) options.push(element("div", "ctx-commands-none", this.data.none));
    options.push(element("div", "ctx-commands-hint", this.data.hint));
    this.list.replaceChildren(...options);
    this.list.hidden = false;
    this.status.textContent = this.shown.length ? this.data.told : this.data.none;
    this.place();
    this.mark();
  }

  option(command, place) {
    const made = element("div", "ctx-commands-option");
    made.id = `ctx-command-${command.name}`;
    made.setAttribute("role", "option");
    const usage = element("span", "ctx-commands-usage", command.usage);
    made.append(usage, element("span", "ctx-commands-about", command.about));
    made.onmousedown = (event) => event.preventDefault(); // the field keeps the focus
    made.onclick = () => this.take(place);
    made.onmousemove = () => {
      this.at = place;
      this.mark();
    };
    return made;
  }

  place() {
    const box = this.field.closest('[data-testid="stChatInput"]') ?? this.field;
    const { left, top, width } = box.getBoundingClientRect();
    this.list.style.left = `${left}px`;
    this.list.style.width = `${Math.min(width, MOST_PIXELS)}px`;
    this.list.style.bottom = `${window.innerHeight - top + GAP_PIXELS}px`;
    this.list.style.maxHeight = `${top - 2 * GAP_PIXELS}px`;
  }

  mark() {
    const { field } = this;
    field.setAttribute("aria-controls", this.list.id);
    field.setAttribute("aria-autocomplete", "list");
    for (const [place, { name }] of this.shown.entries()) {
      const option = this.list.children[place];
      option.setAttribute("aria-selected", String(place === this.at));
      if (place !== this.at) continue;
      field.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    }
    if (!this.shown.length) field.removeAttribute("aria-activedescendant");
  }

  close() {
    this.list.hidden = true;
    this.status.textContent = "";
    this.field?.removeAttribute("aria-activedescendant");
    this.field?.removeAttribute("aria-controls");
  }

  pressed(event) {
    if (this.list.hidden || event.isComposing || event.shiftKey || !this.obeys(event)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  // Whether the key was one of the list's.
  obeys({ key }) {
    if (key === "Escape") {
      this.close();
      return true;
    }
    if (!this.shown.length) return false;
    if (key in POINTER_KEYS) {
      const count = this.shown.length;
      this.at = (this.at + POINTER_KEYS[key] + count) % count;
      this.mark();
      return true;
    }
    if (key !== "Enter" && key !== "Tab") return false;
    this.take(this.at);
    return true;
  }

  // Runs the command, or writes it into the field if it may go on.
  take(place) {
    const { name, takes } = this.shown[place];
    const { field } = this;
    const isWritten = this.begun === name;
    const rest = this.isFromButton ? field.value : "";
    this.close();
    if (takes === "nothing" || (takes === "optional" && isWritten)) {
      setText(field, rest);
      this.send(`/${name}`);
    } else {
      setText(field, `/${name} ${rest}`);
    }
  }
}

const LISTS = new WeakMap();

export default function ({ parentElement, data, setTriggerValue }) {
  let list = LISTS.get(parentElement);
  if (!list) {
    list = new CommandList(parentElement);
    LISTS.set(parentElement, list);
  }
  list.update(data, (text) => setTriggerValue("run", text));
  return () => {
    list.remove();
    LISTS.delete(parentElement);
  };
}
