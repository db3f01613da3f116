// Checks the test vectors of signed messages with JavaScript libraries. It shares no code with the service.
import { readFileSync } from 'node:fs';
import { idOf, judge, uriOf } from './judge.mjs';
import { check, equal, assert } from './lib.mjs';
import { authentic, covered } from './signed.mjs';

const file = JSON.parse(readFileSync(new URL('../../proto/testvectors/messages.json', import.meta.url), 'utf8'));

function bytes(vector) {
  if (vector.rawHex) return Buffer.from(vector.rawHex, 'hex');
  return Buffer.from(vector.raw.padEnd(vector.padTo ?? 0), 'utf8');
}

await check(`${file.valid.length} valid messages`, async () => {
  assert(file.valid.length >= 15, 'too few vectors');
  for (const v of file.valid) {
    const message = JSON.parse(v.raw);
    const { canonical, data } = covered(file, message);
    equal(canonical, v.canonical, `${v.name}: the canonical form`);
    const turned = Object.fromEntries(Object.entries(message).reverse());
    equal(covered(file, turned).canonical, v.canonical, `${v.name}: the canonical form of other order`);
    equal([idOf(data), uriOf(message, v.id)], [v.id, v.uri], `${v.name}: id and uri`);
    equal([message.signature, message.signer.publicKey], [v.signature, v.publicKey], `${v.name}: signature and key`);
    assert(await authentic(message, data), `${v.name}: the signature does not verify`);
    equal(await judge(file, bytes(v)), '', `${v.name}: the refusal`);
  }
});
await check(`${file.invalid.length} invalid messages`, async () => {
  let payloads = 0;
  for (const v of file.invalid) {
    const want = `${v.error} ${v.reason ?? ''}`.trim();
    const ofPayload = want === 'invalid_request payload'; // package vectors checks payloads against their schemas
    if (ofPayload) payloads++;
    equal(await judge(file, bytes(v)), ofPayload ? '' : want, `${v.name}: the refusal`);
  }
  assert(file.invalid.length >= 30 + payloads, 'too few vectors');
});
