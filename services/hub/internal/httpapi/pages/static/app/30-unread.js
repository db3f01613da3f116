// Keeps the number of unread notifications in the header current while the page is visible. The server renders it first.
const bell = document.querySelector('.bell');

const showUnread = (count) => {
  const text = count > 99 ? '99+' : String(count || '');
  const badge = bell.querySelector('b') ?? document.createElement('b');
  if (badge.textContent === text) return;
  badge.textContent = text;
  bell.setAttribute('aria-label', text ? `Notifications, ${text} unread` : 'Notifications');
  if (text) bell.append(badge);
  else badge.remove();
};

const readUnread = async () => {
  if (document.hidden) return;
  try {
    const answer = await fetch('/api/user/notifications?limit=1', { signal: AbortSignal.timeout(5000) });
    if (answer.ok) showUnread((await answer.json()).unread);
  } catch {
    // the next round repeats it
  }
};

if (bell) {
  setInterval(readUnread, 15000);
  document.addEventListener('visibilitychange', readUnread);
}
