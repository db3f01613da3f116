// The programme on a screen that nobody touches. What is on follows from the clock and
// from what was read last, so it goes on while the server is away; then it says STALE.
// Whatever comes from outside becomes text, never markup.

const root = document.getElementById('tv');
const at = (name) => document.getElementById(`tv-${name}`);
const { programme, lane: wanted, socket } = root.dataset;
const ofStation = root.dataset.station !== undefined; // the spotlight is of our own programme, and of no station's
const [{ open }, { watch, read, cents, bpsOf, element, write, lasts }, { begins, countdown, ends, lanesOf, onNow }, { player }] = await Promise.all([
  import(root.dataset.library), import(root.dataset.line), import(root.dataset.when), import(root.dataset.player),
]);

const turnEvery = 20000; // how long a lane has the stage
let lanes = [];
let off = false;
let missing = programme ? 0 : Infinity; // when a station was last found not to be there; 0: it is
const missingFor = 60000; // so long it is not asked for again
let spotlight = null;
let fresh = true; // the live feed, or the routes in its place
let told = true; // the last word of the programme was a good one
const prices = new Map(); // by market, in bps
let channels = '';
const screen = player(at('video'), { library: root.dataset.hls, origins: root.dataset.origins.split(' ').filter(Boolean), tell: show });

function setProgramme(p) {
  told = true;
  off = p.enabled === false;
  if (off || !Array.isArray(p.lanes)) return show();
  lanes = lanesOf(p, wanted);
  for (const l of lanes) for (const s of l.segs) if ((!line.online() || !prices.has(s.id)) && bpsOf(s.yesPrice) !== null) prices.set(s.id, bpsOf(s.yesPrice));
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
    told = false;
    show();
    throw err;
  }
}

async function readSpotlight() {
  if (ofStation) return;
  const answer = await read('/api/broadcast/spotlight', 4000);
  spotlight = answer?.spotlight ?? null;
  const url = spotlight?.reason === 'live_operator' ? spotlight.hlsUrl : null;
  screen.play(url);
  another();
  if (spotlight?.marketId && typeof spotlight.yesBps === 'number') prices.set(spotlight.marketId, spotlight.yesBps);
  show();
}

// A stream of another host than the page may load from: the page is made again when the
// server is there to make it, once a minute at most.
async function another() {
  const last = Number(sessionStorage.getItem('recreated') ?? 0);
  if (screen.state() !== 'foreign' || Date.now() - last < 60000) return;
  sessionStorage.setItem('recreated', String(Date.now()));
  const there = await fetch(location.href, { credentials: 'omit', signal: AbortSignal.timeout(4000) });
  if (there.ok) location.reload();
}

let focus = 0;
let turned = Date.now();
let shown = '';

const price = (id) => (prices.has(id) ? cents(prices.get(id)) : '');

const reasons = { live_operator: 'Live', takes: 'Most discussed', wire_move: 'On the move', final_stretch: 'Final stretch', clock: 'On now' };

// stage is what the large part shows: a live operator first, then the lanes in turn, the
// market in the spotlight among them.
function stage(rows, t) {
  if (spotlight?.reason === 'live_operator' && spotlight.hlsUrl && screen.state() !== 'foreign') {
    return { key: `live ${spotlight.showId}`, picture: true, kicker: `Live · @${spotlight.handle} · ${spotlight.viewers ?? 0} watching`, title: spotlight.title ?? '', market: spotlight.marketId };
  }
  const turns = rows.filter((r) => r.now);
  const extra = !wanted && spotlight?.marketId && spotlight.reason !== 'clock' && !turns.some((r) => r.now.id === spotlight.marketId) ? 1 : 0;
  if (turns.length + extra === 0) return null;
  const turn = focus % (turns.length + extra);
  if (turn === turns.length) {
    return { key: `spot ${spotlight.marketId}`, kicker: reasons[spotlight.reason] ?? 'Spotlight', title: spotlight.title ?? '', market: spotlight.marketId };
  }
  const r = turns[turn];
  const count = countdown(r.now, t);
  const bumper = count !== null;
  return {
    key: `${r.key} ${r.now.segmentId}`, lane: r.key, kicker: bumper ? `Next on ${r.label}` : r.label, title: r.now.title.replace(bumper ? /^NEXT · / : /^$/, ''), market: r.now.id,
    count, done: (t - begins(r.now)) / (ends(r.now) - begins(r.now)),
    next: bumper || !r.next ? '' : `Next: ${r.next.title} in ${lasts(begins(r.next) - t)}`,
  };
}

function show() {
  const t = line.now();
  const rows = lanes.map((l) => onNow(l, t));
  const now = stage(rows, t);
  const stale = !fresh || !told;
  at('stale').hidden = !stale;
  write(at('say'), stale ? 'STALE' : 'LIVE');
  root.dataset.state = stale ? 'stale' : 'live';
  at('off').hidden = now !== null;
  write(at('off'), missing ? 'Station not found.' : off ? 'No programme.' : 'Nothing is on right now.');
  at('card').hidden = now === null;
  at('picture').hidden = !now?.picture;
  root.dataset.stage = now?.picture ? 'picture' : 'market';
  root.style.setProperty('--done', `${100 * Math.min(1, Math.max(0, now?.done ?? 0))}%`);
  if (now) {
    write(at('kicker'), now.kicker);
    write(at('title'), now.title);
    write(at('count'), now.count === null || now.count === undefined ? '' : String(now.count));
    at('count').hidden = !now.count;
    at('price').hidden = !prices.has(now.market) || Boolean(now.count);
    write(at('yes'), price(now.market));
    write(at('no'), prices.has(now.market) ? cents(10000 - prices.get(now.market)) : '');
    write(at('next'), now.next ?? '');
    write(at('by'), now.picture && screen.state() !== 'playing' ? 'Video is loading.' : '');
    if (now.key !== shown) {
      shown = now.key;
      at('card').classList.remove('turn');
      void at('card').offsetWidth; // the animation begins anew
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
    write(p, price(r.now?.id));
    write(next, r.next ? `next in ${lasts(begins(r.next) - t)}: ${r.next.title}` : '');
    if (r.key === current) li.setAttribute('aria-current', 'true');
    else li.removeAttribute('aria-current');
  });
}

// follow reads the prices of what is on, in one connection.
function follow(rows, extra) {
  const ids = [...new Set([...rows.map((r) => r.now?.id), extra].filter(Boolean))].slice(0, 45).sort();
  const list = ['program:default', ...ids.map((id) => `market:${id}`)];
  if (list.join(' ') === channels) return;
  channels = list.join(' ');
  line.follow(list);
}

function take(m) {
  if (m.op !== 'snapshot' && m.op !== 'event') return;
  if (m.channel.startsWith('market:') && typeof m.data.yesBps === 'number' && (m.op === 'snapshot' || m.type === 'price.tick')) {
    prices.set(m.channel.slice('market:'.length), m.data.yesBps);
    show();
  }
  if (m.type === 'segment.preempted') quietly(readProgramme);
}

function quietly(ask) {
  ask().catch(() => {});
}

const line = watch({
  open, socket, take, poll: readProgramme, every: 5000, tell(now) {
    fresh = now;
    if (now && !told) quietly(readProgramme);
    show();
  },
});

// The clock goes on whatever happens to the rest.
setInterval(() => {
  write(at('clock'), new Date(line.now()).toLocaleTimeString('en-GB', { timeZone: 'UTC' }) + ' UTC');
  if (Date.now() - turned >= turnEvery) {
    turned = Date.now();
    focus++;
  }
  show();
}, 250);
setInterval(() => quietly(readSpotlight), 5000);
let since = 0;
setInterval(() => {
  if (told && ++since % 10 !== 0) return; // every 20 s, and every 2 s while it is not answered
  quietly(readProgramme);
}, 2000);
quietly(readProgramme);
quietly(readSpotlight);
