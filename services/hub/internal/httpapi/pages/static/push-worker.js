// Service worker that shows the messages of web push. A repeated message replaces the earlier one.
self.addEventListener('push', (event) => {
  const { id, title, text, url } = event.data.json();
  event.waitUntil(self.registration.showNotification(title, { body: text, tag: id, data: url, icon: '/favicon.ico' }));
});

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(self.clients.openWindow(event.notification.data));
});
