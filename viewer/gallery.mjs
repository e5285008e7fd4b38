// Pictures of examples: a still of each, and with --loops a short loop.
//   node gallery.mjs PROGRAM OUT_FOLDER [--loops] [NAME…]
// Every example is simulated (at most ten simulated seconds), opened in the viewer as one file, and drawn at
// two thirds of its time. Writes NAME.jpg, NAME.webm and README.md.
// An example that takes more than five minutes is left out, and said.
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {chromium} from 'playwright-core';

const [program, out, ...words] = process.argv.slice(2);
if (!program || !out) {
  console.error('usage: node gallery.mjs PROGRAM OUT_FOLDER [--loops] [NAME…]');
  process.exit(2);
}
const wantsLoops = words.includes('--loops');
const chosen = words.filter((word) => !word.startsWith('--'));
const examples = join(dirname(fileURLToPath(import.meta.url)), '../examples');
const names = readdirSync(examples).filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -5))
  .filter((name) => chosen.length === 0 || chosen.includes(name));
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

async function draw(name) {
  const recording = join(work, `${name}.h5`);
  const scene = join(examples, `${name}.json`);
  try {
    execFileSync(program, ['run', scene, '--out', recording, '--quiet'], {stdio: 'pipe', timeout: 300000});
  } catch (error) {
    if (error.status !== 3) throw error;  // 3: above tolerance, which is part of what some examples show
  }
  execFileSync(program, ['view', recording, '--html', join(work, `${name}.html`), '--meshes', examples], {stdio: 'pipe'});
  const page = await browser.newPage({viewport: {width: 480, height: 340}});
  page.setDefaultTimeout(120000);
  await page.goto(`file://${join(work, `${name}.html`)}`);
  await page.waitForSelector('html[data-ready]', {state: 'attached'});
  if (!(await page.evaluate(() => Boolean(stiction.viewer)))) return false;
  // The picture alone: everything else out of the way, the camera anew for the larger canvas.
  await page.evaluate(() => {
    const {ui, viewer} = stiction;
    document.querySelectorAll('.top, .transport, .side, .layers, .scale').forEach((element) => { element.hidden = true; });
    ui.root.style.gridTemplate = '"stage" 1fr / 1fr';
    viewer.stage.setCovered(0);
  });
  await page.waitForTimeout(400);
  const duration = await page.evaluate(() => {
    const {viewer, player, recording} = stiction;
    viewer.stage.frame();
    player.seek(recording.startTime + 0.66 * (recording.endTime - recording.startTime));
    return recording.endTime - recording.startTime;
  });
  await page.waitForTimeout(1200);
  await page.screenshot({path: join(out, `${name}.jpg`), type: 'jpeg', quality: 82});
  if (wantsLoops) {
    const video = await page.evaluate(async (seconds) => {
      const {viewer, player, recording} = stiction;
      const stream = viewer.stage.renderer.domElement.captureStream(25);
      const recorder = new MediaRecorder(stream, {mimeType: 'video/webm', videoBitsPerSecond: 600000});
      const parts = [];
      recorder.ondataavailable = (event) => parts.push(event.data);
      player.seek(recording.startTime);
      player.setSpeed(seconds / 4);
      recorder.start();
      player.isPlaying = true;
      await new Promise((resolve) => setTimeout(resolve, 4000));
      const ended = new Promise((resolve) => { recorder.onstop = resolve; });
      recorder.stop();
      await ended;
      const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
      let text = '';
      for (const byte of bytes) text += String.fromCharCode(byte);
      return btoa(text);
    }, duration);
    writeFileSync(join(out, `${name}.webm`), Buffer.from(video, 'base64'));
  }
  await page.close();
  rmSync(recording, {force: true});
  return true;
}

const done = [];
for (const name of names) {
  try {
    if (await draw(name)) done.push(name);
    console.log(`${name}: ${done.at(-1) === name ? 'drawn' : 'nothing to draw'}`);
  } catch (error) {
    console.log(`${name}: ${String(error.message).split('\n')[0]}`);
  }
}
await browser.close();
rmSync(work, {recursive: true, force: true});
// Those that were not asked for this time stay in the list.
const pictures = readdirSync(out).filter((name) => name.endsWith('.jpg')).map((name) => name.slice(0, -4));
const target = (name) => existsSync(join(out, `${name}.webm`)) ? `${name}.webm` : `../../examples/${name}.json`;
const cells = pictures.map((name) => `[![${name}](${name}.jpg)](${target(name)})<br>**${name}**<br>${captionOf(name).replaceAll('|', '\\|')}`);
const rows = [];
for (let i = 0; i < cells.length; i += 3) rows.push(`| ${[...cells.slice(i, i + 3), '', ''].slice(0, 3).join(' | ')} |`);
writeFileSync(join(out, 'README.md'), `# Gallery\n\nThe examples, drawn by \`./stiction gallery\` at two thirds of their time; \`--loops\` adds a short film of each.\n` +
  `Arrows are contact impulses, dots are contacts: green stick, orange slip.\n\n| | | |\n|---|---|---|\n${rows.join('\n')}\n`);
