// Scales a chosen picture of the profile form to a JPEG of 192 by 192 pixels. It is sent in a field of the form, which has at most
// 16 KiB. Without this script, the form has only the address of a picture.
const upload = document.getElementById('upload');
const pictureBytes = 7000;

// Resolves to a JPEG of the canvas with at most pictureBytes.
const encode = async (canvas) => {
  for (let quality = 0.9; ; quality -= 0.1) {
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, 'image/jpeg', quality));
    if (blob.size <= pictureBytes || quality < 0.2) return blob;
  }
};

// Draws the middle square of a file on a canvas. Resolves to the JPEG in base64url.
const scale = async (file, canvas) => {
  const image = await createImageBitmap(file);
  const side = Math.min(image.width, image.height);
  const context = canvas.getContext('2d');
  context.fillStyle = '#fff'; // below transparent parts
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingQuality = 'high';
  context.drawImage(image, (image.width - side) / 2, (image.height - side) / 2, side, side, 0, 0, canvas.width, canvas.height);
  const bytes = new Uint8Array(await (await encode(canvas)).arrayBuffer());
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
};

if (upload) {
  const [input, preview, message] = ['input', 'canvas', 'p'].map((name) => upload.querySelector(name));
  const field = input.form.elements.picture; // a checkbox, with which a person can drop the picture
  const choose = (picture) => {
    field.value = picture;
    field.checked = picture !== '';
    document.getElementById('chosen').hidden = !picture;
  };
  upload.hidden = false;
  input.addEventListener('change', async () => {
    choose('');
    preview.hidden = true;
    message.textContent = '';
    const file = input.files[0];
    if (!file) return;
    const canvas = preview.cloneNode(); // of this file: another one can be chosen before the first is scaled
    const picture = await scale(file, canvas).catch(() => '');
    if (input.files[0] !== file) return;
    choose(picture);
    if (!picture) {
      input.value = ''; // the form saves no picture, so it must not show the name of the file
      message.textContent = 'This file is not a picture that the browser can read. Choose another one.';
      return;
    }
    preview.getContext('2d').drawImage(canvas, 0, 0);
    preview.hidden = false;
    message.textContent = 'Save the profile to use this picture.';
  });
}
