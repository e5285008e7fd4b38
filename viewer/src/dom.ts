// Elements without a framework. Texts are always set as texts: names in recordings come from anywhere.

type Child = Node | string | null | undefined | false;

export function el<K extends keyof HTMLElementTagNameMap>(
    tag: K, attributes: Record<string, string | boolean | ((event: Event) => void)> = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (typeof value === 'boolean') element.toggleAttribute(name, value);
    else element.setAttribute(name, value);
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

/** An icon drawn by a path in a box of 24 by 24. */
export function icon(path: string): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const shape = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  shape.setAttribute('d', path);
  svg.append(shape);
  return svg;
}

export const ICONS = {
  play: 'M7 4.5v15l12.5-7.5z',
  pause: 'M6.5 4.5h4v15h-4zM13.5 4.5h4v15h-4z',
  back: 'M16.5 5v14L8 12zM5.5 5h2v14h-2z',
  forward: 'M7.5 5v14l8.5-7zM16.5 5h2v14h-2z',
  start: 'M19 5v14l-8-7zM11.5 5v14l-8-7z',
  loop: 'M7 7h9.5V4l5 4.5-5 4.5v-3H9v4H7zm10 10H7.5v3l-5-4.5 5-4.5v3H15v-3h2z',
  layers: 'M12 3 2.5 8.5 12 14l9.5-5.5zM4.6 12 2.5 13.2 12 18.7l9.5-5.5-2.1-1.2L12 16.3z',
  plots: 'M4 4h2v14h14v2H4zm4.2 10.6 3.6-4.9 3.3 2.8L19 6.8l1.6 1.2-5.2 7.2-3.3-2.8-2.3 3.3z',
  theme: 'M12 3a9 9 0 1 0 0 18zm0 0a9 9 0 0 1 0 18z',
  help: 'M11 16.5h2v2h-2zM12 5a4 4 0 0 0-4 4h2a2 2 0 1 1 3 1.7c-1.3.8-2 1.6-2 3.3v.5h2V14c0-.7.4-1.2 1-1.6A4 4 0 0 0 12 5z',
  frame: 'M4 9V4h5v2H6v3zm11-5h5v5h-2V6h-3zM4 15h2v3h3v2H4zm14 0h2v5h-5v-2h3z',
  close: 'm6.4 5 5.6 5.6L17.6 5 19 6.4 13.4 12l5.6 5.6-1.4 1.4-5.6-5.6L6.4 19 5 17.6l5.6-5.6L5 6.4z',
  plus: 'M11 5h2v6h6v2h-6v6h-2v-6H5v-2h6z',
  save: 'M11 4h2v9l3.3-3.3 1.4 1.4L12 16.8l-5.7-5.7 1.4-1.4L11 13zM5 18h14v2H5z',
};

/** A number for people: enough digits to be useful, no more. */
export function format(value: number, digits = 6): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? '–' : value > 0 ? '∞' : '−∞';
  if (value === 0) return '0';
  const size = Math.abs(value);
  const text = size >= 1e5 || size < 1e-3 ? value.toExponential(Math.max(0, digits - 3)) : value.toPrecision(digits);
  return text.includes('e') ? text.replace(/\.?0+e/, 'e').replace('e+', 'e')
    : text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** Hands a text to the user as a file. */
export function download(name: string, text: string, type: string): void {
  const link = el('a', {href: URL.createObjectURL(new Blob([text], {type})), download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
