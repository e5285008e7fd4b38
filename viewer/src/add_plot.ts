// The dialog that adds a plot: search among the curves, choose some and how they are drawn.
import type {ChartKind, ChartSpec} from './charts';
import {el} from './dom';
import type {Recording} from './recording';

const SHOWN = 400;  // entries at once; a search narrows more down

export function askForPlot(recording: Recording): Promise<ChartSpec | undefined> {
  return new Promise((resolve) => {
    const chosen: string[] = [];
    const search = el('input', {type: 'search', placeholder: 'Search curves', 'aria-label': 'Search curves'});
    const kind = el('select', {'aria-label': 'How to draw'},
      el('option', {value: 'lines'}, 'over time'), el('option', {value: 'log'}, 'over time, logarithmic'),
      el('option', {value: 'stack'}, 'stacked'), el('option', {value: 'phase'}, 'second over first'));
    const list = el('div', {class: 'series'});
    const note = el('span', {class: 'note'});
    const add = el('button', {class: 'primary', click: () => close(true)}, 'Add');
    const fill = (): void => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const found = recording.header.series.filter((series) =>
        words.every((word) => series.name.toLowerCase().includes(word) || series.group.includes(word)));
      list.replaceChildren();
      let group = '';
      for (const series of found.slice(0, SHOWN)) {
        if (series.group !== group) list.append(el('div', {class: 'group'}, group = series.group));
        list.append(el('button', {
          type: 'button', 'aria-pressed': String(chosen.includes(series.name)), 'data-series': series.name,
          click: (event) => {
            const index = chosen.indexOf(series.name);
            if (index >= 0) chosen.splice(index, 1);
            else chosen.push(series.name);
            (event.currentTarget as Element).setAttribute('aria-pressed', String(index < 0));
            update();
          }}, el('span', {}, series.name), el('small', {}, series.unit)));
      }
      if (found.length > SHOWN) list.append(el('div', {class: 'group'}, `and ${found.length - SHOWN} more: search`));
    };
    const update = (): void => {
      const isPhase = kind.value === 'phase';
      add.disabled = isPhase ? chosen.length !== 2 : chosen.length === 0;
      note.textContent = isPhase ? `${chosen.length} of 2 chosen` : `${chosen.length} chosen`;
    };
    const dialog = el('dialog', {class: 'add-plot'}, el('h2', {}, 'Add a plot'), el('div', {class: 'row'}, search, kind), list,
      el('div', {class: 'actions'}, note, el('button', {click: () => close(false)}, 'Cancel'), add));
    const close = (isAdded: boolean): void => {
      dialog.close();
      dialog.remove();
      resolve(isAdded && chosen.length > 0
        ? {title: chosen.length > 2 ? `${chosen[0]} and others` : chosen.join(kind.value === 'phase' ? ' → ' : ', '),
           kind: kind.value as ChartKind, names: [...chosen]}
        : undefined);
    };
    search.addEventListener('input', fill);
    kind.addEventListener('change', update);
    dialog.addEventListener('cancel', () => close(false));
    document.body.append(dialog);
    fill();
    update();
    dialog.showModal();
    search.focus();
  });
}
