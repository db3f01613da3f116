// Checks the development identity provider with the library of Privy, whose form of tokens the hub accepts.
import { PrivyClient } from '@privy-io/node';
import { check, equal, need, refused, expectStatus, assert } from './lib.mjs';

const idp = need('IDP');
const appId = need('IDP_APP');
const user = need('PERSON');
const address = '0x' + Buffer.from(crypto.getRandomValues(new Uint8Array(20))).toString('hex');
const privy = new PrivyClient({ appId, appSecret: need('IDP_SECRET'), apiUrl: idp, maxRetries: 0 });

const mint = (more = {}) => expectStatus(200, 'POST', `${idp}/mint`, { body: { user, profile: 'privy', ...more } });
const { sub } = await mint();
await expectStatus(200, 'POST', `${idp}/users/${sub}/wallets`, { body: { address, chainType: 'ethereum' } });
const { token, identityToken } = await mint();

// altered changes the claims of a token and keeps its signature.
function altered(jwt) {
  const [head, claims, signature] = jwt.split('.');
  const other = JSON.parse(Buffer.from(claims, 'base64url'));
  other.sub = sub.replace(/.$/, '');
  return [head, Buffer.from(JSON.stringify(other)).toString('base64url'), signature].join('.');
}
const verify = (jwt) => privy.utils().auth().verifyAccessToken(jwt);
const wallets = (u) => u.linked_accounts.filter((a) => a.type === 'wallet').map((a) => [a.address, a.chain_type]);

await check('an access token is accepted', async () => {
  const claims = await verify(token);
  equal([claims.user_id, claims.app_id, claims.issuer], [sub, appId, 'privy.io']);
  assert(claims.session_id && claims.expiration - claims.issued_at === 3600, JSON.stringify(claims));
});
await check('an identity token contains the user with linked wallets', async () => {
  const found = await privy.users().get({ id_token: identityToken });
  equal([found.id, wallets(found)], [sub, [[address, 'ethereum']]]);
});
await check('the users API returns the same user', async () => {
  const found = await privy.users()._get(sub);
  equal([found.id, wallets(found), found.is_guest], [sub, [[address, 'ethereum']], false]);
});
await check('the users API finds the user by wallet', async () => {
  equal((await privy.users().getByWalletAddress({ address })).id, sub);
});
await check('a token whose claims were changed is refused', async () => {
  await refused(verify(altered(token)));
  await refused(privy.users().get({ id_token: altered(identityToken) }));
});
await check('a token of another issuer is refused', async () => refused(verify((await mint({ profile: 'oidc' })).token)));
await check('a token that has expired is refused', async () => refused(verify((await mint({ ttl: -120 })).token)));
await check('the users API requires its password', async () => {
  const stranger = new PrivyClient({ appId, appSecret: 'another', apiUrl: idp, maxRetries: 0 });
  await refused(stranger.users()._get(sub), (err) => err.status === 401);
});
await check('an unknown user is answered 404', () => refused(privy.users()._get(sub + '-nobody'), (err) => err.status === 404));
await check('the key of the issuer may change while the library has cached older ones', async () => {
  await expectStatus(200, 'POST', `${idp}/rotate`, { body: {} });
  const fresh = new PrivyClient({ appId, appSecret: need('IDP_SECRET'), apiUrl: `${idp}/dev/idp`, maxRetries: 0 });
  for (const t of [token, (await mint()).token]) await fresh.utils().auth().verifyAccessToken(t);
  await verify(token);
});
await check('the hub accepts and refuses the same tokens', async () => {
  const at = `${need('HUB')}/api/auth/privy`;
  for (const bearer of [token, (await mint()).token]) await expectStatus(200, 'POST', at, { bearer });
  await expectStatus(401, 'POST', at, { bearer: altered(token) });
  await expectStatus(401, 'POST', at, { bearer: identityToken });
  await expectStatus(401, 'POST', at, { bearer: (await mint({ ttl: -120 })).token });
});
