// Shows the first markets and forecasters while a visitor types into the search field of the header. The key / moves the focus to
// the field, unless the visitor has switched it off in the settings. Without this script, the field is a form that opens the page
// /search.
const field = document.querySelector('.seek input');
const list = document.createElement('ul');
let hits = [];
let selected = -1;
let timer;
let request;

const close = () => {
  list.hidden = true;
  selected = -1;
  field.setAttribute('aria-expanded', 'false');
  field.removeAttribute('aria-activedescendant');
};

const select = (index) => {
  selected = index;
  [...list.children].forEach((row, i) => row.setAttribute('aria-selected', String(i === index)));
  if (index < 0) field.removeAttribute('aria-activedescendant');
  else field.setAttribute('aria-activedescendant', `hit-${index}`);
};

const show = (items) => {
  hits = items;
  list.replaceChildren(...items.map((item, i) => {
    const row = document.createElement('li');
    const title = document.createElement('bdi');
    const note = document.createElement('span');
    title.textContent = item.title;
    note.textContent = item.note;
    row.id = `hit-${i}`;
    row.setAttribute('role', 'option');
    row.append(title, note);
    row.addEventListener('mousedown', (event) => {
      event.preventDefault(); // the field keeps the focus until the page opens
      location.assign(item.url);
    });
    return row;
  }));
  select(-1);
  list.hidden = items.length === 0;
  field.setAttribute('aria-expanded', String(items.length > 0));
};

const suggest = async () => {
  request?.abort();
  const text = field.value.trim();
  if ([...text].length < 2) return close();
  request = new AbortController();
  try {
    const answer = await fetch(`/search/suggest?q=${encodeURIComponent(text)}`, { signal: request.signal });
    if (answer.ok && field.value.trim() === text) show((await answer.json()).items);
  } catch {
    close(); // the form still works
  }
};

const keys = {
  ArrowDown: () => select((selected + 1) % hits.length),
  ArrowUp: () => select((Math.max(selected, 0) + hits.length - 1) % hits.length),
  Escape: close,
  Enter: () => selected >= 0 && location.assign(hits[selected].url),
};

const takesText = (element) => element?.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(element?.tagName);

if (field) {
  list.id = 'hits';
  list.hidden = true;
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', 'Suggestions');
  field.after(list);
  for (const [name, value] of Object.entries({ role: 'combobox', 'aria-expanded': 'false', 'aria-controls': list.id, 'aria-autocomplete': 'list' })) {
    field.setAttribute(name, value);
  }
  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(suggest, 150);
  });
  field.addEventListener('keydown', (event) => {
    if (list.hidden || !keys[event.key] || event.key === 'Enter' && selected < 0) return;
    event.preventDefault();
    keys[event.key]();
  });
  field.addEventListener('blur', close);
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || takesText(document.activeElement)) return;
    if (document.documentElement.dataset.keys === 'off') return; // switched off by the visitor
    if (document.querySelector('video')) return; // the key belongs to the player
    event.preventDefault();
    field.focus();
  });
}

// Escape and a press outside close the menus of the header.
const menus = [...document.querySelectorAll('.bar details')];
document.addEventListener('click', (event) => {
  for (const menu of menus) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  for (const menu of menus) {
    if (menu.open && menu.contains(document.activeElement)) menu.querySelector('summary').focus();
    menu.open = false;
  }
});
