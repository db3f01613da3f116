// The overlay of a live operator, shown over the video in a streaming program. If the data may be outdated, it shows STALE.
// External text is always inserted as text, never as HTML.

const root = document.getElementById('overlay');
const at = (name) => document.getElementById(`overlay-${name}`);
const { handle, socket } = root.dataset;
// The libraries and the data are loaded after the first paint.
await new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); });
const [{ open }, { watch, read, latest, cents, bpsOf, sideName, formatDuration, write }] = await Promise.all([import(root.dataset.library), import(root.dataset.connection)]);

// Limits the scale so that the box, which is 26 characters wide plus margins, fits the width of the video.
function fit() {
  document.documentElement.style.fontSize = `${Math.min(16 * Number(root.dataset.scale), Math.max(6, (innerWidth - 96) / 26))}px`;
}

fit();
addEventListener('resize', fit);

let signal = null; // null: the overlay is empty
let price = null; // of YES, in bps
let sides = null; // names of the sides of the market; null: not known, or Yes and No
let outcome = ''; // YES, NO or VOID; empty: not resolved
let disputed = false;
let outcomeEvents = 0; // number of outcome events; a route answer that was requested before one is outdated
let fresh = true;
let flash = 0;

function show() {
  const on = signal !== null;
  at('box').hidden = !on;
  root.dataset.state = !on ? 'none' : fresh ? 'live' : 'stale';
  write(at('status'), !on ? 'No market on the overlay' : fresh ? 'Live' : 'Prices may be outdated');
  at('stale').hidden = fresh;
  if (!on) {
    for (const name of ['name', 'note', 'yes-name', 'yes', 'no-name', 'no', 'clock']) write(at(name), ''); // clear old texts
    return;
  }
  write(at('name'), signal.name ?? '');
  write(at('note'), signal.annotation ?? '');
  at('note').hidden = !signal.annotation;
  at('prices').hidden = root.dataset.hidePrice !== undefined || price === null || Boolean(outcome); // a resolved market has no price
  write(at('yes-name'), sideName(sides, 'YES'));
  write(at('no-name'), sideName(sides, 'NO'));
  write(at('yes'), price === null || outcome ? '' : cents(price));
  write(at('no'), price === null || outcome ? '' : cents(10000 - price));
  at('prices').style.setProperty('--yes-part', `${(price ?? 0) / 100}%`);
  write(at('outcome'), outcomeText());
  at('outcome').hidden = !outcomeText();
  tick();
}

// outcomeText returns the text of the outcome, with its dispute.
function outcomeText() {
  const name = sideName(sides, outcome);
  if (disputed) return name ? `${name}, DISPUTED` : 'DISPUTED';
  return name && outcome !== 'VOID' ? `RESOLVED ${name}` : name;
}

function setOutcome(record) {
  outcome = record?.outcome ?? '';
  if (outcome && outcome !== 'YES' && outcome !== 'NO') outcome = 'VOID';
  disputed = record?.disputed === true;
  show();
}

function tick() {
  const end = Date.parse(signal?.closesAt ?? '');
  const shown = signal !== null && Number.isFinite(end) && !outcome && root.dataset.hideClock === undefined;
  at('clock').hidden = !shown;
  if (shown) write(at('clock'), end > connection.now() ? `ends in ${formatDuration(end - connection.now())}` : 'ended');
}

function setPrice(bps) {
  if (typeof bps !== 'number' || bps === price) return;
  const way = price === null ? '' : bps > price ? 'up' : 'down';
  price = bps;
  show();
  clearTimeout(flash);
  at('prices').dataset.way = way;
  flash = setTimeout(() => delete at('prices').dataset.way, 900);
}

function setSides(names) {
  sides = names ?? null;
  show();
}

const channel = () => `market:${signal.marketId}`;

const newer = latest();

function setSignal(s, message) {
  if (!newer(s, message)) return;
  const before = signal?.marketId;
  signal = s?.marketId ? s : null;
  if (signal?.marketId !== before) {
    price = bpsOf(signal?.yesPct);
    sides = null;
    outcome = '';
    disputed = false;
    outcomeEvents++;
    connection.follow(signal ? [`overlay:${handle}`, channel()] : [`overlay:${handle}`]);
  }
  show();
}

function handleMessage(m) {
  if (m.op !== 'snapshot' && m.op !== 'event') return;
  if (m.channel === `overlay:${handle}`) {
    if (m.op === 'snapshot' && !m.data.marketId && signal) confirm();
    else setSignal(m.data, m);
    return;
  }
  if (!signal || m.channel !== channel()) return; // a message of the previous market
  if (m.op === 'snapshot') setSides(m.data.sides);
  if (m.op === 'snapshot' || m.type === 'price.tick') setPrice(m.data.yesBps);
  if (m.type === 'market.resolved' || m.type === 'market.disputed' || m.type === 'market.dispute_cleared') {
    outcomeEvents++;
    setOutcome(m.data);
  }
  if (m.op === 'snapshot') refreshOutcome(); // the snapshot has no outcome and no dispute
}

async function refreshOutcome() {
  try {
    await readOutcome();
  } catch {
    // Without an answer, no outcome is shown until an event or the next connection.
  }
}

// confirm checks the route before an empty snapshot removes the signal, because no event removed it. If the route fails, the
// signal stays and confirm is repeated.
async function confirm() {
  const asked = signal;
  try {
    setSignal(await read(`/api/streamer/signal?handle=${handle}`));
  } catch {
    setTimeout(() => signal === asked && confirm(), 1000);
  }
}

let polls = 0;

// poll reads the price every time and the signal every second time.
async function poll() {
  if (!signal || polls++ % 2 === 0 || !fresh) setSignal(await read(`/api/streamer/signal?handle=${handle}`));
  if (signal) await readMarket();
}

async function readMarket() {
  const id = signal.marketId;
  const market = await read(`/api/m/${encodeURIComponent(id)}`);
  if (market === null || signal?.marketId !== id) return; // the market is unknown, or the overlay has changed
  setSides(market.sides);
  setPrice(market.yesBps);
  await readOutcome();
}

async function readOutcome() {
  const [id, before] = [signal.marketId, outcomeEvents];
  const answer = await read(`/api/resolution/outcome?market=${encodeURIComponent(id)}`);
  if (signal?.marketId === id && outcomeEvents === before) setOutcome(answer?.outcome);
}

const connection = watch({
  open, socket, onMessage: handleMessage, poll, onFresh(now) {
    fresh = now;
    show();
  },
});
connection.follow([`overlay:${handle}`]);
setInterval(tick, 500);
