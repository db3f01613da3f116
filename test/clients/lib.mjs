// Helpers that the checks of all clients share: reporting checks, sending requests, and approving or denying an
// authorization request.

// need returns an environment variable that the Go test sets.
export function need(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: go test ./test/clients sets it`);
  return value;
}

// check runs one check and reports its result. After a failed check the process ends with exit code 1.
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
    throw new Error(`${what} is ${JSON.stringify(got)}; want ${JSON.stringify(want)}`);
  }
}

export function assert(ok, what) {
  if (!ok) throw new Error(what);
}

// refused returns the error of a promise that must be rejected with an expected error. It throws if the promise is
// fulfilled.
export async function refused(promise, expected = () => true) {
  let value;
  try {
    value = await promise;
  } catch (err) {
    if (expected(err)) return err;
    throw new Error(`refused with another error: ${err.code ?? ''} ${err.error ?? ''} ${err.status ?? ''} ${err.message}`);
  }
  throw new Error(`not refused: ${JSON.stringify(value)}`);
}

// send sends a request, with a JSON body if one is given, and returns status, headers, text and parsed body.
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

// expectStatus sends a request, requires the status and returns the body.
export async function expectStatus(status, ...request) {
  const a = await send(...request);
  assert(a.status === status, `${request[0]} ${request[1]} was answered ${a.status} ${a.text.slice(0, 200)}; want ${status}`);
  return a.body;
}

// decide acts as a person in a browser: it opens the consent page and submits the decision. It returns the URL to which
// the browser is redirected.
export async function decide(authorizeURL, decision = 'approve') {
  const url = new URL(authorizeURL);
  const cookie = need('COOKIE');
  const page = await send('GET', url, { headers: { cookie } });
  assert(page.status === 200, `the consent page was answered ${page.status} ${page.headers.get('location') ?? ''}`);
  const request = /name="request" value="([^"]+)"/.exec(page.text);
  assert(request, 'the consent page has no form');
  const answer = await send('POST', url.origin + url.pathname, {
    raw: new URLSearchParams({ request: request[1], decision }).toString(),
    headers: { cookie, origin: url.origin, 'content-type': 'application/x-www-form-urlencoded' },
  });
  assert(answer.status === 303, `the decision was answered ${answer.status} ${answer.text.slice(0, 200)}`);
  return new URL(answer.headers.get('location'));
}
