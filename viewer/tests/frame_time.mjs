// How long a frame takes in software rendering: node frame_time.mjs PAGE.html [PAGE.html…], pages written by
// `stiction view --html`. Pages take turns, so that a busy machine is the same for all; the least of many is shown.
import {chromium} from 'playwright-core';

const browser = await chromium.launch({executablePath: '/usr/bin/chromium', headless: true, args: [
  '--no-sandbox', '--disable-background-networking', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist']});
const pages = [];
for (const path of process.argv.slice(2)) {
  const page = await browser.newPage({viewport: {width: 800, height: 480}});
  page.setDefaultTimeout(300000);
  await page.goto(`file://${path}`);
  await page.waitForSelector('html[data-ready]', {state: 'attached'});
  await page.evaluate(() => { stiction.ui.togglePlots(); });
  pages.push({path, page, best: {update: Infinity, draw: Infinity}});
}
for (let turn = 0; turn < 4; ++turn)
  for (const entry of pages) {
    await entry.page.bringToFront();
    const times = await entry.page.evaluate(async () => {
      const {viewer, recording} = stiction;
      const context = viewer.stage.renderer.getContext();
      const pixel = new Uint8Array(4);
      let update = Infinity;
      let draw = Infinity;
      for (let i = 0; i < 15; ++i) {
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
    });
    entry.best = {...times, update: Math.min(times.update, entry.best.update), draw: Math.min(times.draw, entry.best.draw)};
  }
for (const {path, best} of pages)
  console.log(`${path}: update ${best.update.toFixed(1)} ms, draw ${best.draw.toFixed(1)} ms; ${best.arrows} arrows, ${best.calls} calls, ${best.triangles} triangles`);
await browser.close();
