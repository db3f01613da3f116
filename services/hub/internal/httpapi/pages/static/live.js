// Updates /live/<handle>: plays the stream, follows the overlay and the calls, and reports this viewer. External text is always
// inserted as text, never as HTML.

const root = document.getElementById('live');
const at = (name) => document.getElementById(`live-${name}`);
const { handle, socket } = root.dataset;
// The libraries and the data are loaded after the first paint.
await new Promise((done) => {
  new PerformanceObserver(done).observe({ type: 'paint', buffered: true });
  setTimeout(done, 1000); // a page in the background is not painted
});
const [{ open }, { watch, read, latest, cents, bpsOf, sideName, formatDuration, element, callItem, fill, sidePrice, write }, { player }] = await Promise.all([
  import(root.dataset.library), import(root.dataset.connection), import(root.dataset.player),
]);

let air = { state: root.dataset.state, hlsUrl: root.dataset.stream || null, viewers: 0, marketId: null, startedAt: root.dataset.started || null, approved: 'approved' in root.dataset, showId: root.dataset.state === 'starting' };
let signal; // null: none; undefined until it is known
const wasLive = root.dataset.state === 'live';
const patience = 5000; // ms
const [shownCalls, shownClips] = [20, 10]; // as on the server
let price = null;
let fresh = true;
let clip = null; // URL of the clip that plays instead of the stream
let market = ''; // market whose price and clips are shown
const names = new Map([[root.dataset.market, { yes: root.dataset.yes, no: root.dataset.no }]]); // names of the sides, by market
const origins = root.dataset.origins.split(' ').filter(Boolean);

const screen = player(at('video'), { library: root.dataset.hls, origins, onState: show });

const stateTexts = {
  idle: ['Offline', 'The broadcast is offline.'],
  ended: ['Ended', 'The broadcast has ended. Its calls stay on the record.'],
  starting: ['Live, no picture yet', 'No picture yet. The video appears here when it arrives.'],
  live: ['Live', ''],
  broken: ['Live, video interrupted', 'The video is interrupted. This page reconnects by itself.'],
};

// Without an approval of the operator, the page shows the broadcast as offline.
function phase() {
  if (!air.approved) return 'idle';
  if (air.state === 'ended') return 'ended';
  if (air.state !== 'live') return air.showId ? 'starting' : 'idle';
  const waits = wasLive && performance.now() < patience; // the page keeps its form while the player loads the first segment
  return { playing: 'live', broken: 'broken', blocked: 'broken' }[screen.state()] ?? (waits ? 'live' : 'starting');
}

const live = () => air.approved && air.state === 'live';

function show() {
  const now = phase();
  root.dataset.state = now;
  const [word, text] = stateTexts[now];
  write(at('state'), word);
  write(at('text'), text);
  at('text').hidden = !text;
  at('stage').hidden = !clip && !live();
  at('viewers').hidden = !live();
  write(at('viewers'), `${air.viewers} watching`);
  at('stale').hidden = fresh;
  at('clip').hidden = !live();
  at('filed').hidden = 'recap' in root.dataset && !live();
  if (air.approved && signal === undefined) return;
  const shown = air.approved && signal !== null;
  at('none').hidden = shown;
  at('signal').hidden = !shown;
  if (!shown) return;
  write(at('name'), signal.name ?? '');
  at('name').href = at('call').href = `/m/${encodeURIComponent(signal.marketId)}`;
  write(at('note'), signal.annotation ?? '');
  write(at('yes-name'), sideName(names.get(signal.marketId), 'YES'));
  write(at('no-name'), sideName(names.get(signal.marketId), 'NO'));
  write(at('yes'), price === null ? '–' : cents(price));
  write(at('no'), price === null ? '–' : cents(10000 - price));
  tick();
}

function tick() {
  const end = Date.parse(signal?.closesAt ?? '');
  write(at('closes'), Number.isFinite(end) ? (end > connection.now() ? `ends in ${formatDuration(end - connection.now())}` : 'ended') : '');
  const began = Date.parse(air.startedAt ?? '');
  write(at('since'), air.state === 'live' && Number.isFinite(began) ? `live for ${formatDuration(connection.now() - began)}` : '');
}

// Reloads the page, at most once a minute, if the stream is on a host that its Content-Security-Policy does not allow. The new
// page allows the host.
function reloadForStream() {
  const last = Number(sessionStorage.getItem('reloadedAt') ?? 0);
  if (screen.state() !== 'blocked' || Date.now() - last < 60000) return;
  sessionStorage.setItem('reloadedAt', String(Date.now()));
  location.reload();
}

setTimeout(show, patience);

const newer = latest();

function setSignal(s, message) {
  if (!newer(s, message)) return;
  const before = signal?.marketId;
  signal = s?.marketId ? s : null;
  if (signal?.marketId !== before) price = bpsOf(signal?.yesPct);
  follow();
  show();
}

function setAir(a) {
  const before = live();
  air = a;
  const began = live() && !before;
  if (!clip) screen.play(live() ? a.hlsUrl : null);
  reloadForStream();
  follow();
  if (began) ignoreErrors(view);
  show();
}

function follow() {
  const now = signal?.marketId ?? air.marketId ?? '';
  if (now === market) return;
  market = now;
  connection.follow(channels());
  ignoreErrors(clips);
}

const channels = () => [`operator:${handle}`, `overlay:${handle}`, ...(market ? [`market:${market}`] : [])];

function handleMessage(m) {
  if (m.op !== 'snapshot' && m.op !== 'event') return;
  if (m.channel === `overlay:${handle}`) {
    if (m.op === 'event' || m.data.marketId || !signal) setSignal(m.data, m);
    else ignoreErrors(poll); // no event has cleared the overlay, so check the route
    return;
  }
  if (m.channel === `market:${market}`) {
    if (m.op === 'snapshot') names.set(market, m.data.sides);
    if (typeof m.data.yesBps === 'number' && (m.op === 'snapshot' || m.type === 'price.tick')) price = m.data.yesBps;
    show();
    if (m.type === 'clip.ready') ignoreErrors(clips);
    return;
  }
  if (m.type === 'operator.live' || m.type === 'operator.offline') ignoreErrors(onAir);
  if (m.type === 'signal.created' || m.type === 'signal.resolved') ignoreErrors(receipts);
  if (m.type === 'clip.ready') ignoreErrors(clips);
}

async function onAir() {
  const a = await read(`/api/streamer/stream/state?handle=${handle}`);
  if (a) setAir(a);
}

async function poll() {
  await onAir();
  setSignal(await read(`/api/streamer/signal?handle=${handle}`));
  if (!market) return;
  const m = await read(`/api/m/${encodeURIComponent(market)}`);
  if (m) names.set(m.marketId, m.sides);
  if (typeof m?.yesBps === 'number') price = m.yesBps;
  show();
}

async function receipts() {
  const list = (await read(`/api/streamer/receipts?handle=${handle}`, 3000))?.receipts ?? [];
  fill(at('calls'), list.slice(0, shownCalls).map((r) => {
    const item = callItem(r);
    if (sidePrice(r) !== null) item.append(element('a', { className: 'button quiet', href: `/m/${encodeURIComponent(r.marketId)}?side=${r.direction}#call`, textContent: 'Call it too' }));
    return item;
  }));
  write(at('no-calls'), 'No calls yet.');
  at('no-calls').hidden = list.length > 0;
}

// While the broadcast is live, the list has the clips of its market. Else it keeps the clips that the server rendered.
async function clips() {
  if (!live()) return;
  const list = market ? (await read(`/api/m/${encodeURIComponent(market)}/clips?limit=${shownClips}`, 3000))?.clips ?? [] : [];
  write(at('clips-h'), 'Clips of this market');
  fill(at('clips'), list.filter((c) => c.url).map((c) => {
    const href = `/clips/${encodeURIComponent(c.id)}`;
    const watch = element('a', { className: 't', href, textContent: `Watch clip${c.durationS ? ` (${c.durationS} s)` : ''}` });
    watch.dataset.video = c.url;
    return element(
      'li', {}, watch, element('span', { className: 'fact', textContent: `Stream of @${c.handle}, clip by @${c.createdBy}` }),
      element('a', { href, textContent: 'Page of the clip' }),
    );
  }));
  write(at('no-clips'), 'No clips yet.');
  at('no-clips').hidden = at('clips').children.length > 0;
}

at('clips').addEventListener('click', (event) => {
  const video = event.target.dataset.video;
  if (!video || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  replay(video);
});

// replay plays a clip instead of the stream, and then the stream again.
function replay(url) {
  clip = url;
  screen.play(url, true);
  show();
  at('video').scrollIntoView({ block: 'center' });
  at('video').onended = () => {
    clip = at('video').onended = null;
    screen.play(live() ? air.hlsUrl : null);
  };
}

const viewer = crypto.getRandomValues(new Uint32Array(4)).join('-');

async function view() {
  if (!live()) return;
  const answer = await fetch(`/api/live/${handle}/view`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ viewerId: viewer }), credentials: 'omit', signal: AbortSignal.timeout(5000),
  });
  if (!answer.ok) return;
  air.viewers = (await answer.json()).viewers;
  show();
}

const clipErrors = {
  not_live: 'The broadcast has no video at present.', clip_cooldown: 'A clip was just created. Wait two minutes.', clip_daily_limit: 'The daily limit of clips is reached.',
  ingest_unavailable: 'This server cannot store clips of this broadcast.', unauthenticated: 'Your session has expired. Sign in again.', rate_limited: 'Too many requests. Wait a moment.',
};

at('cut')?.addEventListener('click', async () => {
  at('cut').disabled = true;
  try {
    const answer = await fetch(`/api/live/${handle}/clip`, {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}', credentials: 'same-origin', signal: AbortSignal.timeout(10000),
    });
    const answerBody = await answer.json();
    write(at('cut-message'), answer.ok ? 'Clip created. It appears in the list of clips when it is ready.' : (clipErrors[answerBody.error] ?? 'Something went wrong. Try again in a minute.'));
    if (answer.ok) setTimeout(() => ignoreErrors(clips), 2000);
  } catch {
    write(at('cut-message'), 'The server does not respond. Try again in a minute.');
  }
  at('cut').disabled = false;
});

// ignoreErrors calls a read whose failure is not shown, because it is repeated.
function ignoreErrors(readData) {
  readData().catch(() => {});
}

const connection = watch({
  open, socket, onMessage: handleMessage, poll, every: 5000, onFresh(now) {
    fresh = now;
    show();
  },
});
connection.follow(channels());
setAir(air);
ignoreErrors(receipts);
setInterval(tick, 1000);
setInterval(() => ignoreErrors(view), 20000);
setInterval(() => ignoreErrors(onAir), 5000);
setInterval(() => ignoreErrors(receipts), 30000);
setInterval(() => ignoreErrors(clips), 30000);
