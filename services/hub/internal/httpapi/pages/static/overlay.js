// The overlay: what an operator has on the air, over a picture of somebody else's. It
// shows what the server says and nothing when there is nothing; what it cannot be sure of
// any more it calls STALE. Whatever comes from outside becomes text, never markup.

const root = document.getElementById('overlay');
const at = (name) => document.getElementById(`overlay-${name}`);
const { handle, socket } = root.dataset;
const [{ open }, { watch, read, latest, cents, bpsOf, lasts, write }] = await Promise.all([import(root.dataset.library), import(root.dataset.line)]);

// No scale makes it wider than the picture: the box is 26 letters wide, beside its margins.
function fit() {
  document.documentElement.style.fontSize = `${Math.min(16 * Number(root.dataset.scale), Math.max(6, (innerWidth - 96) / 26))}px`;
}

fit();
addEventListener('resize', fit);

let signal = null; // null: nothing is on the air
let price = null; // of YES, in bps
let outcome = ''; // YES, NO or VOID; empty: nothing is claimed
let disputed = false; // the outcome, or what it will be, is under review
let heard = 0; // words on the outcome; what a route answers behind one is older
let fresh = true;
let flash = 0;

function show() {
  const on = signal !== null;
  at('box').hidden = !on;
  root.dataset.state = !on ? 'none' : fresh ? 'live' : 'stale';
  write(at('say'), !on ? 'NO SIGNAL' : fresh ? 'LIVE' : 'STALE');
  at('stale').hidden = fresh;
  if (!on) {
    for (const name of ['name', 'note', 'yes', 'no', 'clock']) write(at(name), ''); // nothing of before stays
    return;
  }
  write(at('name'), signal.name ?? '');
  write(at('note'), signal.annotation ?? '');
  at('note').hidden = !signal.annotation;
  at('prices').hidden = root.dataset.hidePrice !== undefined || price === null || Boolean(outcome); // behind the outcome there is no price
  write(at('yes'), price === null || outcome ? '' : cents(price));
  write(at('no'), price === null || outcome ? '' : cents(10000 - price));
  at('prices').style.setProperty('--yes-part', `${(price ?? 0) / 100}%`);
  write(at('outcome'), verdict());
  at('outcome').hidden = !verdict();
  tick();
}

// verdict says of the outcome what is so: one that is disputed is no fact.
function verdict() {
  if (disputed) return outcome ? `${outcome}, DISPUTED` : 'DISPUTED';
  return outcome && outcome !== 'VOID' ? `RESOLVED ${outcome}` : outcome;
}

function settle(record) {
  outcome = record?.outcome ?? '';
  if (outcome && outcome !== 'YES' && outcome !== 'NO') outcome = 'VOID';
  disputed = record?.disputed === true;
  show();
}

function tick() {
  const end = Date.parse(signal?.closesAt ?? '');
  const shown = signal !== null && Number.isFinite(end) && !outcome && root.dataset.hideClock === undefined;
  at('clock').hidden = !shown;
  if (shown) write(at('clock'), end > line.now() ? `closes in ${lasts(end - line.now())}` : 'closed');
}

function priced(bps) {
  if (typeof bps !== 'number' || bps === price) return;
  const way = price === null ? '' : bps > price ? 'up' : 'down';
  price = bps;
  show();
  clearTimeout(flash);
  at('prices').dataset.way = way;
  flash = setTimeout(() => delete at('prices').dataset.way, 900);
}

const channel = () => `market:${signal.marketId}`;

const newer = latest();

function setSignal(s, message) {
  if (!newer(s, message)) return;
  const before = signal?.marketId;
  signal = s?.marketId ? s : null;
  if (signal?.marketId !== before) {
    price = bpsOf(signal?.yesPct);
    outcome = '';
    disputed = false;
    heard++;
    line.follow(signal ? [`overlay:${handle}`, channel()] : [`overlay:${handle}`]);
  }
  show();
}

function take(m) {
  if (m.op !== 'snapshot' && m.op !== 'event') return;
  if (m.channel === `overlay:${handle}`) {
    if (m.op === 'snapshot' && !m.data.marketId && signal) confirm();
    else setSignal(m.data, m);
    return;
  }
  if (!signal || m.channel !== channel()) return; // of a market of before
  if (m.op === 'snapshot' || m.type === 'price.tick') priced(m.data.yesBps);
  if (m.type === 'market.resolved' || m.type === 'market.disputed' || m.type === 'market.dispute_cleared') {
    heard++;
    settle(m.data);
  }
  if (m.op === 'snapshot') judged(); // it says no outcome, and one that is open may be disputed
}

async function judged() {
  try {
    await readOutcome();
  } catch {
    // Without it nothing is claimed; the event says it, or the next connection.
  }
}

// confirm asks the route before it removes a signal that no event removed. While the route does not answer, the signal
// stays and the route is asked again.
async function confirm() {
  const asked = signal;
  try {
    setSignal(await read(`/api/streamer/signal?handle=${handle}`));
  } catch {
    setTimeout(() => signal === asked && confirm(), 1000);
  }
}

let turns = 0;

// poll asks the routes: for the price every time, for what is on the air less often.
async function poll() {
  if (!signal || turns++ % 2 === 0 || !fresh) setSignal(await read(`/api/streamer/signal?handle=${handle}`));
  if (signal) await readMarket();
}

async function readMarket() {
  const id = signal.marketId;
  const market = await read(`/api/m/${encodeURIComponent(id)}`);
  if (market === null || signal?.marketId !== id) return; // one that nobody prices
  priced(market.yesBps);
  await readOutcome();
}

async function readOutcome() {
  const [id, before] = [signal.marketId, heard];
  const answer = await read(`/api/resolution/outcome?market=${encodeURIComponent(id)}`);
  if (signal?.marketId === id && heard === before) settle(answer?.outcome);
}

const line = watch({
  open, socket, take, poll, tell(now) {
    fresh = now;
    show();
  },
});
line.follow([`overlay:${handle}`]);
setInterval(tick, 500);
