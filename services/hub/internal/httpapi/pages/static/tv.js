// The programme for a screen without input. What is on follows from the clock and the last loaded programme, so the page
// continues while the server is unavailable and shows STALE. External text is always inserted as text, never as HTML.

const root = document.getElementById('tv');
const at = (name) => document.getElementById(`tv-${name}`);
const { programme, lane: wanted, socket } = root.dataset;
const ofStation = root.dataset.station !== undefined; // stations have no spotlight
// The libraries and the data are loaded after the first paint.
await new Promise((done) => {
  new PerformanceObserver(done).observe({ type: 'paint', buffered: true });
  setTimeout(done, 1000); // a page in the background is not painted
});
const [{ open }, { watch, read, cents, bpsOf, sideName, element, write, formatDuration }, { begins, countdown, ends, lanesOf, onNow }, { player }] = await Promise.all([
  import(root.dataset.library), import(root.dataset.connection), import(root.dataset.when), import(root.dataset.player),
]);

const stageInterval = 20000; // ms for which a lane is shown on the stage
let lanes = [];
let off = false;
let missing = programme ? 0 : Infinity; // time of the last 404 for a station; 0: the station exists
const missingFor = 60000; // ms before a missing station is requested again
let spotlight = ofStation ? null : undefined; // undefined: not read
let fresh = true; // the feed, or polling in its place, works
let programmeOK = true; // the last read of the programme succeeded
const prices = new Map(); // by market, in bps
const names = new Map(); // names of the sides, by market
let channels = '';
const screen = player(at('video'), { library: root.dataset.hls, origins: root.dataset.origins.split(' ').filter(Boolean), onState: show });

const titleCase = (word) => (word.toLowerCase() === 'tv' ? 'TV' : word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase());

function setProgramme(p) {
  programmeOK = true;
  off = p.enabled === false;
  if (off || !Array.isArray(p.lanes)) return show();
  lanes = lanesOf(p, wanted).map((l) => ({ ...l, label: titleCase(l.label) })); // as on other pages
  for (const s of lanes.flatMap((l) => l.segs)) {
    if ((!connection.online() || !prices.has(s.id)) && bpsOf(s.yesPrice) !== null) prices.set(s.id, bpsOf(s.yesPrice));
    if (!connection.online() || !names.has(s.id)) names.set(s.id, s.sides);
  }
  show();
}

async function readProgramme() {
  if (Date.now() - missing < missingFor) return show();
  try {
    const p = await read(programme, 4000);
    missing = p || !ofStation ? 0 : Date.now();
    if (!p) lanes = [];
    setProgramme(p ?? { enabled: false });
  } catch (err) {
    programmeOK = false;
    show();
    throw err;
  }
}

async function readSpotlight() {
  if (ofStation) return;
  const answer = await read('/api/broadcast/spotlight', 4000).catch((err) => {
    spotlight ??= null;
    throw err;
  });
  spotlight = answer?.spotlight ?? null;
  const url = spotlight?.reason === 'live_operator' ? spotlight.hlsUrl : null;
  screen.play(url);
  reloadForStream();
  if (spotlight?.marketId && typeof spotlight.yesBps === 'number') prices.set(spotlight.marketId, spotlight.yesBps);
  show();
}

// Reloads the page, at most once a minute, if the stream is on a host that its Content-Security-Policy does not allow. The new
// page allows the host.
async function reloadForStream() {
  const last = Number(sessionStorage.getItem('reloadedAt') ?? 0);
  if (screen.state() !== 'blocked' || Date.now() - last < 60000) return;
  sessionStorage.setItem('reloadedAt', String(Date.now()));
  const answer = await fetch(location.href, { credentials: 'omit', signal: AbortSignal.timeout(4000) });
  if (answer.ok) location.reload();
}

let focus = 0;
let rotatedAt = Date.now();
let shown = '';

const price = (id) => (prices.has(id) ? cents(prices.get(id)) : '');
const nameOf = (id, side) => sideName(names.get(id), side);

const reasons = { live_operator: 'Live', takes: 'Most discussed', wire_move: 'Price move', final_stretch: 'Ending soon' };

// stage returns what the large part shows: a live operator first, otherwise the lanes one after another, with the market of the
// spotlight among them.
function stage(rows, t) {
  if (spotlight?.reason === 'live_operator' && spotlight.hlsUrl && screen.state() !== 'blocked') {
    return { key: `live ${spotlight.showId}`, picture: true, kicker: `Live · @${spotlight.handle} · ${spotlight.viewers ?? 0} watching`, title: spotlight.title ?? '', market: spotlight.marketId };
  }
  const candidates = rows.filter((r) => r.now);
  const extra = !wanted && spotlight?.marketId && spotlight.reason !== 'clock' && !candidates.some((r) => r.now.id === spotlight.marketId) ? 1 : 0;
  if (candidates.length + extra === 0) return null;
  const index = focus % (candidates.length + extra);
  if (index === candidates.length) {
    return { key: `spot ${spotlight.marketId}`, kicker: reasons[spotlight.reason] ?? 'Spotlight', title: spotlight.title ?? '', market: spotlight.marketId };
  }
  const r = candidates[index];
  const count = countdown(r.now, t);
  const bumper = count !== null;
  return {
    key: `${r.key} ${r.now.segmentId}`, lane: r.key, kicker: bumper ? `Next on ${r.label}` : r.label, title: r.now.title.replace(bumper ? /^NEXT · / : /^$/, ''), market: r.now.id,
    count, done: (t - begins(r.now)) / (ends(r.now) - begins(r.now)),
    next: bumper || !r.next ? '' : `Next: ${r.next.title} in ${formatDuration(begins(r.next) - t)}`,
  };
}

function show() {
  const t = connection.now();
  const rows = lanes.map((l) => onNow(l, t));
  if (spotlight === undefined && root.dataset.stage === 'picture') return; // the server rendered the live broadcast
  const now = stage(rows, t);
  const stale = !fresh || !programmeOK;
  at('stale').hidden = !stale;
  write(at('status'), stale ? 'Data may be outdated' : 'Live');
  root.dataset.state = stale ? 'stale' : 'live';
  at('off').hidden = now !== null;
  write(at('off'), missing ? 'Station not found.' : off ? 'There is no programme.' : 'Nothing is on right now.');
  at('card').hidden = now === null;
  at('picture').hidden = !now?.picture;
  root.dataset.stage = now?.picture ? 'picture' : 'market';
  root.style.setProperty('--done', `${100 * Math.min(1, Math.max(0, now?.done ?? 0))}%`);
  if (now) {
    write(at('kicker'), now.kicker);
    write(at('title'), now.title);
    if (now.market) at('title').href = `/m/${encodeURIComponent(now.market)}`;
    else at('title').removeAttribute('href');
    if (at('more')) at('more').hidden = at('more').dataset.market !== now.market || Boolean(now.count);
    write(at('count'), now.count === null || now.count === undefined ? '' : String(now.count));
    at('count').hidden = !now.count;
    at('price').hidden = !prices.has(now.market) || Boolean(now.count);
    write(at('yes-name'), nameOf(now.market, 'YES'));
    write(at('no-name'), nameOf(now.market, 'NO'));
    write(at('yes'), price(now.market));
    write(at('no'), prices.has(now.market) ? cents(10000 - prices.get(now.market)) : '');
    write(at('next'), now.next ?? '');
    write(at('by'), now.picture && screen.state() !== 'playing' ? 'Video is loading.' : '');
    if (now.key !== shown) {
      shown = now.key;
      at('card').classList.remove('turn');
      void at('card').offsetWidth; // restart the animation
      at('card').classList.add('turn');
    }
  }
  rail(rows, now?.lane, t);
  follow(rows, now?.market);
}

function rail(rows, current, t) {
  const list = at('lanes');
  while (list.children.length > rows.length) list.lastElementChild.remove();
  rows.forEach((r, i) => {
    const li = list.children[i] ?? list.appendChild(element('li', {}, element('b', {}), element('span', { className: 't' }), element('span', { className: 'p' }), element('span', { className: 'u' })));
    const [label, title, p, next] = li.children;
    write(label, r.label);
    write(title, r.now?.title ?? '');
    const name = nameOf(r.now?.id, 'YES');
    write(p, name === 'YES' || !prices.has(r.now?.id) ? price(r.now?.id) : `${name} ${price(r.now.id)}`);
    write(next, r.next ? `next in ${formatDuration(begins(r.next) - t)}: ${r.next.title}` : '');
    if (r.key === current) li.setAttribute('aria-current', 'true');
    else li.removeAttribute('aria-current');
  });
}

// follow subscribes to the prices of all markets that are on.
function follow(rows, extra) {
  const ids = [...new Set([...rows.map((r) => r.now?.id), extra].filter(Boolean))].slice(0, 45).sort();
  const list = ['program:default', ...ids.map((id) => `market:${id}`)];
  if (list.join(' ') === channels) return;
  channels = list.join(' ');
  connection.follow(list);
}

function handleMessage(m) {
  if (m.op !== 'snapshot' && m.op !== 'event') return;
  if (m.channel.startsWith('market:') && m.op === 'snapshot') names.set(m.channel.slice('market:'.length), m.data.sides);
  if (m.channel.startsWith('market:') && typeof m.data.yesBps === 'number' && (m.op === 'snapshot' || m.type === 'price.tick')) {
    prices.set(m.channel.slice('market:'.length), m.data.yesBps);
    show();
  }
  if (m.type === 'segment.preempted') ignoreErrors(readProgramme);
}

function ignoreErrors(readData) {
  readData().catch(() => {});
}

const connection = watch({
  open, socket, onMessage: handleMessage, poll: readProgramme, every: 5000, onFresh(now) {
    fresh = now;
    if (now && !programmeOK) ignoreErrors(readProgramme);
    show();
  },
});

// turn shows another lane at once. by is 1 for the next lane and -1 for the previous one.
function turn(by) {
  rotatedAt = Date.now();
  focus = Math.max(0, focus + by);
  show();
}

function toggleFullScreen() {
  if (document.fullscreenElement) return document.exitFullscreen();
  return document.documentElement.requestFullscreen().catch(() => {}); // the browser may not allow it
}

const keys = { ArrowRight: () => turn(1), ArrowLeft: () => turn(-1), f: toggleFullScreen };
addEventListener('keydown', (e) => {
  if (!e.ctrlKey && !e.metaKey && !e.altKey) keys[e.key]?.();
});
at('full').disabled = !document.fullscreenEnabled;
at('full').addEventListener('click', toggleFullScreen);

// The clock runs independently of the data.
setInterval(() => {
  write(at('clock'), new Date(connection.now()).toLocaleTimeString('en-GB', { timeZone: 'UTC' }) + ' UTC');
  if (Date.now() - rotatedAt >= stageInterval) {
    rotatedAt = Date.now();
    focus++;
  }
  show();
}, 250);
setInterval(() => ignoreErrors(readSpotlight), 5000);
let since = 0;
setInterval(() => {
  if (programmeOK && ++since % 10 !== 0) return; // every 20 s, and every 2 s after a failure
  ignoreErrors(readProgramme);
}, 2000);
if (root.dataset.stream) screen.play(root.dataset.stream);
ignoreErrors(readProgramme);
ignoreErrors(readSpotlight);
