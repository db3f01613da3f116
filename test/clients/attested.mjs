// Checks that a message which the hub attests can be verified with the published keys (/keys) alone, also after the hub
// has changed its signing key.
import { check, equal, need, expectStatus, assert } from './lib.mjs';
import { authentic, covered, messagePrefix } from './signed.mjs';

const issuer = need('ISSUER');
const rotated = need('ROTATED') + '/api/protocol/v1';
const [market, other] = need('MARKETS').split(',');
const bearer = need('OPERATOR_KEY');

const verifies = (message, at = issuer) => authentic(message, covered({ prefix: messagePrefix, issuer: at }, message).data);
const keysAt = async (base) => (await expectStatus(200, 'GET', `${base}/keys`)).keys;
const readAt = async (base, id) => (await expectStatus(200, 'GET', `${base}/messages/${id}`));
const attest = async (base, marketId) => {
  const { messageId } = await expectStatus(200, 'POST', `${base}/predictions`, { bearer, body: { marketId, position: 'YES', priceBps: 4200 } });
  return readAt(base, messageId);
};

// verifyWithKeys verifies a message with the published keys of a hub, including the validity period of the key. It returns the
// key.
async function verifyWithKeys(message, keys) {
  const key = keys.find((k) => k.publicKey === message.signer.publicKey && k.kind === message.signer.kind);
  assert(key, 'no key of the hub has signed it');
  const from = Date.parse(key.notBefore);
  const to = key.notAfter ? Date.parse(key.notAfter) : Infinity;
  assert(message.timestamp >= from && message.timestamp < to, `signed at ${message.timestamp}, the key is of ${key.notBefore} to ${key.notAfter}`);
  assert(await verifies(message), 'the signature does not verify');
  return key;
}

const keys = await keysAt(issuer);
const before = await readAt(issuer, need('BEFORE'));
await check('a call filed with a key is attested by the hub', async () => {
  const { message, attested } = await attest(issuer, market);
  equal([attested, message.type, message.appId, message.payload.marketId], [true, 'prediction.create', null, market]);
  equal([message.payload.credential, message.payload.priceAtPrediction], ['operator_key', 4200]);
  await verifyWithKeys(message, keys);
});
await check('a changed message does not verify', async () => {
  const { message } = before;
  for (const changed of [{ timestamp: message.timestamp + 1 }, { payload: { ...message.payload, priceAtPrediction: 1 } }, { denpaId: crypto.randomUUID() }]) {
    assert(!(await verifies({ ...message, ...changed })), JSON.stringify(changed));
  }
  assert(!(await verifies(message, 'https://other.example/api/protocol/v1')), 'it verifies for another issuer');
});
const newer = await keysAt(rotated);
await check('a hub with a newer key lists both keys, the older one with its end', () => {
  equal([keys.length, newer.length], [1, 2], 'the number of keys');
  equal([newer[1].publicKey, newer[1].kid], [keys[0].publicKey, keys[0].kid]);
  assert(newer[1].notAfter && !newer[0].notAfter, JSON.stringify(newer));
});
await check('messages attested with the older key verify with the keys of this hub', async () => {
  const { message } = await readAt(rotated, need('BEFORE'));
  equal(message, before.message);
  equal((await verifyWithKeys(message, newer)).kid, keys[0].kid);
});
await check('later messages are attested with the newer key', async () => {
  const { message } = await attest(rotated, other);
  equal((await verifyWithKeys(message, newer)).kid, newer[0].kid);
  await verifyWithKeys((await readAt(rotated, need('BEFORE'))).message, newer);
});
