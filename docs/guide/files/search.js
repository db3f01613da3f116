// Shows the sections of the search page that contain every word of the query. Without this script the page lists all sections.
const field = document.querySelector('input[name=q]');
const statusLine = document.querySelector('#found');
const rows = [...document.querySelectorAll('#sections li')].map((li) => {
  return { li, words: li.dataset.words, title: li.textContent.toLowerCase() };
});
const list = document.querySelector('#sections');
const statusWithoutQuery = statusLine.textContent;

function find() {
  const query = field.value.toLowerCase().split(/[^\p{L}\p{N}_]+/u).filter(Boolean);
  const hits = rows.filter((row) => query.every((word) => row.words.includes(word) || row.title.includes(word)));
  // Sections with the words in their title are first.
  const inTitle = (row) => query.every((word) => row.title.includes(word));
  list.replaceChildren(...hits.filter(inTitle).map((r) => r.li), ...hits.filter((r) => !inTitle(r)).map((r) => r.li));
  statusLine.textContent = query.length === 0 ? statusWithoutQuery : `${hits.length} of ${rows.length} sections`;
}

field.value = new URLSearchParams(location.search).get('q') ?? '';
field.addEventListener('input', find);
field.form.addEventListener('submit', (event) => event.preventDefault());
find();
