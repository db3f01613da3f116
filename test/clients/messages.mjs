// Checks signed messages of an application: the proof of possession of a key, messages of every type, and refusals of
// messages with errors.
import * as oauth from 'oauth4webapi';
import { check, decide, equal, need, expectStatus, send, assert } from './lib.mjs';
import { authentic, covered, messagePrefix, newKey, newNonce, sign, signerPrefix } from './signed.mjs';

const issuer = need('ISSUER');
const [market, other, third] = need('MARKETS').split(',');
const scopes = [
  'profile:update', 'station:create', 'station:update', 'broadcast:create', 'broadcast:goLive',
  'signal:create', 'prediction:create', 'market:create', 'resolution:create',
];
const redirect = 'http://127.0.0.1:8422/callback';

// token returns an access token after a person has approved the application.
async function token() {
  const client = { client_id: need('PUBLIC_APP') };
  const verifier = oauth.generateRandomCodeVerifier();
  const to = await decide(`${need('HUB')}/protocol/authorize?` + new URLSearchParams({
    response_type: 'code', client_id: client.client_id, redirect_uri: redirect, scope: ['signer:create', ...scopes].join(' '),
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
  }));
  return expectStatus(200, 'POST', `${issuer}/oauth/token`, { body: {
    grantType: 'authorization_code', code: to.searchParams.get('code'), codeVerifier: verifier, clientId: client.client_id, redirectUri: redirect,
  } });
}

const { accessToken: bearer, denpaId } = await token();
const appId = need('PUBLIC_APP');
const key = await newKey();
const challengeOf = (publicKey) => expectStatus(200, 'POST', `${issuer}/signers/challenge`, { bearer, body: { publicKey } });

// registration returns the body that registers a key, with the proof of possession.
async function registration(key, { prefix = signerPrefix, by = key } = {}) {
  const { challenge } = await challengeOf(key.publicKey);
  const proved = { appId, challenge, denpaId, expiresAt: null, publicKey: key.publicKey, scopes };
  return { publicKey: key.publicKey, scopes, label: 'noble', challenge, proof: await sign(by, { prefix, issuer }, proved) };
}

await check('a signer is registered with a proof over a challenge', async () => {
  const body = await registration(key);
  const signer = await expectStatus(201, 'POST', `${issuer}/signers`, { bearer, body });
  equal([signer.publicKey, signer.denpaId, signer.appId, signer.scopes, signer.status], [key.publicKey, denpaId, appId, scopes, 'active']);
  equal((await expectStatus(400, 'POST', `${issuer}/signers`, { bearer, body })).error, 'challenge_expired', 'the challenge a second time');
});
await check('a proof by another key, or under the prefix of messages, is refused', async () => {
  for (const how of [{ by: await newKey() }, { prefix: messagePrefix }]) {
    const body = await registration(await newKey(), how);
    equal((await expectStatus(400, 'POST', `${issuer}/signers`, { bearer, body })).error, 'invalid_proof');
  }
});

// message returns a signed message. changes replace members before it is signed.
async function message(type, payload, changes = {}, { prefix = messagePrefix, at = issuer, by = key } = {}) {
  const m = {
    version: 1, type, denpaId, appId, timestamp: Date.now(), nonce: newNonce(), payload,
    signer: { kind: 'ed25519', publicKey: key.publicKey }, ...changes,
  };
  return { ...m, signature: await sign(by, { prefix, issuer: at }, m) };
}
const post = (body) => send('POST', `${issuer}/messages`, { body });
const accepted = async (m) => {
  const a = await post(m);
  assert(a.status === 201, `${a.status} ${a.text}`);
  equal(a.body.message, Object.fromEntries(Object.entries(a.body.message).sort()), 'the stored message');
  equal(a.body.uri, `denpa:${denpaId}/${m.type}/${a.body.id}`);
  return a.body;
};
const refusal = async (raw) => {
  const a = await send('POST', `${issuer}/messages`, { raw: typeof raw === 'string' ? raw : JSON.stringify(raw) });
  return [a.status, a.body.error, a.body.reason ?? null];
};

const station = 'st-' + newNonce().slice(0, 12);
const year = new Date().getUTCFullYear() + 1;
let made; // id of the market that market.create creates
let desk; // id of the broadcast that broadcast.create announces
for (const [type, payload] of Object.entries({
  'profile.update': { displayName: 'Nöble — 力', bio: 'Signs with \u{1F511}', links: ['https://noble.example/a?b=c'] },
  'station.create': { stationId: station, name: 'Noble', url: 'https://noble.example', lanes: ['SCIENCE'] },
  'station.update': { stationId: station, description: 'Under the bridge' },
  'broadcast.create': { title: 'The evening gauge', lane: 'SCIENCE', stationId: station },
  'broadcast.goLive': () => ({ broadcastId: desk, url: 'https://noble.example/live.m3u8' }),
  'signal.create': { marketId: market, position: 'YES', priceBps: 4100, confidence: 70, take: 'Line one\nline two' },
  'prediction.create': { eventId: other, signal: 'NO', priceBps: 5900 },
  'market.create': { question: `Will gauge ${newNonce()} read above 6 m?`, cutoffAt: `${year}-06-01T00:00:00.000Z`, lane: 'SCIENCE' },
  'resolution.create': () => ({ marketId: made, verdict: 'YES', reason: 'peak 6.2 m' }),
})) {
  await check(`${type} is accepted`, async () => {
    const m = await message(type, typeof payload === 'function' ? payload() : payload);
    const { id, message: stored, result } = await accepted(m);
    if (type === 'market.create') made = result.marketId;
    if (type === 'broadcast.create') desk = result.broadcastId;
    const fetched = await expectStatus(200, 'GET', `${issuer}/messages/${id}`);
    equal(fetched.message, stored);
    assert(await authentic(fetched.message, covered({ prefix: messagePrefix, issuer }, fetched.message).data), 'the stored message does not verify');
    equal([fetched.message.payload, fetched.message.signature], [stored.payload, m.signature]);
  });
}

const turned = (m) => Object.fromEntries(Object.entries(m).reverse());
const call = (changes, how) => message('signal.create', { marketId: third, position: 'YES', priceBps: 4100 }, changes, how);
await check('a repeated message gets 200 and has no effect, in any order of members', async () => {
  const m = turned(await call());
  const { id, result } = await accepted(m);
  for (const again of [m, turned(m)]) {
    const a = await post(again);
    equal([a.status, a.body.replayed, a.body.id, a.body.result], [200, true, id, result]);
  }
});
await check('another message with a used nonce is refused', async () => {
  const first = await message('profile.update', { bio: 'one' });
  await accepted(first);
  equal(await refusal(await message('profile.update', { bio: 'two' }, { nonce: first.nonce })), [409, 'nonce_reused', 'nonce_reused']);
});

const update = (changes, how) => message('profile.update', { bio: 'never' }, changes, how);
const unsigned = [401, 'unauthenticated', 'bad_signature'];
await check('a message that was changed after signing is refused', async () => {
  equal(await refusal({ ...(await update()), payload: { bio: 'other' } }), unsigned);
  const m = await update();
  equal(await refusal({ ...m, timestamp: m.timestamp - 1 }), unsigned);
});
await check('another prefix is refused', async () => equal(await refusal(await update({}, { prefix: signerPrefix })), unsigned));
await check('a message for another issuer is refused', async () =>
  equal(await refusal(await update({}, { at: 'https://other.example/api/protocol/v1' })), unsigned));
await check('a signature by another key is refused', async () => equal(await refusal(await update({}, { by: await newKey() })), unsigned));
await check('an unregistered signer is refused', async () => {
  const by = await newKey();
  equal(await refusal(await update({ signer: { kind: 'ed25519', publicKey: by.publicKey } }, { by })), [401, 'unauthenticated', 'unknown_signer']);
});

const window = [400, 'invalid_request', 'timestamp_out_of_window'];
await check('an old message is refused', async () => equal(await refusal(await update({ timestamp: Date.now() - 310_000 })), window));
await check('a message with a future time is refused', async () => equal(await refusal(await update({ timestamp: Date.now() + 70_000 })), window));
await check('seconds in place of milliseconds are refused', async () => equal(await refusal(await update({ timestamp: Math.floor(Date.now() / 1000) })), window));
await check('a short nonce is refused', async () => equal(await refusal(await update({ nonce: 'a'.repeat(15) })), [400, 'invalid_request', 'schema']));

const unknown = [400, 'invalid_request', 'unknown_member'];
await check('a repeated member is refused', async () => {
  const raw = JSON.stringify(await update());
  equal(await refusal(raw.replace('{', '{"version":1,')), [400, 'invalid_request', 'not_canonicalizable']);
});
await check('a member name in another case is refused', async () => {
  const m = await update();
  equal(await refusal({ ...m, Type: m.type }), unknown);
});
await check('an additional member is refused, signed or not', async () => {
  equal(await refusal({ ...(await update()), note: 1 }), unknown);
  equal(await refusal(await update({ note: 1 })), unknown);
});
await check('refused messages are not stored', async () => {
  const { messages } = await expectStatus(200, 'GET', `${issuer}/messages?denpaId=${denpaId}&type=profile.update`);
  equal(messages.map((m) => m.message.payload.bio), ['one', 'Signs with \u{1F511}']);
});
await check('a removed signer is refused', async () => {
  await expectStatus(200, 'DELETE', `${issuer}/signers/${key.publicKey}`, { bearer });
  equal(await refusal(await update()), [401, 'unauthenticated', 'signer_revoked']);
});
