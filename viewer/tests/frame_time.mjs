// How long a frame takes in software rendering: node frame_time.mjs PAGE.html [PAGE.html…], pages written by
// `stiction view --html`. Pages take turns, so that a busy machine is the same for all. Prints the time on the wall, the
// least of many, the processor's time for drawing, which a busy machine changes less, and how many frames there are while
// the recording plays, at the sharpness that the page then chooses.
import {readdirSync, readFileSync} from 'node:fs';
import {chromium} from 'playwright-core';

const browser = await chromium.launch({executablePath: '/usr/bin/chromium', headless: true, args: [
  '--no-sandbox', '--disable-background-networking', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist']});

const statOf = (pid) => readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) /, '').split(' ');
function isOurs(pid) {
  for (let p = pid; p > 1; p = Number(statOf(p)[1])) if (p === process.pid) return true;
  return false;
}
/** [ms] that the process which draws has used so far. */
function drawingTime() {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number)) {
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('--type=gpu-process') || !isOurs(pid)) continue;
      const stat = statOf(pid);
      return 10 * (Number(stat[11]) + Number(stat[12]));  // in ticks of 10 ms
    } catch { /* it has ended meanwhile */ }
  }
  return NaN;
}

const pages = [];
for (const path of process.argv.slice(2)) {
  const page = await browser.newPage({viewport: {width: 800, height: 480}});
  page.setDefaultTimeout(600000);
  await page.goto(`file://${path}`);
  await page.waitForSelector('html[data-ready]', {state: 'attached'});
  await page.evaluate(() => { stiction.ui.togglePlots(); });
  pages.push({path, page, best: {update: Infinity, draw: Infinity, processor: Infinity}});
}
const FRAMES = 12;
for (let turn = 0; turn < 3; ++turn)
  for (const entry of pages) {
    await entry.page.bringToFront();
    const before = drawingTime();
    const times = await entry.page.evaluate(async (frames) => {
      const {viewer, recording} = stiction;
      const context = viewer.stage.renderer.getContext();
      const pixel = new Uint8Array(4);
      let update = Infinity;
      let draw = Infinity;
      for (let i = 0; i < frames; ++i) {
        const row = Math.floor(recording.rows / 2) + i % 4;
        await recording.load('poses', recording.chunkOf(row));
        await recording.load('contacts', recording.chunkOf(row));
        const start = performance.now();
        viewer.show(row);
        const middle = performance.now();
        viewer.stage.render(true);
        context.readPixels(0, 0, 1, 1, context.RGBA, context.UNSIGNED_BYTE, pixel);  // waits for the picture
        draw = Math.min(draw, performance.now() - middle);
        update = Math.min(update, middle - start);
      }
      const {calls, triangles} = viewer.stage.renderer.info.render;
      return {update, draw, arrows: viewer.contacts.numArrows, calls, triangles};
    }, FRAMES);
    const {best} = entry;
    entry.best = {...times, update: Math.min(times.update, best.update), draw: Math.min(times.draw, best.draw),
                  processor: Math.min((drawingTime() - before) / FRAMES, best.processor)};
  }
const PLAYED = 6;  // [s], of which the first half finds the sharpness
for (const entry of pages) {
  await entry.page.bringToFront();
  entry.playing = await entry.page.evaluate(async (seconds) => {
    const {player, viewer} = stiction;
    player.setLoop(true);
    if (!player.isPlaying) player.toggle();
    const end = performance.now() + 1000 * seconds;
    let frames = 0;
    while (performance.now() < end) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      if (performance.now() > end - 500 * seconds) ++frames;
    }
    player.pause();
    return {rate: frames / (seconds / 2), ratio: viewer.stage.renderer.getPixelRatio()};
  }, PLAYED);
}
for (const {path, best, playing} of pages)
  console.log(`${path}: update ${best.update.toFixed(1)} ms, draw ${best.draw.toFixed(1)} ms (${best.processor.toFixed(1)} ms of processor time); ` +
              `${best.arrows} arrows, ${best.calls} calls, ${best.triangles} triangles; ` +
              `playing ${playing.rate.toFixed(0)} frames a second with ${playing.ratio.toFixed(2)} pixels per pixel`);
await browser.close();
