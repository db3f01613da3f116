// Updates the relative times of a page, and shows each time in the zone of the visitor as its title. The server renders times in UTC. ago returns the same words as format.Ago.
const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
const units = [[86400, 'd'], [3600, 'h'], [60, 'min']];

const ago = (seconds) => {
  const [size, unit] = units.find(([n]) => seconds >= n) ?? [];
  return size ? `${Math.floor(seconds / size)} ${unit} ago` : 'just now';
};

const update = () => {
  for (const time of document.querySelectorAll('time[datetime*="T"]')) {
    const at = new Date(time.dateTime);
    const seconds = (Date.now() - at) / 1000;
    time.title = local.format(at);
    if (time.dataset.ago === undefined) continue;
    const text = seconds < 0 || seconds >= 30 * 86400 ? time.textContent : ago(seconds);
    if (time.textContent !== text) time.textContent = text;
  }
};

update();
setInterval(update, 30000);
new MutationObserver(update).observe(document.body, { childList: true, subtree: true });
