// Scales a chosen picture of the profile form to a JPEG of 192 by 192 pixels. It is sent in a field of the form, which has at most
// 16 KiB. Without this script, the form has only the address of a picture.
const upload = document.getElementById('upload');
const pictureBytes = 7500;

// Resolves to a JPEG of the canvas with at most pictureBytes.
const encoded = async (canvas) => {
  for (let quality = 0.9; ; quality -= 0.1) {
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, 'image/jpeg', quality));
    if (blob.size <= pictureBytes || quality < 0.2) return blob;
  }
};

const choose = async (file, canvas, field) => {
  const image = await createImageBitmap(file);
  const side = Math.min(image.width, image.height);
  const context = canvas.getContext('2d');
  context.fillStyle = '#fff'; // below transparent parts
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingQuality = 'high';
  context.drawImage(image, (image.width - side) / 2, (image.height - side) / 2, side, side, 0, 0, canvas.width, canvas.height);
  const bytes = new Uint8Array(await (await encoded(canvas)).arrayBuffer());
  field.value = btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  canvas.hidden = false;
};

if (upload) {
  const [input, canvas, message] = ['input', 'canvas', 'p'].map((name) => upload.querySelector(name));
  const field = input.form.elements.picture;
  upload.hidden = false;
  input.addEventListener('change', async () => {
    field.value = '';
    canvas.hidden = true;
    message.textContent = '';
    if (!input.files[0]) return;
    try {
      await choose(input.files[0], canvas, field);
      message.textContent = 'Save the profile to use this picture.';
    } catch {
      message.textContent = 'This file is not a picture that the browser can read. Choose another one.';
    }
  });
}
