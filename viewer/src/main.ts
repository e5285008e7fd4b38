// Opens the recording and keeps picture, plots and clock in step.
import './style.css';
import {el} from './dom';
import {LiveControl} from './live';
import {Player} from './player';
import {Recording} from './recording';
import {buildReport} from './report';
import {findSource} from './source';
import {roundDown} from './stage';
import {Interface} from './ui';
import {Viewer} from './viewer';

function prefersDark(): boolean {
  let chosen: string | null = null;
  try { chosen = localStorage.getItem('stiction-theme'); } catch { /* pages from files may have none */ }
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

function fail(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  document.getElementById('app')!.replaceChildren(el('div', {class: 'failure', role: 'alert'},
    el('h1', {}, 'This recording cannot be shown'), el('p', {}, message)));
}

/** What draws: nothing without WebGL, the processor, or a graphics card. */
function findRenderer(): 'none' | 'software' | 'card' {
  const context = document.createElement('canvas').getContext('webgl2');
  if (!context) return 'none';
  const info = context.getExtension('WEBGL_debug_renderer_info');
  const name = info ? String(context.getParameter(info.UNMASKED_RENDERER_WEBGL)) : '';
  context.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name) ? 'software' : 'card';
}

/** Draws frame after frame; nothing is drawn anew that has not changed. */
function run(recording: Recording, player: Player, ui: Interface, viewer: Viewer | undefined, live: LiveControl | undefined): void {
  let last = performance.now();
  let shown = -1;
  let slowness = 0;
  const onFrame = (now: number): void => {
    const seconds = Math.min(0.1, (now - last) / 1000);
    last = now;
    live?.advance(seconds);
    const wanted = recording.rowAt(player.time);
    player.advance(seconds, viewer !== undefined && !viewer.isReady(wanted));
    const row = recording.rowAt(player.time);
    let hasMoved = false;
    if (row !== shown && recording.rows > 0) {
      const isDrawn = viewer ? viewer.show(row) : recording.peek('poses', recording.chunkOf(row)) !== undefined;
      if (isDrawn) {
        shown = row;
        hasMoved = true;
        ui.showRow(row);
      }
    } else if (viewer && contactsAreLate(viewer)) {
      viewer.updateOverlays();
    }
    if (viewer && (viewer.stage.isDirty || hasMoved)) {
      viewer.stage.render(hasMoved);
      // Where a graphics card is missing, a plainer picture that moves is worth more.
      if (player.isPlaying && hasMoved) slowness = 0.9 * slowness + 0.1 * seconds;
      if (slowness > 0.045 && viewer.layers.shadows) {
        viewer.layers.shadows = false;
        viewer.stage.setShadows(false);
        slowness = 0;
      }
    }
    if (hasMoved && player.isPlaying) viewer?.sharpness?.noteMotion(seconds);
    else viewer?.sharpness?.noteRest(seconds);
    requestAnimationFrame(onFrame);
  };
  requestAnimationFrame(onFrame);
}

let lateChunk = -1;
/** Whether contacts of the shown row have come after its poses. */
function contactsAreLate(viewer: Viewer): boolean {
  const chunk = viewer.recording.chunkOf(viewer.row);
  if (viewer.row < 0 || lateChunk === chunk) return false;
  const isHere = viewer.recording.peek('contacts', chunk) !== undefined &&
    (!(viewer.layers.reactions || viewer.layers.efforts) || viewer.recording.peek('joints', chunk) !== undefined);
  if (isHere) lateChunk = chunk;
  return isHere;
}

function followWriter(recording: Recording, player: Player, ui: Interface): void {
  ui.setLive(recording.extent.growing);
  if (!recording.extent.growing) return;
  const look = async (): Promise<void> => {
    const wasAtEnd = player.time >= recording.endTime;
    try {
      if (await recording.poll()) {
        ui.updateTransport();
        recording.forgetCurves();
        await ui.charts.reload();
        if (wasAtEnd && !player.isPlaying) player.seek(recording.endTime);
      }
    } catch (error) {
      ui.note(error instanceof Error ? error.message : String(error));
      return;
    }
    ui.setLive(recording.extent.growing);
    if (recording.extent.growing) setTimeout(() => { void look(); }, 1000);
  };
  setTimeout(() => { void look(); }, 1000);
}

async function start(): Promise<void> {
  document.documentElement.dataset['theme'] = prefersDark() ? 'dark' : 'light';
  document.getElementById('app')!.replaceChildren(el('div', {class: 'loading'}, 'Loading…'));
  const source = findSource();
  const recording = new Recording(source, 0);
  await recording.open();
  if (recording.rows === 0) throw new Error(`${recording.header.file} has no complete step yet.`);
  let ghost: Recording | undefined;
  if (await source.count() > 1) {
    ghost = new Recording(source, 1);
    await ghost.open();
  }
  const player = new Player(() => [recording.startTime, recording.endTime]);
  player.time = recording.startTime;
  // Short runs are over in no time: a few seconds are what one can follow.
  const duration = recording.endTime - recording.startTime;
  const isLive = await source.isLive();
  if (!isLive && duration > 0 && duration < 4) player.speed = Math.max(0.01, roundDown(duration / 4));
  const ui = new Interface(recording, player);
  ui.build();
  let viewer: Viewer | undefined;
  const {header} = recording;
  const renderer = findRenderer();
  if (header.fault) {
    ui.showPlotsOnly();
    ui.note(`The scene in this recording cannot be read, so there are only plots: ${header.fault}`);
  } else if (header.shapes.length === 0) {
    ui.showPlotsOnly();
    ui.note('This scene has nothing to draw: a block "view" gives it a picture.');
  } else if (renderer === 'none') {
    ui.showPlotsOnly();
    ui.note('This browser has no WebGL, so there are only plots.');
  } else {
    viewer = new Viewer(recording, ghost, ui.canvas, renderer === 'software');
    viewer.setDark(prefersDark());
    await viewer.build();
    ui.attach(viewer);
  }
  await recording.load('poses', 0);
  const live = isLive ? new LiveControl(source, recording, player, ui, viewer) : undefined;
  if (live) {
    await live.open();
    ui.setLive(true);
    ui.onLiveKey = (key) => live.onKey(key);
  }
  run(recording, player, ui, viewer, live);
  // For tests, and for those who open the console.
  Object.assign(window, {stiction: {recording, ghost, player, ui, viewer, live}});
  if (document.querySelector('meta[name="stiction-mode"]')?.getAttribute('content') === 'report') {
    if (viewer) ui.showPictureOnly();
    const charts = await buildReport(recording, (time) => player.seek(time));
    player.onChange(() => charts.showTime(recording.rowAt(player.time)));
  } else {
    await ui.addFirstCharts();
  }
  if (!live) followWriter(recording, player, ui);
  document.documentElement.dataset['ready'] = 'yes';
}

start().catch(fail);
