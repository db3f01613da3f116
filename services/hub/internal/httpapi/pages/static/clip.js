// Plays the clip of the page /clips/{id} and counts one view when the video starts.

const root = document.getElementById('clip');
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
