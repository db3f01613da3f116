// What the checks of every client share: saying what was checked, and the part of
// the person who lets an app.

// need reads what the runner hands over.
export function need(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: go test ./test/clients sets it`);
  return value;
}

// check says whether one thing is so; a miss makes the process fail at its end.
export async function check(what, is) {
  try {
    await is();
    console.log(`ok   ${what}`);
  } catch (err) {
    process.exitCode = 1;
    console.log(`MISS ${what}: ${err?.cause?.message ?? err?.message ?? err}`);
  }
}

export function equal(got, want, what = 'the answer') {
  if (JSON.stringify(got) !== JSON.stringify(want)) {
    throw new Error(`${what} is ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
  }
}

export function truth(ok, what) {
  if (!ok) throw new Error(what);
}

// refused wants a promise to fail in a way that is expected, and gives the error.
export async function refused(promise, expected = () => true) {
  let value;
  try {
    value = await promise;
  } catch (err) {
    if (expected(err)) return err;
    throw new Error(`refused in another way: ${err.code ?? ''} ${err.error ?? ''} ${err.status ?? ''} ${err.message}`);
  }
  throw new Error(`taken: ${JSON.stringify(value)}`);
}

// send makes one JSON request and gives status, headers and body.
export async function send(method, url, { bearer, body, raw, headers = {} } = {}) {
  if (bearer) headers = { ...headers, authorization: `Bearer ${bearer}` };
  if (body !== undefined) raw = JSON.stringify(body);
  if (raw !== undefined) headers = { 'content-type': 'application/json', ...headers };
  const res = await fetch(url, { method, headers, body: raw, redirect: 'manual' });
  const text = await res.text();
  let json = null;
  try {
    json = JSON.parse(text);
  } catch {
    // not every answer is JSON
  }
  return { status: res.status, headers: res.headers, text, body: json };
}

// taken sends and wants a status.
export async function taken(status, ...request) {
  const a = await send(...request);
  truth(a.status === status, `${request[0]} ${request[1]} answered ${a.status} ${a.text.slice(0, 200)}, want ${status}`);
  return a.body;
}

// decide is what a person does in a browser: look at the page, press a button, and
// be led away. It gives the address that the browser is sent to.
export async function decide(authorizeURL, decision = 'approve') {
  const url = new URL(authorizeURL);
  const cookie = need('COOKIE');
  const page = await send('GET', url, { headers: { cookie } });
  truth(page.status === 200, `the page answered ${page.status} ${page.headers.get('location') ?? ''}`);
  const request = /name="request" value="([^"]+)"/.exec(page.text);
  truth(request, 'the page has no form');
  const answer = await send('POST', url.origin + url.pathname, {
    raw: new URLSearchParams({ request: request[1], decision }).toString(),
    headers: { cookie, origin: url.origin, 'content-type': 'application/x-www-form-urlencoded' },
  });
  truth(answer.status === 303, `the decision answered ${answer.status} ${answer.text.slice(0, 200)}`);
  return new URL(answer.headers.get('location'));
}
