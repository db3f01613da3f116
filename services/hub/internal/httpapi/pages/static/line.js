// What the live pages have in common: a connection that knows within seconds that the
// server is away, asks the routes meanwhile, and is back a second after the server is.

// How often the server is asked for a word, and how soon it is tried again: at the same
// pace for ever, with just enough chance that many overlays do not come at once.
const pace = { ping: 1200, handshake: 2000, least: 800, most: 1100, refused: 1100, queue: 1000 };
const again = () => 850 + 200 * Math.random();

/** Reads a route; null: there is no such thing. What was answered for want of something better is a failure. */
export async function read(url, within = 800) {
  const answer = await fetch(url, { credentials: 'omit', cache: 'no-store', signal: AbortSignal.timeout(within) });
  if (answer.status === 404) return null;
  if (!answer.ok || answer.headers.get('X-Degraded')) throw new Error(`${url} answers ${answer.status}`);
  return answer.json();
}

/**
 * Follows channels, and asks by poll() while their connection is away. tell(fresh) says
 * whether what is shown is what is so; take(message) gets what comes.
 */
export function watch({ open, socket, take, poll, tell, every = 2000 }) {
  let feed = null;
  let online = false;
  let fresh = null;
  let turn = 0;
  let timer = 0;
  let clock = 0;

  function say(now) {
    if (now === fresh) return;
    fresh = now;
    tell(now);
  }

  async function ask() {
    clearTimeout(timer);
    if (online) return;
    const mine = ++turn;
    let ok = true;
    try {
      await poll();
    } catch {
      ok = false;
    }
    if (mine !== turn || online) return;
    say(ok);
    timer = setTimeout(ask, ok ? every : again());
  }

  function phase({ phase: now }) {
    if (now === 'live') {
      online = true;
      turn++;
      clearTimeout(timer);
      clock = feed.stats().clock;
      say(true);
    } else if (online && (now === 'reconnecting' || now === 'closed')) {
      online = false;
      ask();
    }
  }

  async function listen(mine) {
    try {
      for await (const m of mine) {
        if (mine !== feed) return;
        // The connection stands and the record behind it does not.
        if (m.op === 'error' && m.error === 'db_unavailable') say(false);
        if (m.op === 'snapshot') say(true);
        try {
          take(m);
        } catch (err) {
          console.error('message not shown', m, err); // the next one can
        }
      }
    } catch {
      online = false; // there will be no connection: the routes are left
      ask();
    }
  }

  return {
    /** Follows these channels from now on, and no others. */
    follow(channels) {
      feed?.close();
      online = false;
      clearTimeout(timer);
      timer = setTimeout(ask, feed ? 1500 : 0);
      if (!socket || channels.length === 0) return;
      const mine = open({ url: socket, channels, pace, onState: (s) => mine === feed && phase(s) });
      feed = mine;
      listen(mine);
    },
    /** Whether events come by themselves. */
    online: () => online,
    /** The time of the server, in milliseconds. */
    now: () => Date.now() + clock,
  };
}

/**
 * Returns a function that reports whether a signal is newer than those before: an answer through a cache may arrive after
 * a later one. `message` is the message of the feed that carried the signal. A signal has its own time; for a removed one
 * it is the time of the event.
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

/** A price in bps of what routes give as 0 to 100; null where there is none. */
export const bpsOf = (pct) => (typeof pct === 'number' && pct >= 0 && pct <= 100 ? Math.round(pct * 100) : null);

/** How long something takes, in the two largest units. */
export function lasts(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  const [d, h, m] = [Math.floor(s / 86400), Math.floor(s / 3600) % 24, Math.floor(s / 60) % 60];
  if (d > 0) return `${d} d ${h} h`;
  if (h > 0) return `${h} h ${m} min`;
  return m > 0 ? `${m} min ${s % 60} s` : `${s % 60} s`;
}

/** Makes an element; children that are text stay text. */
export function element(name, set, ...children) {
  const e = Object.assign(document.createElement(name), set);
  e.append(...children);
  return e;
}

/** Writes text where it is another one: a page that is read aloud repeats nothing. */
export function write(e, text) {
  if (e.textContent !== text) e.textContent = text;
}
