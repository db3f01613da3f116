// The studio, where an operator controls a broadcast. It uses only public API routes, with the session of the browser. External
// text is always inserted as text, never as HTML.

const root = document.getElementById('studio');
const at = (name) => document.getElementById(name);
const { handle } = root.dataset;
// The libraries and the data are loaded after the first paint.
await new Promise((done) => {
  new PerformanceObserver(done).observe({ type: 'paint', buffered: true });
  setTimeout(done, 1000); // a page in the background is not painted
});
for (const frame of document.querySelectorAll('iframe[data-src]')) frame.src = frame.dataset.src;
const { formatDuration, element, callItem, fill, write } = await import(root.dataset.connection);

let me = { status: 'none', live: false, stream: null, signal: { marketId: null } };
let live = false; // this page sends the heartbeats
let began = null;
let beat = 0;
let every = 15000;
let sent = Promise.resolve(); // the heartbeats, one after the other
let asking = false; // a heartbeat is being sent
let turns = 0; // an answer that was requested before the last turn may be outdated

const errorTexts = {
  invalid_name: 'Enter an overlay title of 1 to 200 characters.', missing_name: 'Enter an overlay title of 1 to 200 characters.',
  invalid_annotation: 'Enter a note of at most 180 characters on one line.', missing_market_id: 'Choose a market first.',
  market_not_found: 'This market does not exist. Choose another one.',
  missing_url: 'Enter the URL of an .m3u8 playlist.', invalid_url: 'Enter an https URL of an .m3u8 playlist on an allowed host.',
  invalid_label: 'Enter a label of at most 80 characters on one line.',
  not_approved: 'An administrator has suspended your broadcasts.',
  forbidden: 'This request was not sent from this site. Reload the page and try again.',
  not_live: 'The broadcast has no video at present. Go live and send video to your stream.',
  ingest_unavailable: 'This server cannot store clips of this broadcast.', clip_cooldown: 'A clip was just created. Wait two minutes.',
  clip_daily_limit: 'The daily limit of clips is reached.', unauthenticated: 'Your session has expired. Sign in again.', rate_limited: 'Too many requests. Wait a moment.',
};

// call sends a request of the signed-in operator. If it fails, call shows the error and returns null.
async function call(method, path, body) {
  try {
    const response = await fetch(path, {
      method, credentials: 'same-origin', signal: AbortSignal.timeout(10000),
      ...(body === undefined ? {} : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    if (response.ok) return answer;
    showMessage(errorTexts[answer.error] ?? 'Something went wrong. Try again in a minute.');
  } catch {
    showMessage('The server does not respond. Try again in a minute.');
  }
  return null;
}

function showMessage(text) {
  write(at('studio-message'), text);
  at('studio-message').hidden = !text;
}

function show() {
  at('go-live').hidden = live;
  at('go-live').disabled = me.status !== 'approved';
  at('go-off').hidden = !live;
  at('cut').disabled = !me.live;
  const s = me.signal;
  write(at('signal-now'), s?.marketId ? `On your overlay: ${s.name}` : 'No market on your overlay.');
  refresh();
}

// refresh replaces the state and the steps with those of a new version of this page.
async function refresh() {
  try {
    const answer = await fetch('/studio', { credentials: 'same-origin', signal: AbortSignal.timeout(10000) });
    if (!answer.ok || answer.redirected) return;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const { status } = page.getElementById('studio').dataset;
    if (!status) return; // the state is unavailable
    if (status !== root.dataset.status) return location.assign('/studio'); // other panels are shown now
    write(at('studio-state'), page.getElementById('studio-state').textContent);
    root.dataset.state = live ? 'live' : me.status;
    at('studio-steps').replaceChildren(...page.getElementById('studio-steps').children);
    if (me.live && me.stream && !(await hasVideo(me.stream.hlsUrl))) showMissingVideo();
  } catch {
    // The next refresh shows the state.
  }
}

// hasVideo reports whether the playlist of the stream exists. It returns true for a host from which this page may not load video.
async function hasVideo(url) {
  if (!root.dataset.origins.split(' ').includes(new URL(url).origin)) return true;
  try {
    return (await fetch(url, { credentials: 'omit', cache: 'no-store', signal: AbortSignal.timeout(5000) })).ok;
  } catch {
    return false;
  }
}

function showMissingVideo() {
  const step = at('studio-steps').children[1];
  step.className = '';
  write(step.querySelector('b'), '');
  write(step.querySelector('.soft'), 'You are live, but no video arrives. Viewers see “No picture yet”. Start the stream in your encoder.');
  write(at('studio-state'), 'Live, no picture yet');
}

async function readMe() {
  const before = turns;
  const answer = await call('GET', '/api/streamer/me');
  if (answer === null || before !== turns) return;
  me = answer;
  if (me.showId && !live) return resume();
  show();
}

// resume continues the heartbeats of a broadcast that was started before this page was loaded.
function resume() {
  live = true;
  began ??= Date.now();
  heartbeat();
  show();
}

function heartbeat(state = 'live') {
  sent = sent.then(() => send(state));
  return sent;
}

async function send(state) {
  const answer = await call('POST', '/api/streamer/heartbeat', { state, ...(me.signal?.marketId ? { marketId: me.signal.marketId } : {}) });
  if (answer === null) return false;
  beat = Date.now();
  every = 1000 * (answer.intervalS || 15);
  if (typeof answer.viewers === 'number') write(at('studio-viewers'), String(answer.viewers));
  return true;
}

at('go-live').addEventListener('click', async () => {
  showMessage('');
  if (!(await heartbeat())) return;
  live = true;
  began = Date.now();
  await readMe();
  receipts();
});

at('go-off').addEventListener('click', async () => {
  showMessage('');
  asking = true; // no other heartbeat may start the broadcast again
  if (await heartbeat('offline')) {
    live = false;
    began = null;
    me = { ...me, live: false, showId: null };
  }
  turns++;
  asking = false;
  show();
});

for (const button of navigator.clipboard ? root.querySelectorAll('[data-copy]') : []) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(at(button.dataset.copy).textContent);
      showMessage('Copied.');
    } catch {
      showMessage('The browser did not allow copying. Select the text instead.');
    }
  });
}

const signalSeconds = 2; // length of the picture of the test signal
const signalLength = 150; // number of pictures

// sendTestSignal sends colour bars to the stream as an encoder would, until the signal ends or stopped returns true. It reports
// whether the server accepted all of it.
async function sendTestSignal(video, to, stopped) {
  const send = async (url, type, body) => (await fetch(url, { method: 'PUT', headers: { 'Content-Type': type }, body, signal: AbortSignal.timeout(10000) })).ok;
  const picture = await (await fetch(video)).blob();
  const first = Math.floor(Date.now() / 1000 / signalSeconds);
  const names = [];
  for (let n = first; n < first + signalLength && !stopped(); n++) {
    names.push(`test${n}.ts`);
    if (names.length > 5) names.shift();
    const list = ['#EXTM3U', '#EXT-X-VERSION:3', `#EXT-X-TARGETDURATION:${signalSeconds}`, `#EXT-X-MEDIA-SEQUENCE:${n - names.length + 1}`];
    for (const name of names) list.push('#EXT-X-DISCONTINUITY', `#EXTINF:${signalSeconds},`, name);
    const accepted = await send(to.replace(/[^/]*$/, names.at(-1)), 'video/mp2t', picture) && await send(to, 'application/vnd.apple.mpegurl', `${list.join('\n')}\n`);
    if (!accepted) return false;
    await new Promise((next) => setTimeout(next, (n + 1) * signalSeconds * 1000 - Date.now()));
  }
  return true;
}

const testSignal = at('test-signal');
if (testSignal && [location.origin, ...root.dataset.origins.split(' ')].includes(new URL(at('ingest-push').textContent).origin)) {
  let sending = false;
  testSignal.hidden = false;
  testSignal.addEventListener('click', async () => {
    if (sending) {
      sending = false;
      return;
    }
    sending = true;
    write(testSignal, 'Stop test signal');
    showMessage('The test signal is on. Go live to see it on your live page.');
    const sent = await sendTestSignal(testSignal.dataset.video, at('ingest-push').textContent, () => !sending).catch(() => false);
    sending = false;
    write(testSignal, 'Send test signal');
    showMessage(sent ? 'The test signal has ended.' : 'The server did not accept the test signal. Create a new stream key.');
  });
}

function onSubmit(id, act) {
  at(id).addEventListener('submit', async (e) => {
    e.preventDefault();
    showMessage('');
    await act(Object.fromEntries(new FormData(at(id))));
  });
}

onSubmit('find-form', async (f) => {
  const answer = await call('GET', `/search/suggest?q=${encodeURIComponent(f.q)}`);
  if (!answer) return;
  const markets = answer.items.filter((i) => i.kind === 'market');
  at('found').replaceChildren(...markets.map((m) => element(
    'li', {}, element('span', { className: 't', textContent: m.title }), element('span', { className: 'fact', textContent: m.note }),
    element('button', { type: 'button', className: 'quiet', textContent: 'Show on overlay', onclick: () => choose(m) }),
  )));
  at('found-none').hidden = markets.length > 0;
});

async function choose({ title, url }) {
  showMessage('');
  const id = url.slice('/m/'.length);
  const market = await call('GET', `/api/m/${id}`);
  if (!market || !(await setSignal({ marketId: decodeURIComponent(id), name: title.slice(0, 200), ...(market.closesAt ? { closesAt: market.closesAt } : {}) }))) return;
  at('signal-name').value = me.signal.name;
  at('signal-note').value = '';
  at('found').replaceChildren();
}

async function setSignal(signal) {
  const answer = await call('POST', '/api/streamer/signal', signal);
  if (!answer) return false;
  me.signal = answer.signal;
  show();
  return true;
}

onSubmit('signal-form', async (f) => {
  const { marketId, closesAt } = me.signal ?? {};
  if (!marketId) return showMessage('Choose a market first.');
  await setSignal({ marketId, name: f.name, ...(f.annotation ? { annotation: f.annotation } : {}), ...(closesAt ? { closesAt } : {}) });
});

at('signal-clear').addEventListener('click', async () => {
  showMessage('');
  if (await call('DELETE', '/api/streamer/signal')) me.signal = { marketId: null };
  show();
});

// market returns the market that a stream is bound to: that of the overlay.
function market() {
  const id = me.signal?.marketId;
  if (!id) showMessage('Choose a market first.');
  return id;
}

onSubmit('bind-form', async (f) => {
  const id = market();
  if (!id) return;
  const answer = await call('POST', `/api/m/${encodeURIComponent(id)}/streams`, { url: f.url, ...(f.label ? { label: f.label } : {}) });
  if (!answer) return;
  if (live) await heartbeat(); // the heartbeat adds the stream to the live session
  await readMe();
  showMessage('Stream connected.');
});

at('bind-drop').addEventListener('click', async () => {
  const id = market();
  if (!id) return;
  const answer = await call('DELETE', `/api/m/${encodeURIComponent(id)}/streams`);
  if (answer) showMessage(answer.removed ? 'Stream disconnected.' : 'No stream was connected to this market.');
});

at('cut').addEventListener('click', async () => {
  showMessage('');
  if (await call('POST', `/api/live/${handle}/clip`, {})) showMessage('Clip created. It appears on your live page when it is ready.');
});

async function receipts() {
  const answer = await call('GET', `/api/streamer/receipts?handle=${handle}`);
  if (!answer) return;
  if (answer.startedAt && !answer.endedAt && (live || me.live)) began = Date.parse(answer.startedAt);
  fill(at('studio-calls'), answer.receipts.map(callItem));
  at('studio-no-calls').hidden = answer.receipts.length > 0;
}

setInterval(async () => {
  write(at('studio-since'), began && (live || me.live) ? formatDuration(Date.now() - began) : '–');
  write(at('studio-beat'), beat ? `${Math.round((Date.now() - beat) / 1000)} s ago` : '–');
  if (!live || asking || Date.now() - beat < every) return;
  asking = true;
  await heartbeat();
  asking = false;
}, 1000);
setInterval(() => live && receipts(), 20000);
setInterval(readMe, 10000);
for (const fields of root.querySelectorAll('form > fieldset')) fields.disabled = false; // the script now handles all forms
await readMe();
await receipts();
