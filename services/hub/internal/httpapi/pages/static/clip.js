// Plays the clip of the page /clips/{id} and counts one view when the video starts.

const root = document.getElementById('clip');
// The libraries and the data are loaded after the first paint.
await new Promise((done) => {
  new PerformanceObserver(done).observe({ type: 'paint', buffered: true });
  setTimeout(done, 1000); // a page in the background is not painted
});
const { player } = await import(root.dataset.player);
let counted = false;

function show(state) {
  document.getElementById('clip-text').hidden = state !== 'broken' && state !== 'blocked';
  if (state !== 'playing' || counted) return;
  counted = true;
  fetch(`/api/network/tapes/${root.dataset.id}/view`, { method: 'POST', credentials: 'omit', signal: AbortSignal.timeout(10000) }).catch(() => {});
}

const origins = root.dataset.origins.split(' ').filter(Boolean);
player(document.getElementById('clip-video'), { library: root.dataset.hls, origins, onState: show }).play(root.dataset.stream, true);
