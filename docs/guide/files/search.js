// Leaves those sections of the search page that hold every word of the question. Without
// this script the page is the whole list.
const field = document.querySelector('input[name=q]');
const said = document.querySelector('#found');
const rows = [...document.querySelectorAll('#sections li')].map((li) => {
  return { li, words: li.dataset.words, title: li.textContent.toLowerCase() };
});
const list = document.querySelector('#sections');
const whole = said.textContent;

function find() {
  const asked = field.value.toLowerCase().split(/[^\p{L}\p{N}_]+/u).filter(Boolean);
  const hits = rows.filter((row) => asked.every((word) => row.words.includes(word) || row.title.includes(word)));
  // What has the words in its title comes first.
  const named = (row) => asked.every((word) => row.title.includes(word));
  list.replaceChildren(...hits.filter(named).map((r) => r.li), ...hits.filter((r) => !named(r)).map((r) => r.li));
  said.textContent = asked.length === 0 ? whole : `${hits.length} of ${rows.length} sections`;
}

field.value = new URLSearchParams(location.search).get('q') ?? '';
field.addEventListener('input', find);
field.form.addEventListener('submit', (event) => event.preventDefault());
find();
