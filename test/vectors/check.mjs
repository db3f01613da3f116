// Checks proto/testvectors/messages.json with libraries of another language.
import { readFileSync } from 'node:fs';
import { authentic, idOf, judge, signed, uriOf } from './message.mjs';

const file = JSON.parse(readFileSync(new URL('../../proto/testvectors/messages.json', import.meta.url), 'utf8'));
let failed = 0;
const expect = (ok, name, what) => {
  if (!ok) {
    failed++;
    console.error(`${name}: ${what}`);
  }
};

function bytes(vector) {
  if (vector.rawHex) return Buffer.from(vector.rawHex, 'hex');
  return Buffer.from(vector.raw.padEnd(vector.padTo ?? 0), 'utf8');
}

for (const v of file.valid) {
  const message = JSON.parse(v.raw);
  const { canonical, data } = signed(file, message);
  expect(canonical === v.canonical, v.name, 'another canonical form');
  const turned = Object.fromEntries(Object.entries(message).reverse());
  expect(signed(file, turned).canonical === v.canonical, v.name, 'the order of members matters');
  expect(idOf(data) === v.id && uriOf(message, v.id) === v.uri, v.name, 'another id or uri');
  expect(message.signature === v.signature && message.signer.publicKey === v.publicKey, v.name, 'another signature or key');
  expect(await authentic(message, data), v.name, 'the signature does not verify');
  expect((await judge(file, bytes(v))) === '', v.name, `refused: ${await judge(file, bytes(v))}`);
}
let payloads = 0;
for (const v of file.invalid) {
  const want = `${v.error} ${v.reason ?? ''}`.trim();
  const got = await judge(file, bytes(v));
  if (want === 'invalid_request payload') payloads++;
  expect(got === want || (want === 'invalid_request payload' && got === ''), v.name, `${got || 'taken'}, want ${want}`);
}
expect(file.valid.length >= 15 && file.invalid.length >= 30 + payloads, 'the file', 'too few vectors');
if (failed) {
  console.error(`${failed} checks failed`);
  process.exit(1);
}
console.log(`${file.valid.length} valid and ${file.invalid.length} invalid messages agree`);
