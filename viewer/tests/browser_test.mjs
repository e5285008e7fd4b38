// The page in a real browser: what it shows is compared with what the program recorded.
//   node browser_test.mjs PROGRAM WORK_FOLDER [NAME]
// NAME runs only the claims whose name contains it. Exit status 77: no browser or no page here.
import {execFileSync, spawn} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {request} from 'node:http';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';

const [program, work, only = ''] = process.argv.slice(2);
process.setMaxListeners(0);  // one for each server that a claim starts
const here = dirname(fileURLToPath(import.meta.url));
const page = join(dirname(program), '../../viewer/index.html');
const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
if (!browserPath || !existsSync(page) || !existsSync(join(here, '../node_modules/playwright-core'))) {
  console.log('skipped: needs chromium, and the page built by ./stiction view or ./stiction test');
  process.exit(77);
}
const {chromium} = await import('playwright-core');

rmSync(work, {recursive: true, force: true});
mkdirSync(work, {recursive: true});
const file = (name) => join(work, name);

// --- helpers

function assert(condition, message) {
  if (!condition) throw new Error(message);
}
function assertNear(value, expected, tolerance, what) {
  assert(Math.abs(value - expected) <= tolerance, `${what} is ${value}, expected ${expected} within ${tolerance}`);
}

const run = (...words) => execFileSync(program, words, {cwd: work, stdio: ['ignore', 'pipe', 'pipe']}).toString();
function record(scene, name, ...options) {
  run('run', scene, '--out', file(name), '--quiet', ...options);
  return file(name);
}
/** The table that `stiction export` writes: the other way to the same numbers. */
function table(recording) {
  run('export', recording, '--csv', `${recording}.csv`);
  const [head, ...rows] = readFileSync(`${recording}.csv`, 'utf8').trim().split('\n');
  // Names hold no commas, but quotes of a name are doubled.
  const names = head.match(/("([^"]|"")*"|[^,]*)(,|$)/g).map((cell) => cell.replace(/,$/, '').replace(/^"|"$/g, '').replaceAll('""', '"'));
  const values = rows.map((row) => row.split(',').map(Number));
  return {rows: values.length, at: (row, name) => values[row][names.indexOf(name)]};
}

/** A server of the program; its address is what it says. */
const serve = (...words) => start('view', ...words);
/** A run that is looked at while it computes, which is served just so. */
const runLive = (scene, ...words) => start('run', scene, '--view', ...words);
async function start(...words) {
  const child = spawn(program, [...words, '--no-browser'], {cwd: work, stdio: ['ignore', 'ignore', 'pipe']});
  let said = '';
  const address = await new Promise((resolve, reject) => {
    child.stderr.on('data', (data) => {
      said += data;
      const found = said.match(/ at (http:\S+)\n/);
      if (found) resolve(found[1]);
    });
    child.on('exit', (code) => reject(new Error(`the program ended with ${code}: ${said}`)));
  });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  process.on('exit', () => child.kill());
  return {address, said: () => said, end: () => { child.kill('SIGINT'); return ended; }};
}

/** Status and body of one request, with headers that a browser would not let through. */
function ask(address, path, {method = 'GET', headers = {}, body = ''} = {}) {
  const {hostname, port} = new URL(address);
  return new Promise((resolve, reject) => {
    const message = request({hostname, port, path, method, headers}, (answer) => {
      let body = '';
      answer.on('data', (data) => { body += data; });
      answer.on('end', () => resolve({status: answer.statusCode, body, headers: answer.headers}));
    });
    message.on('error', reject);
    message.end(body);
  });
}

const flags = ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
               '--disable-sync', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'];
const launch = (...more) => chromium.launch({executablePath: browserPath, headless: true, args: [...flags, ...more]});

const problems = [];
async function open(browser, address, options = {}) {
  const tab = await browser.newPage({viewport: {width: 800, height: 480}, ...options});
  tab.setDefaultTimeout(90000);
  tab.on('pageerror', (error) => problems.push(`error in the page: ${error.message}`));
  tab.on('console', (message) => { if (message.type() === 'error' && !/status of|ERR_/.test(message.text())) problems.push(`console: ${message.text()}`); });
  await tab.goto(address);
  return tab;
}
const ready = (tab) => tab.waitForSelector('html[data-ready]', {state: 'attached'});
const seek = async (tab, time) => {
  await tab.evaluate((t) => { stiction.player.pause(); stiction.player.seek(t); }, time);
  await tab.waitForFunction(() => stiction.viewer.row === stiction.recording.rowAt(stiction.player.time));
};

const claims = [];
const claim = (name, test) => claims.push({name, test});

// --- what is looked at

const sceneFile = join(here, 'scene.json');
const shapes = record(sceneFile, 'shapes.h5');
const ghost = record(sceneFile, 'ghost.h5', '--scheme', 'anitescu-potra');
const woodpecker = record(join(here, '../../examples/woodpecker.json'), 'woodpecker.h5', '--duration', '0.3');
const numbers = table(shapes);
const browser = await launch();
const server = await serve(shapes, '--ghost', ghost);

claim('the page is below one megabyte', async () => {
  const size = gzipSync(readFileSync(page)).length;
  assert(size < 1e6, `packed it has ${size} bytes`);
});

/** The page of the first server, opened once; a claim that failed leaves it to be opened anew. */
let sharedTab;
async function shared() {
  if (sharedTab) return sharedTab;
  const tab = await open(browser, server.address);
  await ready(tab);
  return sharedTab = tab;
}

claim('bodies are where the recording says, whatever the time', async () => {
  const tab = await shared();
  for (const row of [0, 77, 300]) {
    await seek(tab, row * 2e-3);
    const shown = await tab.evaluate(() => ({
      row: stiction.viewer.row,
      frames: stiction.recording.header.frames.map((frame, i) => ({...frame, at: stiction.viewer.bodies.positionOf(i).toArray()})),
    }));
    assert(shown.row === row, `row ${shown.row} is shown instead of ${row}`);
    for (const frame of shown.frames.filter((one) => one.kind === 'dynamic'))
      ['x', 'y', 'z'].forEach((axis, k) => {
        const expected = numbers.at(row, `${frame.name}.${axis}`);
        // Rounded to single precision on the way: 2^-24 of a number below 2.
        assertNear(frame.at[k], expected, 2 * 2 ** -24, `${frame.name}.${axis} of row ${row}`);
      });
  }
  // What is drawn is where the camera sees it: the red ball, found by its colour.
  await seek(tab, 0.2);
  const layers = ['points', 'normals', 'friction', 'ghost'];
  await tab.evaluate((all) => { for (const layer of all) stiction.viewer.setLayer(layer, false); }, layers);
  const place = await tab.evaluate(() => {
    const {viewer, recording} = stiction;
    const frame = recording.header.frames.findIndex((one) => one.name === '<b>ball</b>');
    const at = viewer.bodies.positionOf(frame).project(viewer.stage.camera);
    const box = viewer.stage.renderer.domElement.getBoundingClientRect();
    return {x: box.left + (at.x + 1) / 2 * box.width, y: box.top + (1 - at.y) / 2 * box.height,
            picked: viewer.pick((at.x + 1) / 2 * box.width, (1 - at.y) / 2 * box.height), frame};
  });
  assert(place.picked === place.frame, `a click there picks ${place.picked}, expected ${place.frame}`);
  await tab.waitForTimeout(300);
  const picture = await tab.screenshot({clip: {x: place.x - 2, y: place.y - 2, width: 4, height: 4}});
  const [red, green, blue] = await tab.evaluate(async (data) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))]));
    const context = new OffscreenCanvas(4, 4).getContext('2d');
    context.drawImage(image, 0, 0);
    return [...context.getImageData(2, 2, 1, 1).data];
  }, picture.toString('base64'));
  await tab.evaluate((all) => { for (const layer of all) stiction.viewer.setLayer(layer, true); }, layers);
  assert(red > 90 && red > 3 * green && red > 3 * blue, `the ball is drawn in ${red}, ${green}, ${blue}`);
});

claim('it plays, pauses, steps, loops and changes speed', async () => {
  const tab = await shared();
  await tab.keyboard.press('Space');
  await tab.waitForFunction(() => stiction.player.time > 0.02 && stiction.viewer.row > 5);
  await tab.keyboard.press('Space');
  const paused = await tab.evaluate(() => stiction.player.time);
  await tab.waitForTimeout(200);
  assert(await tab.evaluate(() => stiction.player.time) === paused, 'time goes on while paused');
  await seek(tab, 0.1);
  await tab.keyboard.press('ArrowRight');
  await tab.waitForFunction(() => stiction.viewer.row === 51);
  await tab.keyboard.press('Shift+ArrowLeft');
  await tab.waitForFunction(() => stiction.viewer.row === 41);
  await tab.locator('.track input').fill('0.4');
  await tab.waitForFunction(() => stiction.viewer.row === 200);
  await tab.locator('.speed input').fill('1');
  assert(await tab.evaluate(() => stiction.player.speed) === 10, 'the slider goes to ten');
  await tab.keyboard.press('End');
  await tab.evaluate(() => { stiction.player.isPlaying = true; });
  await tab.waitForFunction(() => stiction.player.time < 0.5);  // looped
  await tab.evaluate(() => { stiction.player.pause(); stiction.player.setSpeed(0.1); });
});

claim('arrows and cones come and go with their layers, and have the lengths of the impulses', async () => {
  const tab = await shared();
  await seek(tab, 0.5);
  await tab.waitForFunction(() => stiction.viewer.contacts.numArrows > 0);
  const sums = await tab.evaluate(async () => {
    const {recording, viewer} = stiction;
    const series = await recording.series(recording.findSeries('contacts.normal impulse'));
    const chunk = await recording.load('contacts', recording.chunkOf(viewer.row));
    const local = viewer.row - recording.chunkOf(viewer.row) * recording.header.rowsPerChunk;
    let [sum, worst] = [0, 0];
    for (let i = chunk.start[local]; i < chunk.start[local + 1]; ++i) {
      const [n, t] = [chunk.impulse[3 * i], Math.hypot(chunk.impulse[3 * i + 1], chunk.impulse[3 * i + 2])];
      sum += n;
      worst = Math.max(worst, t - chunk.mu[i] * n);
      const world = Math.hypot(chunk.friction[3 * i], chunk.friction[3 * i + 1], chunk.friction[3 * i + 2]);
      if (Math.abs(world - t) > 1e-6 * n) worst = Infinity;
    }
    return {sum, expected: series[viewer.row], worst};
  });
  assertNear(sums.sum, sums.expected, 1e-6 * sums.expected, 'sum of the normal impulses');
  assert(sums.worst <= 1e-6 * sums.sum, `an impulse leaves its cone by ${sums.worst}`);
  await tab.keyboard.press('n');
  await tab.keyboard.press('r');
  assert(await tab.evaluate(() => stiction.viewer.contacts.numArrows) === 0, 'arrows stay');
  await tab.keyboard.press('n');
  assert(await tab.evaluate(() => stiction.viewer.contacts.numArrows) > 0, 'arrows do not come back');
  for (const key of ['k', 'j', 'i', 'b', 'g', 'd']) await tab.keyboard.press(key);
  const islands = await tab.evaluate(() => [stiction.viewer.layers.cones, stiction.viewer.layers.islands, stiction.viewer.trails.count]);
  assert(islands[0] && islands[1] && islands[2] > 3, `layers are ${islands}`);
});

claim('plots say what is recorded where the cursor is', async () => {
  const tab = await shared();
  await tab.evaluate(() => stiction.ui.charts.add({title: 'ball', kind: 'lines', names: ['<b>ball</b>.x', '<b>ball</b>.z']}, true));
  const plot = tab.locator('.plot').first();
  const box = await plot.locator('.u-over').boundingBox();
  await tab.mouse.move(box.x + 0.37 * box.width, box.y + 0.5 * box.height);
  const shown = await plot.evaluate((element) => [...element.querySelectorAll('.entry')].map((entry) =>
    [entry.dataset.series, Number(entry.querySelector('b').dataset.value)]));
  const row = Math.round(0.37 * 300);
  for (const [name, value] of shown) {
    const near = [row - 1, row, row + 1].map((k) => numbers.at(k, name));
    assert(near.includes(value), `${name} is said to be ${value}, recorded are ${near}`);
  }
  // A click goes there.
  await tab.mouse.click(box.x + 0.37 * box.width, box.y + 0.5 * box.height);
  await tab.waitForFunction((expected) => Math.abs(stiction.viewer.row - expected) <= 1, row);
  const [csv] = await Promise.all([tab.waitForEvent('download'), plot.locator('.save-csv').click()]);
  const lines = readFileSync(await csv.path(), 'utf8').trim().split('\n');
  assert(lines.length === 302 && lines[101].split(',')[1] === String(numbers.at(100, '<b>ball</b>.x')), 'the table differs');
  const [svg] = await Promise.all([tab.waitForEvent('download'), plot.locator('.save-svg').click()]);
  const text = readFileSync(await svg.path(), 'utf8');
  assert(text.startsWith('<svg') && !text.includes('<b>') && !text.includes('<img'), 'the drawing carries markup');
});

claim('the badge leads to the worst step', async () => {
  const tab = await shared();
  await tab.locator('.badge').click();
  await tab.waitForFunction(() => stiction.viewer.row === stiction.recording.extent.worst.row);
  const {value, largest} = await tab.evaluate(async () => {
    const {recording} = stiction;
    const all = await Promise.all(['momentum', 'bilateral', 'cone'].map((law) => recording.series(recording.findSeries(`certificate.${law}`))));
    return {value: recording.extent.worst.value, largest: Math.max(...all.map((one) => one.reduce((a, b) => Math.max(a, b), 0)))};
  });
  assert(value === largest && value > 0, `the worst is ${largest}, the page goes to ${value}`);
  assert((await tab.locator('.badge').getAttribute('class')).includes('good'), 'the badge is not green');
});

claim('names are texts and nothing more', async () => {
  const tab = await shared();
  assert((await tab.locator('h1').textContent()).startsWith('</script><img'), 'the name is not shown as it is');
  await tab.evaluate(() => { stiction.ui.select(2); });
  assert((await tab.locator('.chosen h2').textContent()).includes('<script>'), 'the name of a body is not shown as it is');
  await tab.locator('.add').click();
  await tab.locator('dialog input').fill('script z');
  await tab.locator('dialog .series button').first().click();
  await tab.locator('dialog .primary').click();
  await tab.waitForTimeout(200);
  assert(await tab.evaluate(() => window.hacked) === undefined, 'a name was run');
});

claim('a ghost of the second recording moves along', async () => {
  const tab = await shared();
  await seek(tab, 0.5);
  const other = table(ghost);
  await tab.waitForFunction(() => stiction.ghost.peek('poses', 0) !== undefined);
  await seek(tab, 0.4);
  const at = await tab.evaluate(() => stiction.viewer.ghostBodies.positionOf(1).toArray());
  assertNear(at[0], other.at(200, '<b>ball</b>.x'), 2 ** -23, 'x of the ghost');
});

claim('a million samples are thinned without losing a peak', async () => {
  const tab = await shared();
  const result = await tab.evaluate(async () => {
    const n = 1000000;
    const {recording, ui} = stiction;
    const time = Float64Array.from({length: n}, (_, i) => i * 0.6 / n);
    const values = new Float64Array(n);
    values[765432] = 42;
    recording.time = time;
    recording.columns.set(1, Promise.resolve(values));
    const start = performance.now();
    await ui.charts.add({title: 'peak', kind: 'lines', names: [recording.header.series[1].name]}, true);
    const chart = ui.charts.charts.at(-1);
    return {seconds: (performance.now() - start) / 1000, points: chart.plot.data[0].length, peak: Math.max(...chart.plot.data[1])};
  });
  await tab.close();
  sharedTab = undefined;
  assert(result.peak === 42, `the peak is ${result.peak}`);
  assert(result.points < 4000, `${result.points} points are drawn`);
});

claim('one file shows the same from the disk', async () => {
  run('view', shapes, '--html', file('page.html'));
  const tab = await browser.newPage({viewport: {width: 390, height: 780}});
  tab.setDefaultTimeout(90000);
  const requests = [];
  tab.on('request', (one) => { if (!/^(file|data|blob):/.test(one.url())) requests.push(one.url()); });
  tab.on('pageerror', (error) => problems.push(`error in the page: ${error.message}`));
  await tab.goto(`file://${file('page.html')}`);
  await ready(tab);
  await seek(tab, 0.3);
  const at = await tab.evaluate(() => stiction.viewer.bodies.positionOf(1).toArray());
  assertNear(at[2], numbers.at(150, '<b>ball</b>.z'), 2 ** -23, 'z of the ball');
  assert(requests.length === 0, `it asks for ${requests}`);
  assert(await tab.evaluate(() => window.hacked) === undefined, 'a name was run');
  assert(await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'a phone would have to scroll sideways');
  await tab.close();
});

claim('a damaged file says so', async () => {
  const whole = readFileSync(file('page.html'), 'utf8');
  const mark = whole.indexOf('data-name="0/series/0">') + 60;
  writeFileSync(file('damaged.html'), whole.slice(0, mark) + whole.slice(mark + 40));
  const tab = await browser.newPage();
  await tab.goto(`file://${file('damaged.html')}`);
  await tab.waitForSelector('.failure');
  await tab.close();
});

claim('the woodpecker has a picture, a phase plot and placed contacts', async () => {
  const own = await serve(woodpecker, '--port', '8800');
  const tab = await open(browser, own.address);
  await ready(tab);
  await seek(tab, 0.1);
  const shown = await tab.evaluate(() => ({
    bird: stiction.viewer.bodies.positionOf(stiction.recording.header.frames.findIndex((frame) => frame.name === 'bird')).toArray(),
    kinds: stiction.ui.charts.charts.map((chart) => chart.spec.kind),
    placed: (() => { const c = stiction.recording.peek('contacts', 0); return c && c.position.every(Number.isFinite) && c.position.length > 0; })(),
  }));
  const q = table(woodpecker);
  // The hinge: y + l_M phi_M, as the scene says.
  assertNear(shown.bird[2], q.at(1000, 'y') + 0.01 * q.at(1000, 'phi_M'), 1e-8, 'height of the hinge');
  assert(shown.kinds.includes('phase') && shown.kinds.includes('stack') && shown.kinds.includes('log'), `plots: ${shown.kinds}`);
  assert(shown.placed, 'contacts have no place');
  await tab.close();
  await own.end();
});

claim('without WebGL there are plots and a note', async () => {
  const plain = await launch('--disable-3d-apis');
  const tab = await open(plain, server.address);
  await ready(tab);
  assert((await tab.locator('.side').textContent()).includes('no WebGL'), 'there is no note');
  assert(await tab.locator('.plot .u-over').count() >= 2, 'there are no plots');
  await plain.close();
});

claim('only this machine, under its own names, reading, gets anything', async () => {
  const {host} = new URL(server.address);
  const port = host.split(':')[1];
  const status = async (path, options) => (await ask(server.address, path, options)).status;
  assert(await status('/data/0/header.json') === 200, 'the header is not served');
  assert(await status('/data/0/header.json', {headers: {Host: `localhost:${port}`}}) === 200, 'localhost is refused');
  for (const name of ['evil.example', `evil.example:${port}`, '127.0.0.1', 'localhost:1'])
    assert(await status('/data/0/header.json', {headers: {Host: name}}) === 403, `${name} is answered`);
  for (const path of ['/etc/passwd', '/../../etc/passwd', '/data/../../../etc/passwd', '/data/%2e%2e/%2e%2e/etc/passwd', '/data/0/../../shapes.h5',
                      '/data/2/header.json', '/data/0/series/999999', '/data/0/series/-1', '/data/0/poses/1e3', '/data/0/geometry/0'])
    assert(await status(path) === 404, `${path} is answered`);
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) assert(await status('/data/0/header.json', {method}) === 403, `${method} is answered`);
  const answer = await ask(server.address, '/');
  assert(/script-src 'sha256-/.test(answer.body) && answer.headers['x-content-type-options'] === 'nosniff', 'the page has no policy');
  assert(answer.headers['access-control-allow-origin'] === undefined, 'other pages may read');
});

claim('another address needs a token, and a port in use gives way', async () => {
  const {port} = new URL(server.address);
  const own = await serve(shapes, '--host', '0.0.0.0', '--port', port);
  assert(own.said().includes(`port ${port} is in use`), 'it does not say that the port is in use');
  const local = own.address.replace('0.0.0.0', '127.0.0.1');
  assert((await ask(local, '/data/0/header.json')).status === 403, 'it answers without a token');
  assert((await ask(local, '/data/0/header.json?token=0000')).status === 403, 'it answers to a wrong token');
  const tab = await open(browser, local);
  await ready(tab);
  await tab.close();
  await own.end();
});

claim('a recording that grows is followed', async () => {
  const growing = file('growing.h5');
  const writer = spawn(program, ['run', sceneFile, '--duration', '100000', '--out', growing, '--quiet'], {cwd: work, stdio: 'ignore'});
  try {
    for (let i = 0; i < 200 && !(existsSync(growing) && statSync(growing).size > 300000); ++i) await new Promise((resolve) => setTimeout(resolve, 100));
    const own = await serve(growing, '--port', '8850');
    const tab = await open(browser, own.address);
    await ready(tab);
    const before = await tab.evaluate(() => stiction.recording.rows);
    assert(await tab.locator('.live').isVisible(), 'it does not say that more is to come');
    await tab.waitForFunction((rows) => stiction.recording.rows > rows, before);
    await tab.close();
    await own.end();
  } finally {
    writer.kill('SIGINT');
  }
});

/** Sends a command as the page does, and how the run stands. */
const liveStatus = async (address) => JSON.parse((await ask(address, '/data/live.json')).body);
async function tell(address, command, headers = {}) {
  const {token} = await liveStatus(address);
  return ask(address, '/live', {method: 'POST', body: JSON.stringify(command),
                                headers: {'Content-Type': 'application/json', 'X-Stiction-Command': token, Origin: new URL(address).origin, ...headers}});
}
const failing = (...words) => { try { run(...words); } catch (error) { return error; } throw new Error(`${words[0]} did not fail`); };

claim('a live run is paused, stepped, changed and pulled, and a replay has the same bits', async () => {
  const own = await runLive(sceneFile, '--paused', '--duration', '1000', '--out', file('live.h5'), '--port', '8950');
  const tab = await open(browser, own.address);
  await ready(tab);
  const until = (condition, argument) => tab.waitForFunction(condition, argument);
  const say = async (name, value) => {
    const input = tab.locator(`[data-live="${name}"]`);
    if (await input.evaluate((element) => element.tagName) === 'SELECT') await input.selectOption(value);
    else { await input.fill(value); await input.press('Enter'); await input.blur(); }
  };
  await tab.keyboard.press('p');  // room for the picture
  await tab.locator('.do-step').click();
  await until(() => stiction.live.status.step === 1 && stiction.viewer.row === 1);
  await tab.locator('.do-run').click();
  await until(() => stiction.live.status.step > 30 && stiction.viewer.row > 20);
  await tab.keyboard.press('Space');
  await until(() => stiction.live.status.state === 'paused');
  const {step} = await liveStatus(own.address);
  await new Promise((resolve) => { setTimeout(resolve, 200); });
  assert((await liveStatus(own.address)).step === step, 'a paused run goes on');

  await say('h', '0.001');
  await until(() => stiction.live.status.settings.h === 0.001);
  await tab.keyboard.press('ArrowRight');
  await until((last) => stiction.live.status.step === last + 1 && stiction.recording.rows === last + 2, step);
  const [before, after] = await tab.evaluate(() => [...stiction.recording.time.slice(-2)]);
  assertNear(after - before, 1e-3, 1e-12, 'the step that was asked for');
  await say('h', '-1');
  await tab.waitForSelector('.live-panel .fault:not([hidden])');
  assert((await tab.locator('.live-panel .fault').textContent()).includes('must be'), 'nonsense is not refused');
  await say('scheme', 'stewart-trinkle');
  await say('solver', 'nsgs');
  await say('friction_factor', '0.5');
  await say('gravity z', '-3');
  await until(() => { const s = stiction.live.status.settings; return s.scheme === 'stewart-trinkle' && s.solver === 'nsgs' && s.friction_factor === 0.5 && s.gravity[2] === -3; });
  await say('scheme', 'moreau');
  await say('speed', '0.3');
  await tab.locator('.do-run').click();

  // A body that hangs on nothing is lifted by the mouse.
  const name = '<b>ball</b>';
  const place = () => tab.evaluate((of) => {
    const {viewer, recording} = stiction;
    const frame = recording.header.frames.findIndex((one) => one.name === of);
    const at = viewer.bodies.positionOf(frame);
    const z = at.z;
    const box = viewer.stage.renderer.domElement.getBoundingClientRect();
    at.project(viewer.stage.camera);
    return {z, x: box.left + (at.x + 1) / 2 * box.width, y: box.top + (1 - at.y) / 2 * box.height};
  }, name);
  const start = await place();
  await tab.keyboard.down('Shift');
  await tab.mouse.move(start.x, start.y);
  await tab.mouse.down();
  await tab.mouse.move(start.x, start.y - 30, {steps: 3});
  await tab.mouse.move(start.x, start.y - 60, {steps: 3});
  await until(([of, z]) => {
    const {viewer, recording} = stiction;
    return viewer.bodies.positionOf(recording.header.frames.findIndex((one) => one.name === of)).z > z + 0.1 * viewer.sceneRadius;
  }, [name, start.z]);
  await tab.mouse.up();
  await tab.keyboard.up('Shift');
  await tab.close();
  const later = await liveStatus(own.address);
  await new Promise((resolve) => { setTimeout(resolve, 300); });
  assert((await liveStatus(own.address)).step > later.step, 'the run ended with its page');
  assert(await own.end() === 130, 'an interrupted run does not say so');

  run('run', '--replay', file('live.h5'), '--out', file('replay.h5'), '--quiet');
  table(file('live.h5'));
  table(file('replay.h5'));
  const [once, again] = ['live', 'replay'].map((one) => readFileSync(file(`${one}.h5.csv`), 'utf8'));
  assert(once.split('\n').length > 100 && once === again, 'the replay differs');
  const refused = failing('verify', file('live.h5'));
  assert(refused.status === 2 && refused.stderr.toString().includes('was steered'), `verify says ${refused.stderr}`);
});

claim('a live run that nobody touches is the run without a page', async () => {
  const own = await runLive(sceneFile, '--speed', '0', '--duration', '0.1', '--out', file('quiet.h5'), '--port', '8950');
  while ((await liveStatus(own.address)).state !== 'end') await new Promise((resolve) => { setTimeout(resolve, 50); });
  assert(await own.end() === 0, 'a complete run does not end with 0');
  record(sceneFile, 'plain.h5', '--duration', '0.1');
  table(file('quiet.h5'));
  table(file('plain.h5'));
  assert(readFileSync(file('quiet.h5.csv'), 'utf8') === readFileSync(file('plain.h5.csv'), 'utf8'), 'the two differ');
  run('verify', file('quiet.h5'));
});

claim('a rejected step pauses a live run, is explained, and the run goes on with other settings', async () => {
  const scene = file('edge.json');
  writeFileSync(scene, JSON.stringify({stiction: 1, name: 'edge', simulate: {h: 0.01, duration: 1},
                                       generalized: {parameters: {limit: 0.205}, coordinates: {x: {}}, mass: [[1]], force: {x: 'sqrt(limit - t)'}}}));
  const own = await runLive(scene, '--speed', '0', '--out', file('edge.h5'), '--port', '8955');
  const tab = await open(browser, own.address);
  await tab.waitForSelector('.live-panel .fault:not([hidden])');
  const fault = await tab.locator('.live-panel .fault').textContent();
  assert(fault.includes('not finite'), `the page says ${fault}`);
  const stopped = await liveStatus(own.address);
  assert(stopped.state === 'paused' && stopped.step > 15 && stopped.step < 25, `it is ${stopped.state} at step ${stopped.step}`);
  await tell(own.address, {set: {parameters: {limit: 10}}});
  await tell(own.address, {play: true});
  await tab.waitForFunction(() => stiction.live.status.state === 'end');
  await tab.close();  // it would ask on after the end
  assert(await own.end() === 0, 'a run that got over it does not end with 0');
  run('run', '--replay', file('edge.h5'), '--out', file('edge-again.h5'), '--quiet');
  table(file('edge.h5'));
  table(file('edge-again.h5'));
  assert(readFileSync(file('edge.h5.csv'), 'utf8') === readFileSync(file('edge-again.h5.csv'), 'utf8'), 'the replay differs');
});

claim('commands are taken from the run\'s own page only', async () => {
  const own = await runLive(join(here, '../../examples/woodpecker.json'), '--paused', '--out', file('bird.h5'), '--port', '8960');
  const status = async (command, headers) => (await tell(own.address, command, headers)).status;
  assert(await status({step: 2}) === 200, 'its own page is refused');
  assert(await status({step: 1}, {Origin: 'http://evil.example'}) === 403, 'another page commands');
  assert(await status({step: 1}, {Origin: ''}) === 403, 'a page without origin commands');
  assert(await status({step: 1}, {'X-Stiction-Command': ''}) === 403, 'no token is needed');
  assert(await status({step: 1}, {'X-Stiction-Command': '0'.repeat(32)}) === 403, 'any token will do');
  assert(await status({step: 1}, {Host: 'evil.example:8960', Origin: 'http://evil.example:8960'}) === 403, 'another name commands');
  assert((await ask(own.address, '/live', {method: 'PUT'})).status === 403 && (await ask(own.address, '/live')).status === 404, 'other methods are answered');
  for (const nonsense of [{pull: {body: 0}}, {set: {gravity: [0, 0, 1]}}, {set: {parameters: {nothing: 1}}}, {set: {h: 1e400}}, {step: -1}, {fly: 1}, [], {speed: 'fast'}])
    assert(await status(nonsense) === 400, `${JSON.stringify(nonsense)} is obeyed`);
  assert(await status({set: {parameters: {g: 1.62}}}) === 200, 'a parameter cannot be set');
  for (let i = 0; i < 50 && (await liveStatus(own.address)).step < 2; ++i) await new Promise((resolve) => { setTimeout(resolve, 20); });
  const {step, settings} = await liveStatus(own.address);
  assert(step === 2 && settings.parameters.g === 1.62, `it stands at step ${step}`);
  assert((await ask(server.address, '/live', {method: 'POST', headers: {Origin: new URL(server.address).origin}})).status === 403, 'a recording is commanded');
  await own.end();
});

claim('an ended server is noticed', async () => {
  const own = await serve(shapes, '--port', '8900');
  const tab = await browser.newPage();
  await tab.goto(own.address);
  await ready(tab);
  assert(await own.end() === 0, 'the program does not end with 0');
  const message = await tab.evaluate(() => stiction.recording.series(20).then(() => '', (error) => error.message));
  assert(message.includes('does not answer'), `it says '${message}'`);
  await tab.close();
});

claim('one looks through walls, not through hills', async () => {
  const countSheer = (tab) => tab.evaluate(() =>
    stiction.viewer.bodies.group.children.filter((mesh) => mesh.material.transparent).length);
  assert(await countSheer(await shared()) === 0, 'a closed mesh or a hill is sheer');
  const funnel = record(join(here, '../../examples/funnel.json'), 'funnel.h5', '--duration', '0.01');
  run('view', funnel, '--html', file('funnel.html'));
  const tab = await open(browser, `file://${file('funnel.html')}`);
  await ready(tab);
  assert(await countSheer(tab) === 1, 'the funnel hides its balls');
  await tab.close();
});

claim('what moves slowly in software is drawn coarser, what rests is sharp', async () => {
  const tab = await shared();
  await seek(tab, 0.1);
  const ratios = await tab.evaluate(() => {
    const {stage, sharpness} = stiction.viewer;
    const all = [stage.renderer.getPixelRatio()];
    for (let i = 0; i < 200; ++i) sharpness.noteMotion(0.016);
    all.push(stage.renderer.getPixelRatio());
    for (let i = 0; i < 200; ++i) sharpness.noteMotion(0.05);
    all.push(stage.renderer.getPixelRatio());
    return all;
  });
  assert(ratios[0] === 1 && ratios[1] === 1, `60 frames a second are drawn with ${ratios[1]} pixels per pixel`);
  assertNear(ratios[2], 0.5, 1e-9, 'coarsest ratio');
  await tab.waitForFunction(() => stiction.viewer.stage.renderer.getPixelRatio() === 1);
});

claim('a report has the verdict and the numbers of the recording', async () => {
  run('report', shapes, '--out', file('report.html'));
  const tab = await open(browser, `file://${file('report.html')}`);
  await ready(tab);
  assert((await tab.locator('.verdict').textContent()).startsWith('Every step is within tolerance'), 'no verdict');
  const rows = await tab.evaluate(() => [...document.querySelectorAll('.report-body tr')].map((row) => [...row.cells].map((cell) => cell.textContent)));
  const impact = rows.find((row) => row[0] === 'impact');
  const expected = await tab.evaluate(async () => { const all = await stiction.recording.series(stiction.recording.findSeries('energy.impact')); return all[all.length - 1]; });
  assertNear(Number(impact[1]), expected, 1e-4 * Math.abs(expected), 'work of impacts');
  // The motor carries the wheel: its weight, and nothing else, on the second body of the axle.
  const axle = rows.find((row) => row[0] === 'axle');
  const weight = await tab.evaluate(() => 9.81 * stiction.recording.header.frames.find((frame) => frame.name === 'wheel').mass);
  assertNear(Number(axle[2]), weight, 1e-3 * weight, 'force in the axle');
  assert(await tab.locator('.histogram').count() === 3 && await tab.locator('.report-body .plot').count() >= 3, 'figures are missing');
  assert(await tab.evaluate(() => window.hacked) === undefined, 'a name was run');
  await tab.close();
});

claim('glTF files are valid and move as recorded', async () => {
  const {validateBytes} = (await import('gltf-validator')).default;
  for (const [recording, name] of [[shapes, 'scene.glb'], [woodpecker, 'bird.gltf']]) {
    run('export', recording, '--gltf', file(name));
    const {issues, info} = await validateBytes(new Uint8Array(readFileSync(file(name))));
    assert(issues.numErrors === 0 && issues.numWarnings === 0, JSON.stringify(issues.messages.slice(0, 3)));
    assert(info.animationCount === 1, 'nothing moves');
  }
  const document = JSON.parse(readFileSync(file('bird.gltf'), 'utf8'));
  const data = Buffer.from(document.buffers[0].uri.split(',')[1], 'base64');
  const node = document.nodes.findIndex((one) => one.name === 'bird');
  const channel = document.animations[0].channels.find((one) => one.target.node === node && one.target.path === 'translation');
  const accessor = document.accessors[document.animations[0].samplers[channel.sampler].output];
  const at = document.bufferViews[accessor.bufferView].byteOffset;
  const q = table(woodpecker);
  const last = accessor.count - 1;
  const row = last * Math.floor((q.rows - 1) / (0.3 * 60));
  assertNear(data.readFloatLE(at + 12 * last + 8), q.at(row, 'y') + 0.01 * q.at(row, 'phi_M'), 1e-8, 'height of the hinge');
});

claim('VTK files hold the contacts of their step', async () => {
  run('export', shapes, '--vtk', file('vtk'), '--rate', '10');
  const list = readFileSync(file('vtk/contacts.pvd'), 'utf8').match(/timestep="[^"]*" file="[^"]*"/g);
  assert(list.length === 7, `${list.length} steps are there`);
  const [, time, name] = list[5].match(/timestep="([^"]*)" file="([^"]*)"/);
  assertNear(Number(time), 0.5, 1e-9, 'the time');
  const text = readFileSync(file(`vtk/${name}`), 'utf8');
  const array = (of) => {
    const bytes = Buffer.from(text.match(new RegExp(`Name="${of}"[^>]*>([^<]*)<`))[1], 'base64');
    assert(bytes.readUInt32LE(0) === bytes.length - 4, 'the size in front is wrong');
    return bytes.subarray(4);
  };
  const normal = array('normal impulse');
  let sum = 0;
  for (let i = 0; i < normal.length; i += 12) sum += Math.hypot(normal.readFloatLE(i), normal.readFloatLE(i + 4), normal.readFloatLE(i + 8));
  const tab = await shared();
  const expected = await tab.evaluate(async () => (await stiction.recording.series(stiction.recording.findSeries('contacts.normal impulse')))[250]);
  assertNear(sum, expected, 1e-5 * expected, 'sum of the normal impulses');
  assert(readFileSync(file('vtk/bodies-000005.vtp'), 'utf8').includes('NumberOfPolys'), 'bodies are missing');
});

// --- run

let failures = 0;
for (const {name, test} of claims.filter((one) => one.name.includes(only))) {
  const start = Date.now();
  try {
    await test();
    if (problems.length > 0) throw new Error(problems.splice(0).join('\n'));
    console.log(`ok    ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
  } catch (error) {
    ++failures;
    problems.length = 0;
    for (const context of browser.contexts()) await context.close();
    sharedTab = undefined;
    console.log(`FAILS ${name}: ${error.message.split('\n').slice(0, 6).join('\n  ')}`);
  }
}
await browser.close();
await server.end();
console.log(failures === 0 ? 'all claims hold' : `${failures} claims fail`);
process.exit(failures > 0 ? 1 : 0);
