// Shared by the live pages: a feed connection that detects an outage within seconds, polls the HTTP routes meanwhile, and
// reconnects about a second after the server is back.

// Intervals in milliseconds. Retries continue at the same pace without limit; the random part spreads the reconnects of many
// overlays.
const pace = { ping: 1200, handshake: 2000, least: 800, most: 1100, refused: 1100, queue: 1000 };
const retryDelay = () => 850 + 200 * Math.random();

/** Returns the JSON of a route; null for 404. A degraded answer (X-Degraded) throws an error like a failed request. */
export async function read(url, timeout = 800) {
  const answer = await fetch(url, { credentials: 'omit', cache: 'no-store', signal: AbortSignal.timeout(timeout) });
  if (answer.status === 404) return null;
  if (!answer.ok || answer.headers.get('X-Degraded')) throw new Error(`${url} answers ${answer.status}`);
  return answer.json();
}

/**
 * Subscribes to channels of the feed, and calls poll() every `every` ms while there is no connection. onFresh(fresh)
 * receives whether the shown data is current; onMessage(message) receives each message.
 */
export function watch({ open, socket, onMessage, poll, onFresh, every = 2000 }) {
  let feed = null;
  let online = false;
  let fresh = null;
  let attempt = 0; // increases with each poll, so that results of older polls are ignored
  let timer = 0;
  let clock = 0;

  function setFresh(now) {
    if (now === fresh) return;
    fresh = now;
    onFresh(now);
  }

  async function pollNow() {
    clearTimeout(timer);
    if (online) return;
    const current = ++attempt;
    let ok = true;
    try {
      await poll();
    } catch {
      ok = false;
    }
    if (current !== attempt || online) return;
    setFresh(ok);
    timer = setTimeout(pollNow, ok ? every : retryDelay());
  }

  function phase({ phase: now }) {
    if (now === 'live') {
      online = true;
      attempt++;
      clearTimeout(timer);
      clock = feed.stats().clock;
      setFresh(true);
    } else if (online && (now === 'reconnecting' || now === 'closed')) {
      online = false;
      pollNow();
    }
  }

  async function listen(mine) {
    try {
      for await (const m of mine) {
        if (mine !== feed) return;
        // The connection works, but the database of the feed does not.
        if (m.op === 'error' && m.error === 'db_unavailable') setFresh(false);
        if (m.op === 'snapshot') setFresh(true);
        try {
          onMessage(m);
        } catch (err) {
          console.error('message handler failed', m, err); // continue with the next message
        }
      }
    } catch {
      online = false; // the feed is closed for good; only polling is left
      pollNow();
    }
  }

  return {
    /** Replaces the subscribed channels. */
    follow(channels) {
      feed?.close();
      online = false;
      clearTimeout(timer);
      timer = setTimeout(pollNow, feed ? 1500 : 0);
      if (!socket || channels.length === 0) return;
      const mine = open({ url: socket, channels, pace, onState: (s) => mine === feed && phase(s) });
      feed = mine;
      listen(mine);
    },
    /** Reports whether the feed is connected. */
    online: () => online,
    /** Returns the time of the server in milliseconds. */
    now: () => Date.now() + clock,
  };
}

/**
 * Returns a function that reports whether an overlay signal is newer than all earlier ones, because cached answers can
 * arrive out of order. `message` is the feed message with the signal. A removed signal has no time; then the
 * time of the message counts.
 */
export function latest() {
  let newest = '';
  return (s, message) => {
    const at = s?.marketId ? s.updatedAt : message?.op === 'event' ? message.at : '';
    if (!at) return true;
    if (at < newest) return false;
    newest = at;
    return true;
  };
}

export const cents = (bps) => `${String(Math.round(bps) / 100)}¢`;

/** Returns the scoring price of a call, and the stated price if it differs. */
export const callPrice = ({ priceAtPrediction: stated, scoreBasisBps = stated }) =>
  cents(scoreBasisBps) + (scoreBasisBps === stated ? '' : `, stated ${cents(stated)}`);

/** Converts a price from 0 to 100 to bps; null without a valid price. */
export const bpsOf = (pct) => (typeof pct === 'number' && pct >= 0 && pct <= 100 ? Math.round(pct * 100) : null);

/**
 * Returns the name of a side, YES or NO, by the member `sides` of a market: one line of at most 40 characters, without
 * characters that change the text direction. Returns the side itself if the names are absent, not visible, or Yes and No. Any
 * other text is returned unchanged.
 */
export function sideName(sides, side) {
  if (!sides || (/^yes$/i.test(sides.yes) && /^no$/i.test(sides.no))) return side;
  const name = String({ YES: sides.yes, NO: sides.no }[side] ?? '').replace(/(?![\u200c\u200d])\p{Cf}|[\p{Co}\p{Cs}\ufffd]/gu, '').replace(/[\s\p{Cc}]+/gu, ' ').trim();
  const letters = [...name];
  return (letters.length > 40 ? `${letters.slice(0, 39).join('').trimEnd()}…` : name) || side;
}

/** Formats a duration with its two largest units. */
export function formatDuration(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  const [d, h, m] = [Math.floor(s / 86400), Math.floor(s / 3600) % 24, Math.floor(s / 60) % 60];
  if (d > 0) return `${d} d ${h} h`;
  if (h > 0) return `${h} h ${m} min`;
  return m > 0 ? `${m} min ${s % 60} s` : `${s % 60} s`;
}

/** Creates an element. String children become text nodes. */
export function element(name, set, ...children) {
  const e = Object.assign(document.createElement(name), set);
  e.append(...children);
  return e;
}

/** Returns the current price of the side of a call in bps; null if it is unknown or the call is not pending. */
export const sidePrice = ({ direction, yesBps = null }) => (yesBps !== null && direction === 'NO' ? 10000 - yesBps : yesBps);

const results = { pending: 'Open', won: 'Won', lost: 'Lost', void: 'Void' };

/** Shows list items. Only those that differ from the shown ones are replaced, so that the others keep the focus. */
export function fill(list, items) {
  const shown = [...list.children];
  items.forEach((item, i) => {
    if (!shown[i]) list.append(item);
    else if (!item.isEqualNode(shown[i])) shown[i].replaceWith(item);
  });
  shown.slice(items.length).forEach((item) => item.remove());
}

/** Creates the list item of a call of GET /api/streamer/receipts, as in the template of the live page. */
export function callItem(r) {
  const now = sidePrice(r);
  return element(
    'li', { className: r.direction === 'NO' ? 'side-no' : 'side-yes' },
    element('a', { className: 't', href: `/receipts/${encodeURIComponent(r.signalId)}`, textContent: r.marketTitle || r.marketId }),
    element('span', { className: 'fact' }, element('b', { textContent: `${sideName(r.sides, r.direction)} at ${callPrice(r)}` }), ` ${results[r.status] ?? 'Open'}${now === null ? '' : `, now ${cents(now)}`}`),
  );
}

/** Sets the text of an element if it differs, so that screen readers do not repeat unchanged text. */
export function write(e, text) {
  if (e.textContent !== text) e.textContent = text;
}
