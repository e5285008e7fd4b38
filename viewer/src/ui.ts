// Everything around the picture: bars, panels, keys.
import {askForPlot} from './add_plot';
import {Charts, firstCharts} from './charts';
import {el, format, icon, ICONS} from './dom';
import {EFFORT, FRICTION, NORMAL, REACTION, STATUS, STATUS_NAMES} from './palette';
import type {Player} from './player';
import type {Events, Recording} from './recording';
import type {Layers, Viewer} from './viewer';

const KEYS: [string, string][] = [
  ['Space', 'play or pause'], ['← →', 'one recorded step'], ['Shift + ← →', 'ten steps'], ['Home  End', 'start, end'],
  ['− +', 'slower, faster'], ['L', 'loop'], ['W', 'worst step'], ['F', 'frame the scene'], ['T', 'follow the selected body'],
  ['X Y Z', 'look along an axis'], ['C', 'contact points'], ['N', 'normal impulses'], ['R', 'friction impulses'],
  ['K', 'friction cones'], ['J', 'joints'], ['I', 'islands'], ['B', 'trails'], ['G', 'grid'], ['O', 'ghost'], ['P', 'plots'],
  ['M', 'layers'], ['D', 'light or dark'], ['?', 'this help'], ['Esc', 'close, or select nothing'],
];

/** Of the panel with its margin, as in style.css. */
const LAYERS_WIDTH = 244;

export class Interface {
  readonly root = document.getElementById('app')!;
  readonly stage = el('main', {class: 'stage'});
  readonly canvas = el('div', {class: 'canvas'});
  readonly charts: Charts;
  viewer?: Viewer;

  private readonly badge = el('button', {class: 'badge', click: () => this.showWorst()});
  private readonly liveMark = el('span', {class: 'live', hidden: true}, '● still being written');
  private readonly playButton = el('button', {class: 'play', title: 'Play (Space)', 'aria-label': 'Play'});
  private readonly loopButton = el('button', {class: 'quiet', title: 'Loop (L)', 'aria-label': 'Loop'}, icon(ICONS.loop));
  private readonly slider = el('input', {type: 'range', step: 'any', 'aria-label': 'Time'});
  private readonly marks = el('canvas', {});
  private readonly clock = el('div', {class: 'clock'});
  private readonly speedSlider = el('input', {type: 'range', min: '-2', max: '1', step: '0.01', 'aria-label': 'Speed'});
  private readonly speedText = el('output', {});
  private readonly side = el('aside', {class: 'side', 'aria-label': 'Plots'});
  private readonly chosen = el('section', {class: 'card chosen', hidden: true});
  private readonly scale = el('div', {class: 'scale'});
  private layersPanel = el('section', {class: 'card layers'});
  private readonly checks = new Map<keyof Layers, HTMLInputElement>();
  private arrowNote = el('div', {class: 'note'});
  private islandNote = el('span', {class: 'note'});
  private events?: Events;
  private help?: HTMLDialogElement;

  constructor(private readonly recording: Recording, private readonly player: Player) {
    this.charts = new Charts(recording);
    this.charts.onSeek = (time) => { player.seek(time); };
  }

  build(): void {
    this.stage.append(this.canvas, this.scale, this.chosen);
    this.root.replaceChildren(this.makeTop(), this.stage, this.makeSide(), this.makeTransport());
    document.addEventListener('keydown', (event) => this.onKey(event));
    this.player.onChange(() => this.updateTransport());
    new ResizeObserver(() => this.drawMarks()).observe(this.marks);
    this.updateTransport();
    this.updateEvents();
  }
  updateEvents(): void {
    void this.recording.events().then((events) => { this.events = events; this.drawMarks(); }).catch(() => undefined);
  }

  // --- bars

  private makeTop(): HTMLElement {
    const {header} = this.recording;
    const facts = [header.scheme, header.solver, `h = ${format(header.h, 4)} s`, header.file];
    if (header.stride > 1) facts.push(`every ${header.stride}th step`);
    const button = (label: string, path: string, action: () => void, name: string): HTMLElement =>
      el('button', {class: `quiet ${name}`, title: label, 'aria-label': label, click: action}, icon(path));
    document.title = `${header.name} – Stiction`;
    return el('header', {class: 'top'}, el('h1', {title: header.name}, header.name), el('span', {class: 'facts'}, facts.join('  ·  ')),
      this.liveMark, this.badge,
      el('div', {class: 'group'},
         button('Frame the scene (F)', ICONS.frame, () => this.viewer?.stage.frame(), 'do-frame'),
         button('Layers (M)', ICONS.layers, () => this.toggleLayers(), 'do-layers'),
         button('Plots (P)', ICONS.plots, () => this.togglePlots(), 'do-plots'),
         button('Light or dark (D)', ICONS.theme, () => this.toggleTheme(), 'do-theme'),
         button('Keys (?)', ICONS.help, () => this.toggleHelp(), 'do-help')));
  }

  private makeSide(): HTMLElement {
    const add = el('button', {class: 'add', click: () => { void this.addPlot(); }}, icon(ICONS.plus), 'Add');
    this.side.append(el('div', {class: 'head'}, el('h2', {}, 'Plots'), add), this.charts.list);
    return this.side;
  }

  async addPlot(): Promise<void> {
    const spec = await askForPlot(this.recording);
    if (spec) await this.charts.add(spec, true);
  }
  async addFirstCharts(): Promise<void> {
    for (const spec of firstCharts(this.recording)) await this.charts.add(spec);
  }

  private makeTransport(): HTMLElement {
    const button = (label: string, path: string, action: () => void): HTMLElement =>
      el('button', {class: 'quiet', title: label, 'aria-label': label, click: action}, icon(path));
    this.playButton.addEventListener('click', () => this.player.toggle());
    this.loopButton.addEventListener('click', () => this.player.setLoop(!this.player.loops));
    this.slider.addEventListener('input', () => {
      const time = Number(this.slider.value);  // before pausing, which sets the slider
      this.player.pause();
      this.player.seek(time);
    });
    this.speedSlider.addEventListener('input', () => this.player.setSpeed(10 ** Number(this.speedSlider.value)));
    this.speedSlider.addEventListener('dblclick', () => this.player.setSpeed(1));
    return el('footer', {class: 'transport'},
      el('div', {class: 'buttons'}, button('Start (Home)', ICONS.start, () => this.player.seek(this.recording.startTime)),
         button('Step back (←)', ICONS.back, () => this.step(-1)), this.playButton,
         button('Step on (→)', ICONS.forward, () => this.step(1)), this.loopButton),
      el('div', {class: 'track'}, this.marks, this.slider), this.clock,
      el('label', {class: 'speed', title: 'Speed; double click for 1×'}, el('span', {}, 'speed'), this.speedSlider, this.speedText));
  }

  updateTransport(): void {
    const {player, recording} = this;
    this.playButton.replaceChildren(icon(player.isPlaying ? ICONS.pause : ICONS.play));
    this.playButton.setAttribute('aria-label', player.isPlaying ? 'Pause' : 'Play');
    this.loopButton.setAttribute('aria-pressed', String(player.loops));
    this.slider.min = String(recording.startTime);
    this.slider.max = String(recording.endTime);
    this.slider.value = String(player.time);
    this.speedSlider.value = String(Math.log10(player.speed));
    this.speedText.textContent = `${format(player.speed, 2)}×`;
  }

  /** Steps located within the run, and rows above tolerance where the worst is, under the slider. */
  private drawMarks(): void {
    const {clientWidth: width, clientHeight: height} = this.marks;
    if (width === 0) return;
    this.marks.width = width;
    this.marks.height = height;
    const context = this.marks.getContext('2d')!;
    const [start, end] = [this.recording.startTime, this.recording.endTime];
    const style = getComputedStyle(document.documentElement);
    const mark = (time: number, color: string, size: number): void => {
      context.fillStyle = color;
      context.fillRect(Math.round((time - start) / (end - start || 1) * (width - 1)), height - size, 1, size);
    };
    if (this.events) {
      const step = Math.max(1, Math.floor(this.events.time.length / (4 * width)));
      for (let i = 0; i < this.events.time.length; i += step) mark(this.events.time[i], style.getPropertyValue('--muted'), 4);
    }
    if (this.recording.extent.above > 0 && this.recording.extent.worst.row >= 0)
      mark(this.recording.time[this.recording.extent.worst.row], style.getPropertyValue('--bad'), height);
  }

  // --- what belongs to a row

  showRow(row: number): void {
    const {recording} = this;
    const chunk = recording.chunkOf(row);
    const arrays = recording.peek('poses', chunk);
    const local = row - chunk * recording.header.rowsPerChunk;
    const digits = Math.min(9, Math.max(2, Math.ceil(-Math.log10(recording.header.h))));
    const step = arrays ? arrays['step'][local] : row;
    this.clock.replaceChildren(`${recording.time[row]?.toFixed(digits) ?? '–'} s`, el('small', {}, `step ${step}`));
    if (arrays) this.updateBadge(arrays['certificate'] as Float32Array, arrays['flagged'] as Int32Array, local);
    this.charts.showTime(row);
    this.updateChosen();
    this.updateNotes();
  }

  private updateBadge(certificate: Float32Array, flagged: Int32Array, row: number): void {
    const {header, extent} = this.recording;
    const width = header.certificateNames.length;
    let worst = 0;
    for (let law = 1; law < 3; ++law)
      if (!(certificate[row * width + law] <= certificate[row * width + worst])) worst = law;
    const value = certificate[row * width + worst];
    // The run's own verdict where there is one: its tolerance may have been given on the command line.
    const isGood = flagged[row] >= 0 ? flagged[row] === 0 : !(value > (header.tolerance ?? Infinity));
    const law = header.certificateNames[worst];
    this.badge.className = `badge ${isGood ? 'good' : 'bad'}`;
    this.badge.textContent = isGood ? `certified ${format(value, 2)}` : `${law} law misses: ${format(value, 2)}`;
    const lines = header.certificateNames.map((name, i) => `${name}: ${format(certificate[row * width + i], 3)}`);
    if (header.tolerance) lines.unshift(`tolerance of the scene: ${format(header.tolerance, 3)}`);
    lines.push('', `${extent.above === 0 ? 'No step' : extent.above === 1 ? '1 step' : `${extent.above} steps`} of the run above tolerance.`,
               `Click: the worst step (${extent.worst.law} ${extent.worst.value === null ? 'not finite' : format(extent.worst.value, 3)}).`);
    this.badge.title = lines.join('\n');
  }

  showWorst(): void {
    const {row} = this.recording.extent.worst;
    if (row < 0) return;
    this.player.pause();
    this.player.seek(this.recording.time[row]);
  }

  private updateNotes(): void {
    const {viewer} = this;
    if (!viewer) return;
    const perMetre = viewer.contacts.scale;
    const size = viewer.stage.gridSize;
    this.arrowNote.textContent = perMetre > 0
      ? `${format(size, 3)} m of arrow = ${format(size / perMetre, 3)} N s = ${format(size / perMetre / this.recording.header.h, 3)} N` : 'no impulses yet';
    if (viewer.layers.islands) this.islandNote.textContent = String(viewer.islands.count());
    else this.islandNote.textContent = '';
  }

  private updateChosen(): void {
    const {viewer} = this;
    if (!viewer || viewer.selected < 0) { this.chosen.hidden = true; return; }
    const frame = this.recording.header.frames[viewer.selected];
    const at = viewer.bodies.positionOf(viewer.selected);
    const rows: [string, string][] = [['kind', frame.kind === 'view' ? 'picture' : frame.kind]];
    if (frame.mass > 0) rows.push(['mass', `${format(frame.mass, 5)} kg`]);
    rows.push(['x', `${format(at.x, 5)} m`], ['y', `${format(at.y, 5)} m`], ['z', `${format(at.z, 5)} m`]);
    const names = this.recording.header.series.map((series) => series.name);
    const own = ['x', 'y', 'z'].map((axis) => `${frame.name}.${axis}`).filter((name) => names.includes(name));
    this.chosen.hidden = false;
    this.chosen.replaceChildren(
      el('h2', {}, frame.name),
      el('button', {class: 'quiet', 'aria-label': 'Close', click: () => this.select(-1)}, icon(ICONS.close)),
      el('dl', {}, ...rows.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)])),
      el('div', {class: 'actions'},
         el('button', {'aria-pressed': String(viewer.follows), click: () => this.toggleFollow()}, 'Follow'),
         el('button', {'aria-pressed': String(viewer.layers.trails === 'selected'), click: () => this.setTrails(viewer.layers.trails === 'selected' ? 'none' : 'selected')}, 'Trail'),
         own.length > 0 && el('button', {click: () => { void this.charts.add({title: frame.name, kind: 'lines', names: own}, true); this.openPlots(); }}, 'Plot')));
  }

  select(frame: number): void {
    this.viewer?.select(frame);
    this.updateChosen();
  }
  private toggleFollow(): void {
    if (!this.viewer) return;
    if (this.viewer.selected < 0) this.viewer.select(this.recording.header.frames.findIndex((frame) => frame.pose >= 0));
    this.viewer.setFollow(!this.viewer.follows);
    this.updateChosen();
  }

  // --- panels

  attach(viewer: Viewer): void {
    this.viewer = viewer;
    viewer.onOverlays = () => this.updateNotes();
    this.buildLayers(viewer);
    this.stage.append(this.layersPanel);
    if (matchMedia('(max-width: 760px)').matches) this.layersPanel.hidden = true;
    this.updateCovered();
    viewer.stage.frame();
    const {domElement} = viewer.stage.renderer;
    let down: [number, number] | undefined;
    domElement.addEventListener('pointerdown', (event) => { down = [event.offsetX, event.offsetY]; });
    domElement.addEventListener('pointerup', (event) => {
      if (down && Math.hypot(event.offsetX - down[0], event.offsetY - down[1]) < 4) this.select(viewer.pick(event.offsetX, event.offsetY));
      down = undefined;
    });
    domElement.addEventListener('dblclick', () => { if (viewer.selected >= 0 && !viewer.follows) this.toggleFollow(); });
    this.updateScale();
  }

  /** How large a square of the grid is. */
  updateScale(): void {
    if (!this.viewer) return;
    this.scale.replaceChildren(`grid ${format(this.viewer.stage.gridSize, 3)} m`);
  }

  private buildLayers(viewer: Viewer): void {
    const {header} = this.recording;
    const check = (layer: keyof Layers, label: string, key: string, color?: string): HTMLElement => {
      const box = el('input', {type: 'checkbox', 'data-layer': layer});
      box.checked = viewer.layers[layer] === true;
      box.addEventListener('change', () => { viewer.setLayer(layer, box.checked as never); this.updateNotes(); });
      this.checks.set(layer, box);
      const dot = color ? el('i', {class: 'dot'}) : null;
      if (dot) dot.style.background = color!;
      return el('label', {}, box, dot, label, layer === 'islands' ? this.islandNote : null, key ? el('span', {class: 'key'}, key) : null);
    };
    const states = el('div', {class: 'states'}, ...STATUS_NAMES.map((name, i) => {
      const dot = el('i', {class: 'swatch'});
      dot.style.background = STATUS[i];
      return el('span', {}, dot, name);
    }));
    const arrows = el('input', {type: 'range', min: '-2', max: '2', step: '0.02', 'aria-label': 'Length of arrows'});
    arrows.value = '0';
    arrows.addEventListener('input', () => {
      viewer.arrowFactor = 10 ** Number(arrows.value);
      viewer.updateOverlays();
      this.updateNotes();
    });
    const trails = el('select', {'aria-label': 'Trails'}, el('option', {value: 'none'}, 'off'), el('option', {value: 'selected'}, 'selected'),
                      el('option', {value: 'all'}, 'all'));
    trails.addEventListener('change', () => this.setTrails(trails.value as Layers['trails']));
    this.trailSelect = trails;
    const hasContacts = header.series.some((series) => series.name === 'contacts.number');
    this.layersPanel.replaceChildren(...[
      hasContacts && el('h3', {}, 'Contacts'), hasContacts && check('points', 'points', 'C'), hasContacts && states,
      hasContacts && check('normals', 'normal impulses', 'N', NORMAL), hasContacts && check('friction', 'friction impulses', 'R', FRICTION),
      hasContacts && check('cones', 'friction cones', 'K'), arrows, this.arrowNote,
      header.joints.length > 0 && el('h3', {}, 'Joints'), header.joints.length > 0 && check('jointFrames', 'frames', 'J'),
      header.joints.some((joint) => joint.reaction >= 0) && check('reactions', 'reactions', '', REACTION),
      header.numEfforts > 0 && check('efforts', 'efforts', '', EFFORT),
      el('h3', {}, 'Picture'), header.frames.some((frame) => frame.kind === 'dynamic') && check('islands', 'islands', 'I'),
      el('label', {}, 'trails', trails), viewer.ghost && check('ghost', 'ghost', 'O'), check('shadows', 'shadows', ''), check('grid', 'grid', 'G'),
    ].filter((child): child is HTMLElement => Boolean(child)));
    this.updateNotes();
  }
  private trailSelect?: HTMLSelectElement;

  private setTrails(trails: Layers['trails']): void {
    this.viewer?.setLayer('trails', trails);
    if (this.trailSelect) this.trailSelect.value = trails;
    this.updateChosen();
  }

  private flip(layer: keyof Layers): void {
    const box = this.checks.get(layer);
    if (!box) return;
    box.checked = !box.checked;
    box.dispatchEvent(new Event('change'));
  }

  private toggleLayers(): void {
    this.layersPanel.hidden = !this.layersPanel.hidden;
    this.updateCovered();
  }
  private updateCovered(): void {
    const isCovered = this.root.classList.contains('live-run') || !this.layersPanel.hidden;
    this.viewer?.stage.setCovered(isCovered ? LAYERS_WIDTH : 0);
  }
  /** The panel of a run takes the place of the layers, which are not far away. */
  addRunPanel(panel: HTMLElement): void {
    this.root.classList.add('live-run');
    if (this.stage.hidden) this.side.prepend(panel);
    else this.stage.append(panel);
    this.layersPanel.hidden = true;
    this.updateCovered();
    this.viewer?.stage.frame();
  }
  togglePlots(): void {
    if (this.root.classList.contains('plots-only')) return;
    this.side.hidden = !this.side.hidden;
    this.root.classList.toggle('no-plots', this.side.hidden);
  }
  private openPlots(): void {
    if (this.side.hidden) this.togglePlots();
  }

  /** As a figure of a report. */
  showPictureOnly(): void {
    this.togglePlots();
    this.toggleLayers();
    requestAnimationFrame(() => requestAnimationFrame(() => this.viewer?.stage.frame()));
  }

  /** Without anything to draw, or without WebGL. */
  showPlotsOnly(): void {
    this.stage.hidden = true;
    this.side.hidden = false;
    this.root.classList.add('plots-only');
  }
  note(text: string): void {
    const bar = el('div', {class: 'note-bar', role: 'status'}, text);
    if (this.stage.hidden) {
      bar.classList.remove('note-bar');
      bar.classList.add('note');
      this.side.prepend(bar);
    } else {
      this.stage.append(bar);
      setTimeout(() => bar.remove(), 8000);
    }
  }
  setLive(isLive: boolean): void {
    this.liveMark.hidden = !isLive;
    this.drawMarks();
  }

  toggleTheme(): void {
    const isDark = document.documentElement.dataset['theme'] !== 'dark';
    this.setTheme(isDark);
    try { localStorage.setItem('stiction-theme', isDark ? 'dark' : 'light'); } catch { /* pages from files may have none */ }
  }
  setTheme(isDark: boolean): void {
    document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light';
    this.viewer?.setDark(isDark);
    this.charts.restyle();
    this.drawMarks();
  }

  private toggleHelp(): void {
    if (this.help?.open) { this.help.close(); return; }
    this.help ??= el('dialog', {class: 'help'}, el('h2', {}, 'Keys'),
      el('div', {class: 'keys'}, ...KEYS.map(([key, meaning]) => el('div', {}, el('span', {}, meaning), el('kbd', {}, key)))),
      el('p', {class: 'note'}, 'Drag turns, right drag or two fingers move, the wheel or a pinch comes closer. A click selects a body. ' +
         'In plots a drag zooms, a double click shows all, a click goes to that time.'),
      el('div', {class: 'actions'}, el('button', {class: 'primary', click: () => this.help?.close()}, 'Close')));
    document.body.append(this.help);
    this.help.showModal();
  }

  step(rows: number): void {
    this.player.pause();
    const row = this.recording.rowAt(this.player.time) + rows;
    this.player.seek(this.recording.time[Math.min(this.recording.rows - 1, Math.max(0, row))] ?? 0);
  }

  /** Whether a key belonged to the run behind the page. */
  onLiveKey: (key: string) => boolean = () => false;

  private onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    if (target.matches('input[type=search], input[type=text], select, textarea') || (document.querySelector('dialog[open]') && event.key !== '?')) return;
    const {viewer, player, recording} = this;
    if (this.onLiveKey(event.key)) { event.preventDefault(); return; }
    const actions: Record<string, () => void> = {
      ' ': () => player.toggle(), 'ArrowLeft': () => this.step(event.shiftKey ? -10 : -1), 'ArrowRight': () => this.step(event.shiftKey ? 10 : 1),
      'Home': () => player.seek(recording.startTime), 'End': () => player.seek(recording.endTime),
      '-': () => player.setSpeed(player.speed / 1.26), '+': () => player.setSpeed(player.speed * 1.26), '=': () => player.setSpeed(player.speed * 1.26),
      'l': () => player.setLoop(!player.loops), 'w': () => this.showWorst(), 'f': () => viewer?.stage.frame(), 't': () => this.toggleFollow(),
      'x': () => viewer?.stage.lookAlong('x'), 'y': () => viewer?.stage.lookAlong('y'), 'z': () => viewer?.stage.lookAlong('z'),
      'c': () => this.flip('points'), 'n': () => this.flip('normals'), 'r': () => this.flip('friction'), 'k': () => this.flip('cones'),
      'j': () => this.flip('jointFrames'), 'i': () => this.flip('islands'), 'g': () => this.flip('grid'), 'o': () => this.flip('ghost'),
      'b': () => this.setTrails(viewer?.layers.trails === 'none' ? 'all' : 'none'), 'p': () => this.togglePlots(), 'm': () => this.toggleLayers(),
      'd': () => this.toggleTheme(), '?': () => this.toggleHelp(), 'h': () => this.toggleHelp(), 'Escape': () => this.select(-1),
    };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}
