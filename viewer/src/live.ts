// The run behind the page, while it computes: what it is told to do, and keeping the picture at its
// head. Commands act between steps; the program records them with the steps.
import * as THREE from 'three';
import {el, format, icon, ICONS} from './dom';
import type {Player} from './player';
import type {Recording} from './recording';
import {readJson, type Source} from './source';
import type {Interface} from './ui';
import type {Viewer} from './viewer';

type Vector = [number, number, number];

interface Settings {
  h: number;
  duration: number;
  scheme: string;
  solver: string;
  friction: string;
  friction_factor: number;
  parameters: Record<string, number>;
  gravity?: Vector;
}

export interface Status {
  time: number;
  step: number;
  state: 'running' | 'paused' | 'end';
  speed: number;
  realSpeed: number;
  message: string;
  settings: Settings;
  canPull: boolean;
  schemes: string[];
  solvers: string[];
  token: string;
}

const POLL = 40;  // [ms] between two looks
const PULL_PERIOD = 33;  // [ms] between two moves of the hand
const CURVES_PERIOD = 1000;  // [ms] between two looks at whole curves
const SPEEDS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 0];

/** A body held by the mouse. */
interface Hold {
  frame: number;
  point: THREE.Vector3;  // in the body's frame
  target: THREE.Vector3;
  plane: THREE.Plane;
  sent: number;
}

export class LiveControl {
  status!: Status;
  /** Whether the picture shows the newest step. */
  isFollowing = true;
  /** Drags pull bodies; otherwise only those with Shift do. */
  pulls = false;
  strength = 1;
  readonly panel = el('section', {class: 'card live-panel', 'aria-label': 'Run'});

  private expected = NaN;
  private rate = 0;  // simulated seconds per second, as they come in
  private lastEnd = 0;
  private lastLook = 0;
  private lastCurves = 0;
  private hold?: Hold;
  private isSending = false;
  private line?: THREE.Group;
  private readonly inputs = new Map<string, HTMLInputElement | HTMLSelectElement>();
  private readonly runButton = el('button', {class: 'primary do-run', click: () => { void this.toggleRun(); }});
  private readonly stepButton = el('button', {class: 'do-step', title: 'One step (→)', click: () => { void this.send({step: 1}); }}, icon(ICONS.forward), 'Step');
  private readonly headButton = el('button', {class: 'do-head', title: 'Show the newest step (End)', click: () => this.goToHead()}, 'Now');
  private readonly state = el('div', {class: 'note state', role: 'status'});
  private readonly fault = el('div', {class: 'fault', role: 'alert', hidden: true});

  constructor(private readonly source: Source, private readonly recording: Recording, private readonly player: Player,
              private readonly ui: Interface, private readonly viewer: Viewer | undefined) {}

  async open(): Promise<void> {
    this.status = await readJson<Status>(this.source, 'live.json');
    this.build();
    this.show();
    this.player.seek(this.recording.endTime);
    this.expected = this.player.time;
    this.lastEnd = this.recording.endTime;
    this.lastLook = performance.now();
    if (this.viewer && this.status.canPull) this.listen(this.viewer);
    void this.look();
  }

  // --- telling the run

  /** Whether it was obeyed; if not the reason is shown. */
  async send(command: object): Promise<boolean> {
    try {
      await this.source.command(this.status.token, command);
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error));
      return false;
    }
    this.say('');
    return true;
  }
  set(settings: object): Promise<boolean> {
    return this.send({set: settings});
  }
  toggleRun(): Promise<boolean> {
    return this.send(this.status.state === 'running' ? {pause: true} : {play: true});
  }
  goToHead(): void {
    this.player.pause();
    this.player.seek(this.recording.endTime);
    this.isFollowing = true;
    this.expected = this.player.time;
  }
  /** Keys that belong to the run while its head is shown. */
  onKey(key: string): boolean {
    if (!this.isFollowing) return false;
    if (key === ' ') { void this.toggleRun(); return true; }
    if (key === 'ArrowRight' && this.status.state === 'paused') { void this.send({step: 1}); return true; }
    return false;
  }

  // --- hearing from it

  private async look(): Promise<void> {
    try {
      this.status = await readJson<Status>(this.source, 'live.json');
      if (await this.recording.poll()) this.measureRate();
      const now = performance.now();
      if (now - this.lastCurves > CURVES_PERIOD && this.ui.charts.rows < this.recording.rows) {
        this.lastCurves = now;
        this.recording.forgetCurves();
        void this.ui.charts.reload();
        this.ui.updateEvents();
      }
      this.ui.updateTransport();
      this.show();
    } catch (error) {
      this.panel.classList.add('gone');
      this.state.textContent = 'the run has ended';
      this.ui.note(error instanceof Error ? error.message : String(error));
      this.ui.setLive(false);
      return;
    }
    setTimeout(() => { void this.look(); }, POLL);
  }

  private measureRate(): void {
    const now = performance.now();
    const rate = (this.recording.endTime - this.lastEnd) / Math.max(1e-3, (now - this.lastLook) / 1000);
    this.rate = 0.7 * this.rate + 0.3 * rate;
    this.lastEnd = this.recording.endTime;
    this.lastLook = now;
  }

  /** Moves the time on towards the head, smoothly; called for every frame. */
  advance(seconds: number): void {
    const {player, recording} = this;
    if (player.isPlaying) this.isFollowing = false;
    else if (player.time !== this.expected) this.isFollowing = player.time >= recording.endTime;
    if (this.isFollowing) {
      const behind = recording.endTime - player.time;
      // As fast as steps come in, and what is missing within a tenth of a second.
      const step = this.status.state === 'running' ? this.rate * seconds + behind * Math.min(1, 10 * seconds) : behind;
      if (behind > 0) player.seek(behind - step < 1e-12 ? recording.endTime : player.time + step);
    }
    this.expected = player.time;
    this.headButton.setAttribute('aria-pressed', String(this.isFollowing));
    this.drawHold();
  }

  // --- the panel

  private build(): void {
    const {settings, schemes, solvers} = this.status;
    const field = (label: string, input: HTMLElement, unit = ''): HTMLElement =>
      el('label', {}, el('span', {}, label), input, unit ? el('small', {}, unit) : null);
    const number = (name: string, send: (value: number) => void): HTMLInputElement => {
      const input = el('input', {type: 'text', inputmode: 'decimal', 'data-live': name, 'aria-label': name});
      input.addEventListener('change', () => {
        const value = Number(input.value.replace(',', '.'));
        if (input.value.trim() === '' || !Number.isFinite(value)) { this.say(`${name}: not a number`); this.showSettings(true); return; }
        send(value);
      });
      this.inputs.set(name, input);
      return input;
    };
    const choice = (name: keyof Settings, values: string[]): HTMLSelectElement => {
      const select = el('select', {'data-live': name, 'aria-label': name}, ...values.map((value) => el('option', {value}, value)));
      select.addEventListener('change', () => { void this.set({[name]: select.value}).then((isDone) => { if (!isDone) this.showSettings(true); }); });
      this.inputs.set(name, select);
      return select;
    };
    const set = (key: string) => (value: number): void => { void this.set({[key]: value}).then((isDone) => { if (!isDone) this.showSettings(true); }); };
    const speed = el('select', {'data-live': 'speed', 'aria-label': 'speed'},
      ...SPEEDS.map((value) => el('option', {value: String(value)}, value === 0 ? 'as fast as it can' : `${value}×`)));
    if (!SPEEDS.includes(this.status.speed)) speed.append(el('option', {value: String(this.status.speed)}, `${this.status.speed}×`));
    speed.addEventListener('change', () => { void this.send({speed: Number(speed.value)}); });
    this.inputs.set('speed', speed);
    const sections = [...new Set(['disc', 'box', 'polygon:4', 'polygon:8', 'polygon:16', settings.friction])];
    const rows: (HTMLElement | null)[] = [
      el('div', {class: 'actions'}, this.runButton, this.stepButton, this.headButton), this.state, this.fault,
      field('speed', speed), field('h', number('h', set('h')), 's'), field('until', number('duration', set('duration')), 's'),
      field('scheme', choice('scheme', schemes)), field('solver', choice('solver', solvers)),
      field('cone', choice('friction', sections)), field('friction ×', number('friction_factor', set('friction_factor'))),
    ];
    if (settings.gravity) {
      const axes = ['x', 'y', 'z'].map((axis, i) => number(`gravity ${axis}`, (value) => {
        const gravity = [...this.status.settings.gravity!];
        gravity[i] = value;
        set('gravity')(gravity as unknown as number);
      }));
      rows.push(el('div', {class: 'three'}, el('span', {}, 'gravity'), ...axes));
    }
    const names = Object.keys(settings.parameters);
    if (names.length > 0) {
      const which = el('select', {'data-live': 'parameter', 'aria-label': 'parameter'}, ...names.map((name) => el('option', {value: name}, name)));
      const value = number('value', (given) => { set('parameters')({[which.value]: given} as unknown as number); });
      which.addEventListener('change', () => this.showSettings(true));
      this.inputs.set('parameter', which);
      rows.push(el('div', {class: 'two'}, which, value));
    }
    if (this.status.canPull && this.viewer) {
      const box = el('input', {type: 'checkbox', 'data-live': 'pull'});
      box.addEventListener('change', () => { this.pulls = box.checked; });
      const strength = el('input', {type: 'range', min: '-2', max: '4', step: '0.05', 'aria-label': 'Strength of pulling', title: 'Strength'});
      strength.value = '0';
      strength.addEventListener('input', () => { this.strength = 10 ** Number(strength.value); });
      rows.push(el('label', {class: 'pull', title: 'Shift with a drag does it as well'}, box, 'pull bodies', strength));
    }
    this.panel.replaceChildren(...rows.filter((row): row is HTMLElement => row !== null));
    this.ui.addRunPanel(this.panel);
    this.showSettings(true);
  }

  private say(text: string): void {
    this.fault.hidden = text === '';
    this.fault.textContent = text;
  }

  private show(): void {
    const {status} = this;
    const isRunning = status.state === 'running';
    if (this.runButton.dataset['running'] !== String(isRunning)) {
      this.runButton.dataset['running'] = String(isRunning);
      this.runButton.replaceChildren(icon(isRunning ? ICONS.pause : ICONS.play), isRunning ? 'Pause' : 'Run');
    }
    this.stepButton.disabled = status.state === 'end';
    this.state.textContent = isRunning ? `t = ${format(status.time, 5)} s · ${format(status.realSpeed, 2)}× real time`
      : status.state === 'end' ? `ended at t = ${format(status.time, 5)} s: a larger “until” goes on` : `paused at t = ${format(status.time, 5)} s`;
    if (status.message !== '') this.say(status.message);
    this.showSettings(false);
  }

  /** What the run has now, but where somebody is typing. */
  private showSettings(isForced: boolean): void {
    const {settings} = this.status;
    const put = (name: string, value: string): void => {
      const input = this.inputs.get(name);
      if (!input || (!isForced && document.activeElement === input) || input.dataset['shown'] === value && !isForced) return;
      input.dataset['shown'] = value;
      input.value = value;
    };
    for (const name of ['h', 'duration', 'friction_factor'] as const) put(name, String(settings[name]));
    for (const name of ['scheme', 'solver', 'friction'] as const) put(name, settings[name]);
    settings.gravity?.forEach((value, i) => put(`gravity ${'xyz'[i]}`, String(value)));
    put('speed', String(this.status.speed));
    const which = this.inputs.get('parameter');
    if (which) put('value', String(settings.parameters[which.value]));
  }

  // --- pulling

  private listen(viewer: Viewer): void {
    const container = this.ui.canvas;
    // Before the camera hears of it.
    container.addEventListener('pointerdown', (event) => {
      if (event.button !== 0 || !(event.shiftKey || this.pulls)) return;
      const hit = viewer.pickPoint(event.offsetX, event.offsetY);
      if (!hit || this.recording.header.frames[hit.frame].kind !== 'dynamic') return;
      event.stopPropagation();
      event.preventDefault();
      container.setPointerCapture(event.pointerId);
      this.take(hit.frame, hit.point);
    }, {capture: true});
    container.addEventListener('pointermove', (event) => {
      if (!this.hold) return;
      event.stopPropagation();
      const box = container.getBoundingClientRect();
      const ray = viewer.rayAt(event.clientX - box.left, event.clientY - box.top);
      const target = ray.intersectPlane(this.hold.plane, new THREE.Vector3());
      if (target) this.hold.target.copy(target);
      void this.sendPull();
    }, {capture: true});
    const drop = (): void => { void this.release(); };
    container.addEventListener('pointerup', drop, {capture: true});
    container.addEventListener('pointercancel', drop, {capture: true});
  }

  private take(frame: number, point: THREE.Vector3): void {
    const {viewer} = this;
    if (!viewer) return;
    this.goToHead();
    const local = point.clone().applyMatrix4(viewer.bodies.matrixOf(frame).invert());
    const normal = viewer.stage.camera.getWorldDirection(new THREE.Vector3());
    this.hold = {frame, point: local, target: point.clone(), plane: new THREE.Plane().setFromNormalAndCoplanarPoint(normal, point), sent: 0};
    void this.sendPull();
  }

  /** One at a time, and not more often than anybody sees. */
  private async sendPull(): Promise<void> {
    const {hold} = this;
    if (!hold || this.isSending) return;
    const wait = hold.sent + PULL_PERIOD - performance.now();
    this.isSending = true;
    if (wait > 0) await new Promise((resolve) => { setTimeout(resolve, wait); });
    if (this.hold === hold) {
      hold.sent = performance.now();
      const target = hold.target.clone();
      // Gravity must not stretch the spring by more than a small part of the scene.
      const gravity = Math.hypot(...(this.status.settings.gravity ?? [0, 0, 0]));
      const least = Math.max(1, 0.2 * gravity / this.viewer!.sceneRadius);
      await this.send({pull: {body: hold.frame, point: hold.point.toArray(), target: target.toArray(), strength: this.strength * least}});
      this.isSending = false;
      if (this.hold === hold && !hold.target.equals(target)) void this.sendPull();
    } else {
      this.isSending = false;
    }
  }

  private async release(): Promise<void> {
    if (!this.hold) return;
    this.hold = undefined;
    while (this.isSending) await new Promise((resolve) => { setTimeout(resolve, 5); });
    await this.send({release: true});
  }

  /** A line from the held point to the hand. */
  private drawHold(): void {
    const {viewer, hold} = this;
    if (!viewer) return;
    if (!hold) {
      if (this.line?.visible) { this.line.visible = false; viewer.stage.isDirty = true; }
      return;
    }
    if (!this.line) {
      const color = '#ffb020';
      const geometry = new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(), new THREE.Vector3()]);
      const line = new THREE.Line(geometry, new THREE.LineBasicMaterial({color, depthTest: false}));
      line.frustumCulled = false;
      const knob = new THREE.Mesh(new THREE.SphereGeometry(1, 12, 8), new THREE.MeshBasicMaterial({color, depthTest: false}));
      this.line = new THREE.Group().add(line, knob);
      this.line.renderOrder = 5;
      viewer.stage.scene.add(this.line);
    }
    const [line, knob] = this.line.children as [THREE.Line, THREE.Mesh];
    const from = hold.point.clone().applyMatrix4(viewer.bodies.matrixOf(hold.frame));
    const positions = line.geometry.getAttribute('position');
    positions.setXYZ(0, from.x, from.y, from.z);
    positions.setXYZ(1, hold.target.x, hold.target.y, hold.target.z);
    positions.needsUpdate = true;
    knob.position.copy(hold.target);
    knob.scale.setScalar(0.012 * viewer.sceneRadius);
    this.line.visible = true;
    viewer.stage.isDirty = true;
  }
}
