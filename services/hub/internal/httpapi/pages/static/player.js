// Plays the HLS stream of an address: by the browser where it can, by the library
// otherwise. A stream that is not there yet, breaks off or ends is tried again for ever.

const wait = 3000;
const patience = 8000; // with a picture that stands still

/**
 * A player of a video element. library is the address of the library, origins those that
 * the page may load from; tell gets 'idle', 'starting', 'playing', 'broken', or 'foreign'
 * for an address that the page may not load.
 */
export function player(video, { library, origins, tell }) {
  let address = '';
  let state = 'idle';
  let played = false;
  let once = false; // a recording: its end is its end
  let over = false; // the stream ended, and its playlist may still say so
  let engine = null; // of the library
  let native = video.canPlayType('application/vnd.apple.mpegurl') !== '';
  let timer = 0;
  let turn = 0;

  function say(now) {
    if (now === state) return;
    state = now;
    tell(now);
  }

  function clear() {
    turn++;
    clearTimeout(timer);
    engine?.destroy();
    engine = null;
    if (video.hasAttribute('src')) {
      video.removeAttribute('src');
      video.load();
    }
  }

  function fail() {
    say(played ? 'broken' : 'starting');
    clear();
    timer = setTimeout(begin, wait);
  }

  async function begin() {
    const mine = ++turn;
    if (native) {
      const still = over && await hasEnded(address);
      if (mine !== turn) return;
      if (still) return fail();
      video.src = address;
    } else {
      const { default: Hls } = await import(library);
      if (mine !== turn) return;
      if (!Hls.isSupported()) return say('broken');
      engine = new Hls({ enableWorker: false, liveSyncDurationCount: 2, backBufferLength: 30, startPosition: -1 });
      engine.on(Hls.Events.ERROR, (_, e) => {
        if (e.fatal && mine === turn) fail();
      });
      // What has ended and was seen is not played again: an encoder that comes back writes on.
      engine.on(Hls.Events.LEVEL_LOADED, (_, e) => {
        if (over && !e.details.live && mine === turn) setTimeout(() => mine === turn && fail());
      });
      engine.loadSource(address);
      engine.attachMedia(video);
    }
    video.play().catch(() => {}); // whoever forbids it has a button
  }

  let place = 0;
  let moved = 0;

  video.addEventListener('playing', () => {
    played = true;
    over = false;
    moved = Date.now();
    say('playing');
  });
  // Players go on trying in silence; who watches sees a picture that stands still.
  setInterval(() => {
    if (state !== 'playing' || video.paused || video.currentTime !== place) {
      place = video.currentTime;
      moved = Date.now();
    } else if (Date.now() - moved > patience) {
      fail();
    }
  }, 1000);
  video.addEventListener('ended', () => {
    if (!address || once) return;
    over = true;
    fail();
  });
  video.addEventListener('error', () => {
    if (!native || !address || !video.hasAttribute('src')) return;
    if (!played) native = !('MediaSource' in window); // it said that it can, and cannot
    fail();
  });

  return {
    /** Plays a stream, or a recording, which is played once; null: nothing. */
    play(url, recording = false) {
      if (url === address) return;
      address = url ?? '';
      once = recording;
      played = over = false;
      clear();
      if (!address) return say('idle');
      const origin = originOf(address);
      if (origin !== location.origin && !origins.includes(origin)) return say('foreign');
      say('starting');
      begin();
    },
    state: () => state,
  };
}

/** Whether a playlist says that nothing follows; false where that cannot be read. */
async function hasEnded(address) {
  try {
    const answer = await fetch(address, { credentials: 'omit', cache: 'no-store', signal: AbortSignal.timeout(wait) });
    return (await answer.text()).includes('#EXT-X-ENDLIST');
  } catch {
    return false;
  }
}

function originOf(address) {
  try {
    return new URL(address, location.href).origin;
  } catch {
    return '';
  }
}
