// Pictures of the examples: a still and a short loop of each.
//   node gallery.mjs PROGRAM OUT_FOLDER [--stills] [NAME…]
// Every example is simulated, opened in the viewer as one file, drawn at two thirds of its time, and filmed from its
// start to its end. Writes NAME.jpg, NAME.webp and README.md. An example that takes more than ten minutes is left
// out, and said.
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {chromium} from 'playwright-core';
import {animateWebp} from './animated_webp.mjs';

const [program, out, ...words] = process.argv.slice(2);
if (!program || !out) {
  console.error('usage: node gallery.mjs PROGRAM OUT_FOLDER [--stills] [NAME…]');
  process.exit(2);
}
const wantsLoops = !words.includes('--stills');
const chosen = words.filter((word) => !word.startsWith('--'));
const examples = join(dirname(fileURLToPath(import.meta.url)), '../examples');
const names = readdirSync(examples).filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -5))
  .filter((name) => chosen.length === 0 || chosen.includes(name));

/** [s] Of those that take long, the part in which something happens. */
const DURATIONS = {'wheel-loader': 2, 'brick-wall-long': 1.5, 'chain-100': 1.5, 'heavy-chain': 1, 'log-pile': 1.5, 'card-house': 2};
const STILL = {width: 480, height: 340};
const LOOP = {width: 320, height: 226, frames: 48, milliseconds: 80, quality: 0.5};
const PATIENCE = 600000;  // [ms] for a simulation

mkdirSync(out, {recursive: true});
const work = mkdtempSync(join(tmpdir(), 'stiction-gallery-'));
const browser = await chromium.launch({executablePath: '/usr/bin/chromium', headless: true, args: [
  '--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run',
  '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist']});

/** The first sentence of the comment at the top of a scene. */
function captionOf(name) {
  const lines = readFileSync(join(examples, `${name}.json`), 'utf8').split('\n');
  const text = lines.slice(0, lines.findIndex((line) => !line.startsWith('//'))).map((line) => line.slice(2).trim()).join(' ').trim();
  // Without sources in parentheses.
  const plain = text.replace(/ \([^()]*\)/g, '');
  return plain.match(/^.*?[.:](?=\s|$)/)?.[0].replace(/:$/, '.') ?? plain;
}

function simulate(name) {
  const recording = join(work, `${name}.h5`);
  const options = name in DURATIONS ? ['--duration', String(DURATIONS[name])] : [];
  try {
    execFileSync(program, ['run', join(examples, `${name}.json`), '--out', recording, '--quiet', ...options], {stdio: 'pipe', timeout: PATIENCE});
  } catch (error) {
    if (error.status !== 3) throw error;  // 3: above tolerance, which is part of what some examples show
  }
  const page = join(work, `${name}.html`);
  execFileSync(program, ['view', recording, '--html', page, '--meshes', examples], {stdio: 'pipe'});
  rmSync(recording, {force: true});
  return page;
}

/** The picture alone: everything else out of the way, the camera anew. */
async function showPictureAlone(page) {
  await page.evaluate(() => {
    document.querySelectorAll('.top, .transport, .side, .layers, .scale').forEach((element) => { element.hidden = true; });
    stiction.ui.root.style.gridTemplate = '"stage" 1fr / 1fr';
    stiction.viewer.stage.setCovered(0);
  });
  await page.waitForTimeout(400);
  await page.evaluate(() => stiction.viewer.stage.frame());
}

/** Frames of what changes from one to the next, encoded by the browser. */
function film(page) {
  return page.evaluate(async ({width, height, frames, milliseconds, quality}) => {
    const {viewer, player, recording} = stiction;
    player.pause();
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext('2d', {willReadFrequently: true});
    let before;
    const film = [];
    // A camera that goes along with a body begins where the body does.
    await recording.load('poses', 0);
    viewer.show(0);
    viewer.stage.frame();
    for (let i = 0; i < frames; ++i) {
      const time = recording.startTime + (recording.endTime - recording.startTime) * i / (frames - 1);
      const row = recording.rowAt(time);
      await recording.load('poses', recording.chunkOf(row));
      await recording.load('contacts', recording.chunkOf(row));
      viewer.show(row);
      viewer.stage.render(true);
      context.drawImage(viewer.stage.renderer.domElement, 0, 0, width, height);
      const now = context.getImageData(0, 0, width, height).data;
      let [left, top, right, bottom] = before ? [width, height, 0, 0] : [0, 0, width, height];
      for (let k = 0; before && k < now.length; k += 4) {
        if (Math.abs(now[k] - before[k]) + Math.abs(now[k + 1] - before[k + 1]) + Math.abs(now[k + 2] - before[k + 2]) < 6) continue;
        const x = k / 4 % width, y = Math.floor(k / 4 / width);
        left = Math.min(left, x); right = Math.max(right, x + 1); top = Math.min(top, y); bottom = Math.max(bottom, y + 1);
      }
      before = now;
      const last = film.at(-1);
      if (right <= left) { last.milliseconds += milliseconds; continue; }
      // The format wants even offsets; whole blocks of the codec keep seams out of sight.
      left -= left % 16; top -= top % 16;
      right = Math.min(width, right + 15 - (right + 15) % 16); bottom = Math.min(height, bottom + 15 - (bottom + 15) % 16);
      const part = new OffscreenCanvas(right - left, bottom - top);
      part.getContext('2d').drawImage(canvas, left, top, right - left, bottom - top, 0, 0, right - left, bottom - top);
      const bytes = new Uint8Array(await (await part.convertToBlob({type: 'image/webp', quality})).arrayBuffer());
      let text = '';
      for (const byte of bytes) text += String.fromCharCode(byte);
      film.push({x: left, y: top, width: right - left, height: bottom - top, milliseconds, webp: btoa(text)});
    }
    film.at(-1).milliseconds += 800;  // before it begins again
    return film;
  }, LOOP);
}

async function draw(name) {
  const file = simulate(name);
  const page = await browser.newPage({viewport: STILL});
  page.setDefaultTimeout(240000);
  await page.goto(`file://${file}`);
  await page.waitForSelector('html[data-ready]', {state: 'attached'});
  const isDrawn = await page.evaluate(() => Boolean(stiction.viewer));
  if (isDrawn) {
    await showPictureAlone(page);
    await page.evaluate(() => {
      const {player, recording} = stiction;
      player.seek(recording.startTime + 0.66 * (recording.endTime - recording.startTime));
    });
    await page.waitForTimeout(1200);
    await page.screenshot({path: join(out, `${name}.jpg`), type: 'jpeg', quality: 82});
    if (wantsLoops) {
      const frames = (await film(page)).map((frame) => ({...frame, webp: Buffer.from(frame.webp, 'base64')}));
      writeFileSync(join(out, `${name}.webp`), animateWebp(LOOP.width, LOOP.height, frames));
    }
  }
  await page.close();
  rmSync(file, {force: true});
  return isDrawn;
}

for (const name of names) {
  const start = Date.now();
  try {
    const isDrawn = await draw(name);
    const size = existsSync(join(out, `${name}.webp`)) ? `, loop of ${Math.round(statSync(join(out, `${name}.webp`)).size / 1000)} kB` : '';
    console.log(`${name}: ${isDrawn ? 'drawn' : 'nothing to draw'} in ${Math.round((Date.now() - start) / 1000)} s${size}`);
  } catch (error) {
    console.log(`${name}: ${String(error.message).split('\n')[0]}`);
  }
}
await browser.close();
rmSync(work, {recursive: true, force: true});
// Those that were not asked for this time stay in the list.
const pictures = readdirSync(out).filter((name) => name.endsWith('.jpg')).map((name) => name.slice(0, -4));
const target = (name) => existsSync(join(out, `${name}.webp`)) ? `${name}.webp` : `../../examples/${name}.json`;
const cells = pictures.map((name) => `[![${name}](${name}.jpg)](${target(name)})<br>**${name}**<br>${captionOf(name).replaceAll('|', '\\|')}`);
const rows = [];
for (let i = 0; i < cells.length; i += 3) rows.push(`| ${[...cells.slice(i, i + 3), '', ''].slice(0, 3).join(' | ')} |`);
writeFileSync(join(out, 'README.md'), `# Gallery\n\nThe examples, drawn by \`./stiction gallery\` at two thirds of their time. A click shows the motion.\n` +
  `Arrows are contact impulses, dots are contacts: green stick, orange slip.\n\n| | | |\n|---|---|---|\n${rows.join('\n')}\n`);
