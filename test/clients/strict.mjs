// A strict reader of JSON: what JSON.parse takes silently is refused here.

const token = /[\s]*(?:("(?:[^"\\]|\\.)*")|([{}[\],:])|([^\s{}[\],:"]+))/gy;

// tokens cuts a text that JSON.parse has taken.
function* tokens(text) {
  token.lastIndex = 0;
  for (let m; (m = token.exec(text)); ) yield { string: m[1], sign: m[2] };
}

// duplicates tells whether an object has a member twice, in any spelling.
function duplicates(text) {
  const open = []; // a Set for an object, null for an array
  let last; // a string that may turn out to be a name
  for (const { string, sign } of tokens(text)) {
    if (sign === '{') open.push(new Set());
    else if (sign === '[') open.push(null);
    else if (sign === '}' || sign === ']') open.pop();
    else if (sign === ':') {
      const names = open.at(-1);
      const name = JSON.parse(last);
      if (names.has(name)) return true;
      names.add(name);
    }
    last = string;
  }
  return false;
}

function depth(value) {
  if (value === null || typeof value !== 'object') return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depth));
}

// sound tells whether every text is well formed and every number finite.
function sound(value) {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value === 'number') return Number.isFinite(value);
  if (value === null || typeof value !== 'object') return true;
  return Object.entries(value).every(([name, v]) => name.isWellFormed() && sound(v));
}

// read gives the value of a text in UTF-8, or undefined.
export function read(bytes, maxDepth) {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value = JSON.parse(text);
    return !duplicates(text) && depth(value) <= maxDepth && sound(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
