// Adds new events to the lists of the pages / and /feed, above those that the server rendered. External text is always inserted as
// text, never as HTML.

const root = document.getElementById('feed');
const at = (name) => document.getElementById(`feed-${name}`);
const list = at('rows');
const maxRows = Number(root.dataset.rows ?? 200); // rows on the page, and events that are not shown yet
const { only } = root.dataset; // event type of the list; undefined: all types

const labels = {
  'signal.created': 'Call', 'signal.event': 'Note', 'signal.resolved': 'Result',
  'market.resolved': 'Resolved', 'market.disputed': 'Disputed', 'market.dispute_cleared': 'Dispute cleared', 'wire.move': 'Price move',
};
const results = { won: 'Won', lost: 'Lost', void: 'Void' };
const notes = { take: 'Take', reaffirm: 'Reaffirmed', confidence: 'Confidence', share: 'Shared' };
const venues = { polymarket: 'Polymarket', kalshi: 'Kalshi', limitless: 'Limitless', manifold: 'Manifold', manual: 'Signalcast' };

const round = (n) => String(Math.round(n * 100) / 100);
const points = (n) => `${n > 0 ? '+' : n < 0 ? '−' : ''}${Math.abs(n)} ${Math.abs(n) === 1 ? 'point' : 'points'}`;
const to = (path, id) => path + encodeURIComponent(id ?? '');

// describe returns the texts of an event. The server formats the first events in the same way.
function describe({ seq, type, at, data }) {
  const row = { seq, type, at, label: labels[type], who: data.handle, title: data.marketTitle ?? (data.marketId ? `Market ${data.marketId}` : ''), url: to('/m/', data.marketId) };
  switch (type) {
    case 'signal.created':
      return { ...row, receipt: to('/receipts/', data.id), fact: `${sideName(data.sides, data.direction)} at ${callPrice(data)}`, text: data.textTake };
    case 'signal.event': {
      const { type: kind, payload } = data.event;
      const fact = payload?.confidence ? `${payload.confidence}% confidence` : '';
      return { ...row, url: to('/receipts/', data.signalId), label: notes[kind] ?? 'Note', fact, text: payload?.text };
    }
    case 'signal.resolved': {
      const score = typeof data.score !== 'number' || data.status === 'void' ? '' : data.counted === false ? ', not counted' : `, ${points(data.score)}`;
      return { ...row, url: to('/receipts/', data.signalId), fact: (results[data.status] ?? 'Open') + score };
    }
    case 'wire.move':
      return {
        ...row, key: data.marketId, at: data.detectedAt, title: data.title, url: to('/m/', data.marketId.split(':').pop()),
        fact: `${sideName({ yes: data.outcome, no: 'No' }, 'YES')} ${round(data.fromProbability * 100)}¢ to ${round(data.toProbability * 100)}¢`, text: venues[data.provider] ?? data.provider,
      };
    default:
      return { ...row, fact: data.outcome === 'INVALID' ? 'Void' : sideName(data.sides, data.outcome) };
  }
}

// write sets the text of an element that not every page has.
function write(name, text) {
  if (at(name)) at(name).textContent = text;
}

function element(name, set, ...children) {
  const e = Object.assign(document.createElement(name), set);
  e.append(...children);
  return e;
}

function build(row) {
  const who = row.who ? [' ', element('a', { href: to('/u/', row.who), textContent: `@${row.who}` })] : [];
  const time = element('time', { dateTime: row.at, textContent: 'just now' });
  time.dataset.ago = ''; // the script of all pages shows the age
  const li = element(
    'li', { className: row.type.replaceAll('.', '-') },
    element('span', { className: 'meta' }, element('span', {}, element('b', { textContent: row.label }), ...who), time),
    element('a', { className: 't', href: row.url, textContent: row.title || row.url }),
  );
  if (row.seq) li.dataset.seq = row.seq;
  if (row.key) li.dataset.key = row.key;
  if (row.receipt) li.append(element('a', { className: 'fact', href: row.receipt, textContent: row.fact }));
  else if (row.fact) li.append(element('span', { className: 'fact', textContent: row.fact }));
  if (row.text) li.append(element('p', { textContent: row.text }));
  return li;
}

// put adds an event on top of the list, once. A movement replaces an older one of the same market.
function put(event) {
  const row = describe(event);
  for (const li of list.children) {
    if (row.seq && li.dataset.seq === String(row.seq)) return;
    if (row.key && li.dataset.key === row.key) {
      li.remove();
      break;
    }
  }
  list.prepend(build(row));
  while (list.children.length > maxRows) list.lastElementChild.remove();
  if (at('none')) at('none').hidden = true;
}

let waiting = []; // events that arrived since the page was opened or the button was pressed
let arrived = 0; // their number, also of those that the queue has dropped

// receive adds an event behind the button, so that the list does not move while it is read.
function receive(event) {
  if (!labels[event.type] || (only && event.type !== only)) return; // unknown type, or not of this list
  arrived++;
  waiting.push(event);
  if (waiting.length > maxRows) waiting.shift();
  at('new').textContent = `Show ${arrived} new ${arrived === 1 ? 'event' : 'events'}`;
  at('new').hidden = false;
}

at('new').addEventListener('click', () => {
  if (arrived > maxRows) list.replaceChildren(); // the queue is incomplete, so start with an empty list
  for (const event of waiting) put(event);
  waiting = [];
  arrived = 0;
  at('new').hidden = true;
  list.querySelector('a')?.focus({ preventScroll: true });
});

function showState(state) {
  const text = {
    connecting: 'Connecting', live: 'Live', closed: 'Closed', hole: 'Loading missed events', repaired: 'Live',
    reconnecting: `Reconnecting in ${Math.max(1, Math.round((state.wait ?? 0) / 1000))} s`,
  };
  write('phase', text[state.phase]);
  root.dataset.phase = state.phase;
}

// The libraries and the data are loaded after the first paint.
await new Promise((done) => {
  setTimeout(done, 1000); // a hidden page does not paint
  new PerformanceObserver(done).observe({ type: 'paint', buffered: true });
});
const [{ open }, { callPrice, sideName }] = await Promise.all([import(root.dataset.library), import(root.dataset.connection)]);
const { socket, channel, head } = root.dataset;
const numbered = channel !== 'wire' && !at('unavailable');
const feed = open({ url: socket, channels: [channel], since: numbered ? { [channel]: Number(head) } : {}, onState: showState });
let heartbeatAt = 0;

setInterval(() => {
  if (heartbeatAt) write('beat', `${Math.round((Date.now() - heartbeatAt) / 1000)} s ago`);
}, 1000);

function handle(m) {
  switch (m.op) {
    case 'beat':
      heartbeatAt = Date.now();
      write('beat', 'just now');
      return;
    case 'snapshot':
      list.replaceChildren();
      for (const item of [...(m.data.items ?? [])].reverse()) put({ type: 'wire.move', at: m.at, data: item });
      return;
    case 'gap':
      write('phase', 'Some events were missed. Reload the page.');
      return;
    case 'event':
      receive(m);
  }
}

for await (const m of feed) {
  try {
    handle(m);
  } catch (err) {
    console.error('event handler failed', m, err); // continue with the next event
  }
}
