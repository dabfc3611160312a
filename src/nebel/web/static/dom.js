// Elements without markup in strings: el("button", {class: "main", text: "Go", onclick: go}, child, ...).
// `text` is textContent, `class` className, functions are listeners, true and false set and leave out an attribute.
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "text") element.textContent = value;
    else if (name === "class") element.className = value;
    else if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// A labelled field: field("Game", select).
export function field(label, input, note = "") {
  input.setAttribute("aria-label", label);
  return el("label", { class: "field" }, el("span", { text: label }), input, note ? el("small", { text: note }) : null);
}

export function select(choices, chosen, onchange) {
  const made = el("select", onchange ? { onchange: () => onchange(made.value) } : {});
  for (const choice of choices) {
    const { value, text } = typeof choice === "string" ? { value: choice, text: choice } : choice;
    made.append(el("option", { value, text, selected: value === chosen }));
  }
  return made;
}

const LARGEST = 2.6; // times its own size: a picture of a few letters need not fill the page

// A picture that the server drew, as an element. Scripts in it never run: it is parsed as XML, and the page's policy forbids them.
export function picture(svg) {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const image = document.importNode(parsed, true);
  image.style.maxWidth = `${LARGEST * Number(image.getAttribute("width"))}px`;
  if (!image.hasAttribute("viewBox")) image.setAttribute("viewBox", `0 0 ${image.getAttribute("width")} ${image.getAttribute("height")}`);
  image.removeAttribute("width");
  image.removeAttribute("height");
  return image;
}

// Scrolls a list, and nothing else, so that what is marked as `here` is in sight.
export function toHere(list) {
  const here = list.querySelector(".here");
  if (here) list.scrollTop = here.offsetTop - list.offsetTop - list.clientHeight / 2;
}

export function download(name, text) {
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type: "text/plain" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
