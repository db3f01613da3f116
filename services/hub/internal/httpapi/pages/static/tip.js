// Shows the button that copies the wallet address. Without it, a click selects the whole address.
const button = document.getElementById('tip-copy');
const message = document.getElementById('tip-message');
if (navigator.clipboard) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(document.getElementById('tip-address').textContent);
      message.textContent = 'Address copied.';
    } catch {
      message.textContent = 'The browser did not allow copying. Select the address instead.';
    }
  });
}
