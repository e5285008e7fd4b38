// Opens a page as a notebook shows it and says what is in its frame.
//   node open_frame.mjs FILE.html
// Prints {"rows", "canvases", "problems"}. Exit status 77: no browser, or its driver is not here.
import {existsSync} from 'node:fs';
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const require = createRequire(new URL('../../viewer/package.json', import.meta.url));
let driver;
try { driver = require('playwright-core'); } catch { /* said below */ }
if (!browserPath || !driver) process.exit(77);

const browser = await driver.chromium.launch({executablePath: browserPath, headless: true, args: [
  '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist']});
const problems = [];
const tab = await browser.newPage({viewport: {width: 900, height: 600}});
tab.setDefaultTimeout(60000);
tab.on('pageerror', (error) => problems.push(error.message));
tab.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()); });
tab.on('request', (request) => { if (!/^(file|data|blob|about):/.test(request.url())) problems.push(`asks for ${request.url()}`); });
await tab.goto(pathToFileURL(process.argv[2]).href);
const frame = await (await tab.waitForSelector('iframe')).contentFrame();
await frame.waitForSelector('html[data-ready]', {state: 'attached'});
const found = await frame.evaluate(() => ({
  rows: stiction.recording.rows,
  canvases: [...document.querySelectorAll('canvas')].filter((canvas) => canvas.width > 0 && canvas.height > 0).length,
}));
console.log(JSON.stringify({...found, problems}));
await browser.close();
