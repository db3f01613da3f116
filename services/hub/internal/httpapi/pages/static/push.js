// Turns on notifications on this device after a press. The form is hidden without this script and in browsers without web push.
const form = document.getElementById('push');
const message = document.getElementById('push-message');

// Resolves when a service worker of the registration is active. The page is outside of its scope, so navigator.serviceWorker.ready
// does not resolve.
const activated = (registration) => new Promise((resolve) => {
  const worker = registration.active ?? registration.waiting ?? registration.installing;
  if (worker.state === 'activated') resolve();
  else worker.addEventListener('statechange', () => worker.state === 'activated' && resolve());
});

const subscribe = async () => {
  const registration = await navigator.serviceWorker.register(form.dataset.worker);
  await activated(registration);
  await (await registration.pushManager.getSubscription())?.unsubscribe(); // it can have another key
  return registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: form.dataset.key });
};

if (form && 'PushManager' in window && 'serviceWorker' in navigator) {
  form.hidden = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    try {
      if (await Notification.requestPermission() !== 'granted') {
        message.textContent = 'The browser does not allow notifications of this site. Change its settings and try again.';
        return;
      }
      form.elements.subscription.value = JSON.stringify(await subscribe());
      form.submit();
    } catch {
      message.textContent = 'The browser could not turn on notifications. Try again later.';
    }
  });
}
