// The live part of /feed: goes on behind the events that the server has put into the
// page. Whatever comes from outside becomes text, never markup.

const root = document.getElementById('feed');
const at = (name) => document.getElementById(`feed-${name}`);
const list = at('rows');
const kept = 200; // rows in the page, and events that wait while it is paused

const words = {
  'signal.created': 'Call', 'signal.event': 'Note', 'signal.resolved': 'Result',
  'market.resolved': 'Resolved', 'market.disputed': 'Disputed', 'market.dispute_cleared': 'Dispute cleared', 'wire.move': 'Move',
};
const results = { won: 'Won', lost: 'Lost', void: 'Void' };
const notes = { take: 'Take', reaffirm: 'Reaffirm', confidence: 'Confidence', share: 'Share' };
const venues = { polymarket: 'Polymarket', kalshi: 'Kalshi', limitless: 'Limitless', manifold: 'Manifold', manual: 'Signalcast' };

const tidy = (n) => String(Math.round(n * 100) / 100);
const signed = (n) => (n > 0 ? `+${n}` : n < 0 ? `−${-n}` : '0');
const to = (path, id) => path + encodeURIComponent(id ?? '');

// describe puts an event into words, as the server does for those before it.
function describe({ seq, type, at, data }) {
  const row = { seq, type, at, word: words[type], who: data.handle, title: data.marketTitle ?? (data.marketId ? `Market ${data.marketId}` : ''), url: to('/m/', data.marketId) };
  switch (type) {
    case 'signal.created':
      return { ...row, receipt: to('/receipts/', data.id), fact: `${data.direction} at ${tidy(data.priceAtPrediction / 100)}¢`, text: data.textTake };
    case 'signal.event': {
      const { type: kind, payload } = data.event;
      const fact = payload?.confidence ? `${payload.confidence}% sure` : '';
      return { ...row, url: to('/receipts/', data.signalId), word: notes[kind] ?? 'Note', fact, text: payload?.text };
    }
    case 'signal.resolved': {
      const score = typeof data.score !== 'number' || data.status === 'void' ? '' : data.counted === false ? ' not counted' : ` ${signed(data.score)}`;
      return { ...row, url: to('/receipts/', data.signalId), fact: (results[data.status] ?? 'Open') + score };
    }
    case 'wire.move':
      return {
        ...row, key: data.marketId, at: data.detectedAt, title: data.title, url: to('/m/', data.marketId.split(':').pop()),
        fact: `${tidy(data.fromProbability * 100)}% to ${tidy(data.toProbability * 100)}%`, text: venues[data.provider] ?? data.provider,
      };
    default:
      return { ...row, fact: data.outcome };
  }
}

function element(name, set, ...children) {
  const e = Object.assign(document.createElement(name), set);
  e.append(...children);
  return e;
}

function build(row) {
  const who = row.who ? [' ', element('a', { href: to('/u/', row.who), textContent: `@${row.who}` })] : [];
  const time = element('time', { dateTime: row.at, textContent: new Date(row.at).toISOString().slice(11, 19) });
  const li = element(
    'li', { className: row.type.replaceAll('.', '-') },
    element('span', { className: 'meta' }, element('span', {}, element('b', { textContent: row.word }), ...who), time),
    element('a', { className: 't', href: row.url, textContent: row.title || row.url }),
  );
  if (row.seq) li.dataset.seq = row.seq;
  if (row.key) li.dataset.key = row.key;
  if (row.receipt) li.append(element('a', { className: 'fact', href: row.receipt, textContent: row.fact }));
  else if (row.fact) li.append(element('span', { className: 'fact', textContent: row.fact }));
  if (row.text) li.append(element('p', { textContent: row.text }));
  return li;
}

// put shows an event on top, once; a move takes the place of the one before it.
function put(event) {
  if (!words[event.type]) return; // a type of a later age
  const row = describe(event);
  for (const li of list.children) {
    if (row.seq && li.dataset.seq === String(row.seq)) return;
    if (row.key && li.dataset.key === row.key) {
      li.remove();
      break;
    }
  }
  list.prepend(build(row));
  while (list.children.length > kept) list.lastElementChild.remove();
  at('none').hidden = true;
}

let paused = false;
let waiting = [];
let passed = 0; // events that came while it was paused

function arrive(event) {
  if (!paused) return put(event);
  passed++;
  waiting.push(event);
  if (waiting.length > kept) waiting.shift();
  at('pause').textContent = `Resume (${passed} new)`;
}

at('pause').addEventListener('click', () => {
  paused = !paused;
  at('pause').textContent = paused ? 'Resume' : 'Pause';
  if (paused) return;
  if (passed > kept) list.replaceChildren(); // the rest of them would be missing between
  for (const event of waiting) put(event);
  waiting = [];
  passed = 0;
});

function say(state) {
  const text = {
    connecting: 'connecting', live: 'live', closed: 'closed', hole: 'gap found, reloading', repaired: 'live, gap filled',
    reconnecting: `reconnecting in ${Math.max(1, Math.round((state.wait ?? 0) / 1000))} s`,
  };
  at('phase').textContent = text[state.phase];
  root.dataset.phase = state.phase;
}

const { open } = await import(root.dataset.library);
const { socket, channel, head } = root.dataset;
const numbered = channel !== 'wire' && !at('away');
const feed = open({ url: socket, channels: [channel], since: numbered ? { [channel]: Number(head) } : {}, onState: say });
let beat = 0;
at('state').hidden = at('pause').hidden = false;

setInterval(() => {
  if (beat) at('beat').textContent = `${Math.round((Date.now() - beat) / 1000)} s ago`;
}, 1000);

function take(m) {
  at('head').textContent = String(feed.stats().head);
  switch (m.op) {
    case 'beat':
      beat = Date.now();
      at('beat').textContent = '0 s ago';
      return;
    case 'snapshot':
      if (paused) return;
      list.replaceChildren();
      for (const item of [...(m.data.items ?? [])].reverse()) put({ type: 'wire.move', at: m.at, data: item });
      return;
    case 'gap':
      at('phase').textContent = 'some events are older than what is kept: load the page again';
      return;
    case 'event': {
      const lag = Date.now() + feed.stats().clock - Date.parse(m.at);
      at('lag').textContent = `${(Math.max(0, lag) / 1000).toFixed(1)} s`;
      arrive(m);
    }
  }
}

for await (const m of feed) {
  try {
    take(m);
  } catch (err) {
    console.error('event not shown', m, err); // the next one can
  }
}
