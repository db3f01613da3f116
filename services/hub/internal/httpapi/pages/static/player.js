// Plays an HLS stream, natively or with the hls.js library. A stream that is missing, fails or ends is retried without limit.

const retryDelay = 3000;
const stallTimeout = 8000; // after this time without progress, the stream is loaded again

/**
 * Creates a player for a video element. library is the URL of hls.js; origins are the origins that the page may load
 * from. onState receives 'idle', 'starting', 'playing', 'broken', or 'blocked' for a URL of another origin.
 */
export function player(video, { library, origins, onState }) {
  let address = '';
  let state = 'idle';
  let played = false;
  let isRecording = false; // a recording is played once
  let ended = false; // the stream has ended; its playlist may still have the end marker
  let hls = null; // instance of hls.js
  let native = video.canPlayType('application/vnd.apple.mpegurl') !== '';
  let timer = 0;
  let attempt = 0; // increases with each start, so that callbacks of older attempts are ignored

  function setState(now) {
    if (now === state) return;
    state = now;
    onState(now);
  }

  function clear() {
    attempt++;
    clearTimeout(timer);
    hls?.destroy();
    hls = null;
    if (video.hasAttribute('src')) {
      video.removeAttribute('src');
      video.load();
    }
  }

  function fail() {
    setState(played ? 'broken' : 'starting');
    clear();
    timer = setTimeout(start, retryDelay);
  }

  async function start() {
    const current = ++attempt;
    if (native) {
      const stillEnded = ended && await hasEnded(address);
      if (current !== attempt) return;
      if (stillEnded) return fail();
      video.src = address;
    } else {
      const { default: Hls } = await import(library);
      if (current !== attempt) return;
      if (!Hls.isSupported()) return setState('broken');
      hls = new Hls({ enableWorker: false, liveSyncDurationCount: 2, backBufferLength: 30, startPosition: -1 });
      hls.on(Hls.Events.ERROR, (_, e) => {
        if (e.fatal && current === attempt) fail();
      });
      // Do not replay an ended stream. When the encoder returns, the playlist continues.
      hls.on(Hls.Events.LEVEL_LOADED, (_, e) => {
        if (ended && !e.details.live && current === attempt) setTimeout(() => current === attempt && fail());
      });
      hls.loadSource(address);
      hls.attachMedia(video);
    }
    video.play().catch(() => {}); // if autoplay is blocked, the viewer can use the controls
  }

  let position = 0;
  let progressAt = 0;

  video.addEventListener('playing', () => {
    played = true;
    ended = false;
    progressAt = Date.now();
    setState('playing');
  });
  // A stalled player reports no error, so progress is checked.
  setInterval(() => {
    if (state !== 'playing' || video.paused || video.currentTime !== position) {
      position = video.currentTime;
      progressAt = Date.now();
    } else if (Date.now() - progressAt > stallTimeout) {
      fail();
    }
  }, 1000);
  video.addEventListener('ended', () => {
    if (!address || isRecording) return;
    ended = true;
    fail();
  });
  video.addEventListener('error', () => {
    if (!native || !address || !video.hasAttribute('src')) return;
    if (!played) native = !('MediaSource' in window); // canPlayType was wrong
    fail();
  });

  return {
    /** Plays a stream, or a recording once. A null URL stops the player. */
    play(url, recording = false) {
      if (url === address) return;
      address = url ?? '';
      isRecording = recording;
      played = ended = false;
      clear();
      if (!address) return setState('idle');
      const origin = originOf(address);
      if (origin !== location.origin && !origins.includes(origin)) return setState('blocked');
      setState('starting');
      start();
    },
    state: () => state,
  };
}

/** Reports whether a playlist has the end marker; false if it cannot be read. */
async function hasEnded(address) {
  try {
    const answer = await fetch(address, { credentials: 'omit', cache: 'no-store', signal: AbortSignal.timeout(retryDelay) });
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
