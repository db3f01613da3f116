// A strict JSON parser: it refuses texts that JSON.parse accepts silently.

const token = /[\s]*(?:("(?:[^"\\]|\\.)*")|([{}[\],:])|([^\s{}[\],:"]+))/gy;

// tokens yields the tokens of a text that JSON.parse has accepted.
function* tokens(text) {
  token.lastIndex = 0;
  for (let m; (m = token.exec(text)); ) yield { string: m[1], sign: m[2] };
}

// duplicates reports whether an object of the text contains a member twice, in any spelling of its name.
function duplicates(text) {
  const open = []; // one element per open value: a Set for an object, null for an array
  let last; // the last string, which is a name if a colon follows
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

// sound reports whether all strings are well-formed and all numbers finite.
function sound(value) {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value === 'number') return Number.isFinite(value);
  if (value === null || typeof value !== 'object') return true;
  return Object.entries(value).every(([name, v]) => name.isWellFormed() && sound(v));
}

// read returns the value of a UTF-8 text, or undefined if the text is refused.
export function read(bytes, maxDepth) {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value = JSON.parse(text);
    return !duplicates(text) && depth(value) <= maxDepth && sound(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
