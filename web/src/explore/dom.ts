/** Elements by their names; children are elements or text, never markup. */

type Child = Node | string | null;

export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(name), attributes, children);
}

export const s = (name: string, attributes: Record<string, string>, ...children: Child[]): Element =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

function fill<E extends Element>(element: E, attributes: Record<string, string>, children: Child[]): E {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** A button that does something. */
export function button(attributes: Record<string, string>, act: () => void, ...children: Child[]): HTMLButtonElement {
  const made = h("button", { type: "button", ...attributes }, ...children);
  made.addEventListener("click", act);
  return made;
}
