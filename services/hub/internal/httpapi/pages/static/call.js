// Enhances the forms that file, update and share calls. Without it, they work as well.

const refresh = 5000; // milliseconds between two reads of the prices

const create = (tag, properties) => Object.assign(document.createElement(tag), properties);

// The answer to a refused form has the address of the form. The address of its page lets Back and Reload work.
for (const end of ['/call', '/events']) {
  if (location.pathname.endsWith(end)) history.replaceState(null, '', location.pathname.slice(0, -end.length));
}

// Counts the characters that are left in a text field.
for (const field of document.querySelectorAll('textarea[maxlength]')) {
  const left = field.insertAdjacentElement('afterend', create('small', { className: 'none' }));
  const count = () => { left.textContent = `${field.maxLength - field.value.length} characters left`; };
  field.addEventListener('input', count);
  count();
}

// Adds a slider to a confidence field. An empty field means no confidence.
for (const field of document.querySelectorAll('input[name="confidence"]')) {
  const label = document.querySelector(`label[for="${field.id}"]`).textContent;
  const slider = field.insertAdjacentElement('afterend', create('input', { type: 'range', min: 1, max: 100, value: field.value || 50, ariaLabel: label }));
  slider.addEventListener('input', () => { field.value = slider.value; });
  field.addEventListener('input', () => { slider.value = field.value || 50; });
}

// Disables the buttons of a form after the first press. The value of the pressed button is read before.
for (const form of document.querySelectorAll('form[method="post"]')) {
  const disable = (disabled) => { for (const button of form.querySelectorAll('button')) button.disabled = disabled; };
  form.addEventListener('submit', (event) => setTimeout(() => disable(!event.defaultPrevented)));
  addEventListener('pageshow', () => disable(false));
}

// Adds buttons that copy the texts of the share panel.
const message = document.getElementById('share-message');
for (const field of message && navigator.clipboard ? document.querySelectorAll('.share [readonly]') : []) {
  const copy = field.insertAdjacentElement('afterend', create('button', { type: 'button', className: 'quiet', textContent: 'Copy' }));
  copy.ariaLabel = `Copy ${document.querySelector(`label[for="${field.id}"]`).textContent.toLowerCase()}`;
  copy.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(field.value);
      message.textContent = 'Copied.';
    } catch {
      message.textContent = 'The browser did not allow copying. Select the text instead.';
    }
  });
}

// Updates the prices and the points at stake. The form sends the prices that it shows.
const form = document.querySelector('form[data-market]');
const pointsOf = (n) => `${n > 0 ? '+' : n < 0 ? '−' : ''}${Math.abs(n)} ${Math.abs(n) === 1 ? 'point' : 'points'}`;
const stakeOf = (bps, { name, other, capped }) => {
  const won = pointsOf(Math.floor((10000 - bps) / 100));
  const lost = pointsOf(-Math.ceil(bps / 100));
  return capped === undefined ? `If ${name}: ${won}. If ${other}: ${lost}.` : `If ${name}: at most ${won}. If ${other}: ${lost} or lower.`;
};

async function update() {
  if (document.hidden) return;
  const response = await fetch(`/api/markets?ids=${encodeURIComponent(form.dataset.market)}`, { credentials: 'omit', cache: 'no-store' });
  if (!response.ok || response.headers.get('X-Degraded')) return;
  const [market] = (await response.json()).markets;
  if (!Number.isInteger(market?.yesBps)) return;
  const middle = [market.yesBps, 10000 - market.yesBps];
  document.querySelectorAll('.m-price .side-box b').forEach((box, i) => { box.textContent = `${String(middle[i] / 100)}¢`; });
  const prices = [market.yesPriceBps ?? middle[0], market.noPriceBps ?? middle[1]];
  const shown = prices.join(',');
  if (form.elements.price.value === shown) return;
  form.elements.price.value = shown;
  form.querySelectorAll('.choice').forEach((choice, i) => {
    choice.querySelector('b').textContent = `${String(prices[i] / 100)}¢`;
    const stake = choice.querySelector('small');
    if (choice.dataset.other) stake.textContent = stakeOf(prices[i], choice.dataset);
    const button = form.querySelector('.row button');
    if (button.textContent.startsWith('Call at') && choice.querySelector('input').checked) button.textContent = `Call at ${String(prices[i] / 100)}¢`;
  });
}

if (form) setInterval(() => update().catch(() => {}), refresh);
